// Every option of order statistics and of groups by key reaches the wire, and every field of their
// answers the caller.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

TEST_F(ClientTest, KeyedReductionOptionsReachTheWire) {
  const std::vector<int8_t> keys = {'k', 'l'};
  const std::vector<int8_t> values = {'v', 'w'};
  KeyedReductionOptions options{.statistics = {Statistic::kSum, Statistic::kMax},
                                .groups = KeyRange{.first_key = -3, .key_count = 9},
                                .nan_policy = NanPolicy::kIgnore,
                                .overflow_policy = OverflowPolicy::kWrap,
                                .delta_degrees_of_freedom = 1,
                                .return_accumulator = true,
                                .first_index = 77,
                                .output_type = ElementType::kFloat32};
  keyed_response_.set_group_count(0);
  ASSERT_TRUE(client_->ReduceByKey(ArrayView(keys), ArrayView(values), options).ok());
  ExpectMessage(keyed_request_, R"pb(
    keys { inline_array { element_type: ELEMENT_TYPE_INT8 data: "kl" } }
    values { inline_array { element_type: ELEMENT_TYPE_INT8 data: "vw" } }
    statistics: STATISTIC_SUM
    statistics: STATISTIC_MAX
    range { first_key: -3 key_count: 9 }
    nan_policy: NAN_POLICY_IGNORE
    overflow_policy: OVERFLOW_POLICY_WRAP
    delta_degrees_of_freedom: 1
    return_accumulator: true
    first_index: 77
    output_type: ELEMENT_TYPE_FLOAT32
  )pb");
  options.groups = KeyBins{.bins = {EvenBins{.bin_count = 3}},
                           .y_keys = ArrayView(values),
                           .out_of_range_policy = OutOfRangePolicy::kClamp,
                           .further_keys = {ResidentArray{"z"}, ArrayView(values)}};
  ASSERT_TRUE(client_->ReduceByKey(ResidentArray{"k"}, ArrayView(values), options).ok());
  v1::KeyBins bins;
  Parse(R"pb(
          bins { even { bin_count: 3 } }
          y_keys { inline_array { element_type: ELEMENT_TYPE_INT8 data: "vw" } }
          out_of_range_policy: OUT_OF_RANGE_POLICY_CLAMP
          further_keys { resident_array { name: "z" } }
          further_keys { inline_array { element_type: ELEMENT_TYPE_INT8 data: "vw" } }
        )pb",
        bins);
  EXPECT_EQ(keyed_request_.bins().DebugString(), bins.DebugString());
  EXPECT_EQ(keyed_request_.keys().resident_array().name(), "k");
}

TEST_F(ClientTest, KeyedReductionResultsReachTheCaller) {
  const std::vector<int8_t> keys = {'k', 'l'};
  const KeyedReductionOptions options{.statistics = {Statistic::kMean},
                                      .groups = FoundKeys{.key_count_max = 5}};
  Parse(R"pb(
          group_count: 2
          keys { int64_values { values: -1 values: 4 } }
          counts: 7
          counts: 8
          results {
            statistic: STATISTIC_MEAN
            values { double_values { values: 0.5 values: 2.5 } }
          }
          underflow_count: 1
          overflow_count: 2
          nan_count: 3
          bins { bin_count: 1 edges: 0 edges: 1 }
          execution { engine: "cpu" strategy: "by-key/sort" }
        )pb",
        keyed_response_);
  const auto result = client_->ReduceByKey(ArrayView(keys), ArrayView(keys), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(keyed_request_.found().key_count_max(), 5u);
  EXPECT_THAT(std::get<std::vector<int64_t>>(result->keys), ElementsAre(-1, 4));
  EXPECT_THAT(result->counts, ElementsAre(7, 8));
  EXPECT_THAT(std::get<std::vector<double>>(*result->Find(Statistic::kMean)),
              ElementsAre(0.5, 2.5));
  EXPECT_EQ(result->Find(Statistic::kSum), nullptr);
  EXPECT_EQ(result->underflow_count, 1u);
  EXPECT_EQ(result->overflow_count, 2u);
  EXPECT_EQ(result->nan_count, 3u);
  EXPECT_THAT(result->bins[0].edges, ElementsAre(0, 1));
  EXPECT_EQ(result->execution.strategy, "by-key/sort");

  keyed_response_.add_counts(9);
  EXPECT_EQ(client_->ReduceByKey(ArrayView(keys), ArrayView(keys), options).status().code(),
            absl::StatusCode::kInternal);
}

TEST_F(ClientTest, QuantilesReachTheWireAndTheirValuesTheCaller) {
  const std::vector<int8_t> elements = {'a', 'b', 'c', 'd'};
  Parse(R"(quantile_values { double_values { values: [1.5, 2.5] } }
           rank_values { int64_values { values: [7, -8] } }
           group_count: 2 result_shape: [2, 1] execution { strategy: "quantiles/warps" })",
        quantiles_response_);
  const QuantileOptions options = {.quantiles = {0.25},
                                   .ranks = {1},
                                   .method = QuantileMethod::kMidpoint,
                                   .grouping = Axis{1},
                                   .keep_dimensions = true,
                                   .nan_policy = NanPolicy::kIgnore};
  const auto result = client_->ComputeQuantiles(ArrayView(elements).WithShape(2, 2), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(std::get<std::vector<double>>(result->quantile_values.at(0)),
            (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(result->rank_values.at(0)),
            (std::vector<int64_t>{7, -8}));
  EXPECT_THAT(result->result_shape, testing::ElementsAre(2, 1));
  EXPECT_EQ(result->execution.strategy, "quantiles/warps");
  ExpectMessage(quantiles_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [2, 2] data: "abcd" } }
    quantiles: 0.25
    ranks: 1
    method: QUANTILE_METHOD_MIDPOINT
    grouping { axis: 1 }
    nan_policy: NAN_POLICY_IGNORE
    keep_dimensions: true)");
  quantiles_response_.clear_rank_values();
  EXPECT_TRUE(absl::IsInternal(client_->ComputeQuantiles(elements, options).status()));
}

TEST_F(ClientTest, TopsReachTheWireAndTheirElementsTheCaller) {
  const std::vector<uint8_t> elements = {'a', 'b', 'c'};
  Parse(R"(values { uint64_values { values: [97, 98] } } indices: [0, 1]
           group_count: 1 result_shape: 2)",
        top_response_);
  const TopOptions options = {.count = 2, .smallest = true, .nan_policy = NanPolicy::kIgnore};
  const auto result = client_->SelectTop(elements, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(std::get<std::vector<uint64_t>>(result->values), (std::vector<uint64_t>{97, 98}));
  EXPECT_THAT(result->indices, testing::ElementsAre(0, 1));
  ExpectMessage(top_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_UINT8 data: "abc" } }
    count: 2
    smallest: true
    grouping { }
    nan_policy: NAN_POLICY_IGNORE)");
  top_response_.set_group_count(2);
  EXPECT_TRUE(absl::IsInternal(client_->SelectTop(elements, options).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(client_->SelectTop(elements, {.count = 0}).status()));
}

}  // namespace
}  // namespace gridfold::client
