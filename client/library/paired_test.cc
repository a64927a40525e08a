// Every option of statistics of two columns reaches the wire, and every field of their answers the
// caller.
#include <cstdint>
#include <variant>
#include <vector>

#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

TEST_F(ClientTest, RelateOptionsReachTheWire) {
  const std::vector<int8_t> x = {'x', 'y'};
  const std::vector<int8_t> y = {'z', 'a'};
  RelateOptions options{.statistics = {PairedStatistic::kVariance, PairedStatistic::kCovariance},
                        .y = ArrayView(y),
                        .weights = ResidentArray{"w"},
                        .delta_degrees_of_freedom = 3,
                        .weight_kind = WeightKind::kReliability,
                        .nan_policy = NanPolicy::kIgnore,
                        .overflow_policy = OverflowPolicy::kWrap};
  Parse(R"pb(
          results {
            statistic: PAIRED_STATISTIC_VARIANCE
            values { double_values { values: 1 values: 2 } }
          }
          results {
            statistic: PAIRED_STATISTIC_COVARIANCE
            values { double_values { values: -3 } }
          }
          column_count: 2
          observation_count: 7
          execution { strategy: "paired/digits" }
        )pb",
        relate_response_);
  const auto result = client_->RelateArrays(ArrayView(x), options);
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectMessage(relate_request_, R"pb(
    x { inline_array { element_type: ELEMENT_TYPE_INT8 data: "xy" } }
    y { inline_array { element_type: ELEMENT_TYPE_INT8 data: "za" } }
    weights { resident_array { name: "w" } }
    statistics: PAIRED_STATISTIC_VARIANCE
    statistics: PAIRED_STATISTIC_COVARIANCE
    delta_degrees_of_freedom: 3
    weight_kind: WEIGHT_KIND_RELIABILITY
    nan_policy: NAN_POLICY_IGNORE
    overflow_policy: OVERFLOW_POLICY_WRAP
  )pb");
  EXPECT_EQ(result->column_count, 2u);
  EXPECT_EQ(result->observation_count, 7u);
  EXPECT_EQ(result->execution.strategy, "paired/digits");
  EXPECT_EQ(result->Find(PairedStatistic::kDot), nullptr);
  EXPECT_THAT(std::get<std::vector<double>>(*result->Find(PairedStatistic::kVariance)),
              ElementsAre(1, 2));
  EXPECT_THAT(std::get<std::vector<double>>(*result->Find(PairedStatistic::kCovariance)),
              ElementsAre(-3));
}

TEST_F(ClientTest, RelateAnswersOfAnotherSizeAreRefused) {
  const std::vector<int8_t> x = {'x', 'y'};
  const RelateOptions options{.statistics = {PairedStatistic::kDot}};
  const auto relate = [&] { return client_->RelateArrays(ArrayView(x), options).status().code(); };
  EXPECT_EQ(relate(), absl::StatusCode::kInternal);
  Parse(R"pb(
          results {
            statistic: PAIRED_STATISTIC_DOT
            values { int64_values { values: 1 } }
          }
          column_count: 2
        )pb",
        relate_response_);
  EXPECT_EQ(relate(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace gridfold::client
