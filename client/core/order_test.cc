// Order statistics of the C interface: answers of random arrays, and bad arguments.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "client/core/core_test_util.h"
#include "kernels/conformance/order_oracle.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::core {
namespace {

using kernels::conformance::DataKind;

class CoreOrderTest : public testing::Test {
 protected:
  Handle<gridfold_engine> engine_ = MakeEngine();
};

TEST_F(CoreOrderTest, AnswersAreThoseOfTheOracle) {
  for (const kernels::ElementType type : kernels::conformance::kAllTypes) {
    const TestArray array = kernels::conformance::MakeData(
        kernels::ArrayDescription::Matrix(type, 7, 300), DataKind::kSpecial, 5);
    const gridfold_array of_c = PartOf(array, 0, 7);
    const kernels::QuantileSpec quantiles{.quantiles = {0.5, 0.1, 1},
                                          .ranks = {299},
                                          .method = kernels::QuantileMethod::kNearest,
                                          .grouping = {kernels::GroupingKind::kAxis1, {}},
                                          .nan_policy = kernels::NanPolicy::kIgnore};
    gridfold_quantile_spec quantile_spec{};
    quantile_spec.quantiles = quantiles.quantiles.data();
    quantile_spec.quantile_count = 3;
    quantile_spec.ranks = quantiles.ranks.data();
    quantile_spec.rank_count = 1;
    quantile_spec.method = GRIDFOLD_QUANTILE_NEAREST;
    quantile_spec.grouping.kind = GRIDFOLD_AXIS1;
    quantile_spec.nan_policy = GRIDFOLD_NAN_IGNORE;
    kernels::QuantileResult found{std::vector<uint64_t>(4 * 7)};
    ASSERT_EQ(gridfold_quantiles(engine_.get(), &of_c, &quantile_spec, found.slots.data(), 4 * 7),
              GRIDFOLD_OK)
        << gridfold_last_message();
    CheckQuantiles(array, quantiles, found);

    const kernels::TopSpec top{
        .count = 5, .smallest = true, .grouping = {kernels::GroupingKind::kAxis1, {}}};
    gridfold_top_spec top_spec{};
    top_spec.count = 5;
    top_spec.smallest = 1;
    top_spec.grouping.kind = GRIDFOLD_AXIS1;
    kernels::TopResult selected{.slots = std::vector<uint64_t>(35),
                                .indices = std::vector<uint64_t>(35)};
    ASSERT_EQ(gridfold_select_top(engine_.get(), &of_c, &top_spec, selected.slots.data(),
                                  selected.indices.data(), 35),
              GRIDFOLD_OK)
        << gridfold_last_message();
    CheckTop(array, top, selected);
  }
}

TEST_F(CoreOrderTest, WeightedQuantiles) {
  const std::vector<int32_t> elements = {7, -2, 5, 9};
  const std::vector<double> weights = {1, 2, 0, 5};
  gridfold_array array{};
  array.data = elements.data();
  array.element_type = GRIDFOLD_INT32;
  array.dimension_count = 1;
  array.shape[0] = 4;
  gridfold_array of_weights = array;
  of_weights.data = weights.data();
  of_weights.element_type = GRIDFOLD_FLOAT64;
  const double wanted[] = {0.25, 0.3, 1};
  gridfold_quantile_spec spec{};
  spec.quantiles = wanted;
  spec.quantile_count = 3;
  std::vector<int64_t> found(3);
  const auto ask = [&] {
    return gridfold_weighted_quantiles(engine_.get(), &array, &of_weights, &spec, found.data(), 3);
  };
  ASSERT_EQ(ask(), GRIDFOLD_OK) << gridfold_last_message();
  EXPECT_EQ(found, (std::vector<int64_t>{-2, 7, 9}));
  of_weights.shape[0] = 3;
  EXPECT_EQ(ask(), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "weights");
  const uint64_t rank = 0;
  spec.ranks = &rank;
  spec.rank_count = 1;
  EXPECT_EQ(ask(), GRIDFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(gridfold_last_field()), "ranks");
}

TEST_F(CoreOrderTest, BadArgumentsAreNamed) {
  const std::vector<double> elements = {3, 1, NAN};
  gridfold_array array{};
  array.data = elements.data();
  array.element_type = GRIDFOLD_FLOAT64;
  array.dimension_count = 1;
  array.shape[0] = 3;
  const double half = 0.5;
  gridfold_quantile_spec quantiles{};
  quantiles.quantiles = &half;
  quantiles.quantile_count = 1;
  gridfold_top_spec top{};
  top.count = 1;
  double value = 0;
  uint64_t index = 0;
  const auto field_of_quantiles = [&](uint64_t value_count = 1) {
    const gridfold_status status =
        gridfold_quantiles(engine_.get(), &array, &quantiles, &value, value_count);
    return status == GRIDFOLD_OK ? std::string("none") : std::string(gridfold_last_field());
  };
  const auto field_of_top = [&] {
    const gridfold_status status =
        gridfold_select_top(engine_.get(), &array, &top, &value, &index, 1);
    return status == GRIDFOLD_OK ? std::string("none") : std::string(gridfold_last_field());
  };
  EXPECT_EQ(field_of_quantiles(), "none");
  EXPECT_EQ(field_of_quantiles(2), "value_count");
  quantiles.method = 6;
  EXPECT_EQ(field_of_quantiles(), "method");
  quantiles.method = 0;
  quantiles.grouping.kind = GRIDFOLD_AXIS0;
  EXPECT_EQ(field_of_quantiles(), "grouping.kind");
  quantiles.grouping.kind = GRIDFOLD_WHOLE;
  quantiles.quantiles = nullptr;
  EXPECT_EQ(field_of_quantiles(), "quantiles");
  EXPECT_EQ(field_of_top(), "none");
  EXPECT_EQ(index, 2u);
  top.count = 4;
  EXPECT_EQ(field_of_top(), "count");
  top.count = 1;
  top.nan_policy = 9;
  EXPECT_EQ(field_of_top(), "nan_policy");
  EXPECT_EQ(gridfold_select_top(engine_.get(), &array, nullptr, &value, &index, 1),
            GRIDFOLD_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace gridfold::core
