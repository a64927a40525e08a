// Which field each bad request is told about. Requests are written in Protobuf's text format, as a
// reader would.
#include "server/planning/request_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/scan.h"
#include "kernels/types/element_type.h"
#include "kernels/types/scan_operation.h"
#include "server/base/limits.h"
#include "server/testing/planned_requests.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;

TEST(RequestValidationTest, ArraysOfEveryRequest) {
  const std::string rest = " statistics: STATISTIC_SUM";
  ExpectFields<v1::ReduceArrayRequest>({
      {"statistics: STATISTIC_SUM", "array"},
      {"array { }" + rest, "array"},
      {"array { inline_array { } }" + rest, "array.inline_array.element_type"},
      {"array { inline_array { element_type: ELEMENT_TYPE_UNSPECIFIED data: \"a\" } }" + rest,
       "array.inline_array.element_type"},
      {"array { inline_array { element_type: 14 } }" + rest, "array.inline_array.element_type"},
      {"array { inline_array { element_type: -1 } }" + rest, "array.inline_array.element_type"},
      {"array { inline_array { element_type: ELEMENT_TYPE_INT16 data: \"abc\" } }" + rest,
       "array.inline_array.data"},
      {"array { inline_array { element_type: ELEMENT_TYPE_FLOAT64 data: \"abcdefg\" } }" + rest,
       "array.inline_array.data"},
      {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: 2 data: \"abc\" } }" + rest,
       "array.inline_array.shape"},
      {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [2, 2] data: \"abc\" } }" +
           rest,
       "array.inline_array.shape"},
      {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [1, 1, 2] data: \"abc\" } }" +
           rest,
       "array.inline_array.shape"},
      // 2^32 * 2^32 wraps around to 0, 3 * (2^64 + 1) / 3 to 1.
      {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [4294967296, 4294967296] } "
       "}" +
           rest,
       "array.inline_array.shape"},
      {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [3, 12297829382473034411] "
       "data: \"a\" } }" +
           rest,
       "array.inline_array.shape"},
  });
}

TEST(RequestValidationTest, Reductions) {
  ExpectFields<v1::ReduceArrayRequest>({
      {Array(kSix), "statistics"},
      {Array(kSix) + "statistics: [STATISTIC_SUM, STATISTIC_UNSPECIFIED]", "statistics[1]"},
      {Array(kSix) + "statistics: [STATISTIC_SUM, STATISTIC_MIN, 99]", "statistics[2]"},
      {Array(kSix) + "statistics: [STATISTIC_SUM, STATISTIC_SUM]", "statistics[1]"},
      {Array(kSix) +
           "statistics: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
       "statistics"},
      {Array(kFloats) + "statistics: STATISTIC_BITWISE_AND", "statistics[0]"},
      {"array { inline_array { element_type: ELEMENT_TYPE_INT16 } } "
       "statistics: [STATISTIC_SUM, STATISTIC_MIN]",
       "statistics[1]"},
      {Array(kSix) + "statistics: STATISTIC_SUM nan_policy: 7", "nan_policy"},
      {Array(kSix) + "statistics: STATISTIC_SUM overflow_policy: -7", "overflow_policy"},
      {Array(kSix) + "statistics: STATISTIC_VARIANCE delta_degrees_of_freedom: 6",
       "delta_degrees_of_freedom"},
      {Array(kSix) + "statistics: STATISTIC_SUM grouping { axis: 1 }", "grouping.axis"},
      {Array(kMatrix) + "statistics: STATISTIC_SUM grouping { axis: 2 }", "grouping.axis"},
      {Array(kMatrix) + "statistics: STATISTIC_SUM grouping { axis: 4294967295 }", "grouping.axis"},
      {Array(kMatrix) + "statistics: STATISTIC_SUM grouping { segments { offsets: [0, 6] } }",
       "grouping.segments"},
      {Array(kSix) + "statistics: STATISTIC_SUM grouping { segments { } }",
       "grouping.segments.offsets"},
      {Array(kSix) + "statistics: STATISTIC_SUM grouping { segments { offsets: [1, 6] } }",
       "grouping.segments.offsets[0]"},
      {Array(kSix) + "statistics: STATISTIC_SUM grouping { segments { offsets: [0, 4, 3, 6] } }",
       "grouping.segments.offsets[2]"},
      {Array(kSix) + "statistics: STATISTIC_SUM grouping { segments { offsets: [0, 7] } }",
       "grouping.segments.offsets[1]"},
      {Array(kSix) + "statistics: STATISTIC_SUM grouping { segments { offsets: [0, "
                     "9223372036854775807, 18446744073709551615] } }",
       "grouping.segments.offsets[2]"},
      {Array(kSix) + "statistics: STATISTIC_MAX grouping { segments { offsets: [0, 6, 6] } }",
       "statistics[0]"},
      // No elements, but 2^63 columns.
      {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [0, 9223372036854775808] } } "
       "statistics: STATISTIC_SUM grouping { axis: 0 }",
       "grouping.axis"},
  });
}

TEST(RequestValidationTest, Scans) {
  const std::string sum = "operation: SCAN_OPERATION_SUM ";
  ExpectFields<v1::ScanArrayRequest>({
      {sum, "array"},
      {Array(kSix), "operation"},
      {Array(kSix) + "operation: 6", "operation"},
      {Array(kSix) + sum + "mode: 3", "mode"},
      {Array(kSix) + sum + "direction: 3", "direction"},
      {Array(kSix) + sum + "nan_policy: 3", "nan_policy"},
      {Array(kSix) + sum + "overflow_policy: 3", "overflow_policy"},
      {Array(kSix) + sum + "output_type: 77", "output_type"},
      {Array(kSix) + sum + "output_type: ELEMENT_TYPE_INT32", "output_type"},
      {Array(kSix) + "operation: SCAN_OPERATION_MIN output_type: ELEMENT_TYPE_INT64",
       "output_type"},
      {Array(kSix) + sum + "grouping { axis: 1 }", "grouping.axis"},
      {Array(kSix) + sum + "grouping { segments { offsets: [0, 5] } }",
       "grouping.segments.offsets[1]"},
      {Array(kSix) + sum + "destination { }", "destination"},
  });
}

TEST(RequestValidationTest, Histograms) {
  const std::string even = "bins { even { bin_count: 3 lower_bound: 0 upper_bound: 6 } } ";
  ExpectFields<v1::ComputeHistogramRequest>({
      {even, "array"},
      {Array(kSix), "bins"},
      {Array(kSix) + "bins { }", "bins[0]"},
      {Array(kSix) + even + "bins { }", "bins[1]"},
      {Array(kSix) + even + even, "bins"},
      {Array(kSix) + "bins { even { } }", "bins[0].even.bin_count"},
      {Array(kSix) + "bins { even { bin_count: 18446744073709551615 } }", "bins[0].even.bin_count"},
      {Array(kSix) + "bins { even { bin_count: 2 lower_bound: 1 } }", "bins[0].even.upper_bound"},
      {Array(kSix) + "bins { even { bin_count: 2 upper_bound: 1 } }", "bins[0].even.lower_bound"},
      {Array(kSix) + "bins { even { bin_count: 2 lower_bound: nan upper_bound: 1 } }",
       "bins[0].even.lower_bound"},
      {Array(kSix) + "bins { even { bin_count: 2 lower_bound: 0 upper_bound: inf } }",
       "bins[0].even.upper_bound"},
      {Array(kSix) + "bins { even { bin_count: 2 lower_bound: 2 upper_bound: 1 } }",
       "bins[0].even.upper_bound"},
      {Array(kSix) + "bins { edges { edges: [1, 2, 2] } }", "bins[0].edges.edges[2]"},
      {Array(kSix) + "bins { edges { edges: [1, nan] } }", "bins[0].edges.edges[1]"},
      {Array(kSix) + "bins { logarithmic { bin_count: 3 lower_bound: 0 upper_bound: 6 } }",
       "bins[0].logarithmic.lower_bound"},
      {Array(kSix) + "bins { integer { } }", "bins[0].integer.bin_count"},
      {Array(kSix) + "bins { integer { first_value: 9223372036854775807 bin_count: 2 } }",
       "bins[0].integer.bin_count"},
      {Array(kFloats) + "bins { integer { bin_count: 2 } }", "bins[0].integer"},
      {Array(kSix) + even + "channel_count: 4", "channel_count"},
      {Array(kSix) + even + "channel_count: 4294967295", "channel_count"},
      {Array(kSix) + even + even + even + "channel_count: 2", "bins"},
      {Array(kSix) + even + "out_of_range_policy: 3", "out_of_range_policy"},
      {Array(kSix) + even + "format: 3", "format"},
      {Array(kSix) + even + "quantiles: [0.5, 1.5]", "quantiles[1]"},
      {Array(kSix) + even + "quantiles: nan", "quantiles[0]"},
      {Array(kSix) + even + "y_array { }", "y_array"},
      {Array(kSix) + even + "y_array { " + kFloats + " }", "y_array.inline_array.data"},
      {Array(kSix) + even +
           "y_array { inline_array { element_type: ELEMENT_TYPE_INT8 data: "
           "\"abcdef\" } }",
       "y_array.inline_array.element_type"},
      {Array(kSix) + even + "y_array { inline_array { element_type: 55 } }",
       "y_array.inline_array.element_type"},
      {Array(kSix) + even + "y_array { " + kSix + " } channel_count: 2", "channel_count"},
      {Array(kSix) + even + "y_array { " + kSix + " } quantiles: 0.5", "quantiles"},
      {Array(kSix) + even + "weights { }", "weights"},
      {Array(kSix) + even + "weights { " + kFloats + " }", "weights.inline_array.data"},
      {Array(kSix) + even +
           "weights { inline_array { element_type: ELEMENT_TYPE_FLOAT32 data: "
           "\"abc\" } }",
       "weights.inline_array.data"},
      {Array(kSix) + even + "weights { " + kSix + " } quantiles: 0.5", "quantiles"},
  });
}

TEST(RequestValidationTest, Accumulators) {
  ExpectFields<v1::ReduceArrayRequest>({
      {Array(kFloats) + "statistics: STATISTIC_PRODUCT return_accumulator: true", "statistics[0]"},
      {Array(kSix) + "statistics: STATISTIC_SUM first_index: 18446744073709551610", "first_index"},
  });
  ExpectFields<v1::MergeAccumulatorsRequest>(
      {{"", "accumulators"}, {"partial: true", "accumulators"}});

  const auto reduction =
      Plan(Parse<v1::ReduceArrayRequest>(Array(kSix) + "statistics: STATISTIC_MIN first_index: 7 "
                                                       "return_accumulator: true"),
           Limits{});
  ASSERT_TRUE(reduction.ok()) << reduction.status();
  EXPECT_TRUE(reduction->plan.return_states);
  EXPECT_EQ(reduction->first_index, 7u);
  // A part may have nothing, and be smaller than the degrees of freedom.
  EXPECT_TRUE(Plan(Parse<v1::ReduceArrayRequest>(
                       "array { inline_array { element_type: ELEMENT_TYPE_INT8 } } "
                       "statistics: [STATISTIC_MIN, STATISTIC_VARIANCE] "
                       "delta_degrees_of_freedom: 1 return_accumulator: true"),
                   Limits{})
                  .ok());
  const auto histogram =
      Plan(Parse<v1::ComputeHistogramRequest>(
               Array(kSix) + "bins { even { bin_count: 3 } } return_accumulator: true"),
           Limits{});
  ASSERT_TRUE(histogram.ok()) << histogram.status();
  EXPECT_TRUE(histogram->plan.return_states);
  // What is planned points into the request.
  const auto request =
      Parse<v1::MergeAccumulatorsRequest>("accumulators: ['ab', 'c'] partial: true");
  const auto merge = Plan(request, Limits{});
  ASSERT_TRUE(merge.ok()) << merge.status();
  EXPECT_THAT(merge->accumulators, ElementsAre("ab", "c"));
  EXPECT_TRUE(merge->partial);
}

TEST(RequestValidationTest, ExactScansAreSums) {
  ExpectFields<v1::ScanArrayRequest>(
      {{Array(kFloats) + "operation: SCAN_OPERATION_MAX exact: true", "exact"},
       {Array(kSix) + "operation: SCAN_OPERATION_PRODUCT exact: true", "exact"}});
  const std::string sum = "operation: SCAN_OPERATION_SUM exact: true";
  const auto planned = Plan(Parse<v1::ScanArrayRequest>(Array(kFloats) + sum), Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_TRUE(planned->plan.exact);
  // Sums of integers are exact in any case.
  EXPECT_TRUE(Plan(Parse<v1::ScanArrayRequest>(Array(kSix) + sum), Limits{}).ok());
}

TEST(RequestValidationTest, MovingScans) {
  const std::string mask =
      " where { inline_array { element_type: ELEMENT_TYPE_BOOL data: '\\001\\001\\001\\001' } }";
  const std::string sum = "operation: SCAN_OPERATION_SUM ";
  const std::string mean = "operation: SCAN_OPERATION_MEAN ";
  ExpectFields<v1::ScanArrayRequest>(
      {{Array(kSix) + sum + "window: 0", "window"},
       {Array(kSix) + "operation: SCAN_OPERATION_MAX window: 3", "window"},
       {Array(kSix) + sum + "window: 3 mode: SCAN_MODE_EXCLUSIVE", "mode"},
       {Array(kSix) + mean + "mode: SCAN_MODE_EXCLUSIVE", "mode"},
       {Array(kSix) + mean + "output_type: ELEMENT_TYPE_INT64", "output_type"},
       {Array(kSix) + sum + "min_count: 1", "min_count"},
       {Array(kSix) + sum + "window: 3 min_count: 2", "min_count"},
       {Array(kSix) + mean + "window: 3 min_count: 4", "min_count"},
       {Array(kFloats) + mean + mask, "where"},
       {Array(kFloats) + sum + "window: 3 min_count: 1" + mask, "where"}});
  const auto planned =
      Plan(Parse<v1::ScanArrayRequest>(Array(kSix) + mean + "window: 3 min_count: 2"), Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(planned->plan.operation, kernels::ScanOperation::kMean);
  EXPECT_EQ(planned->plan.window, 3);
  EXPECT_EQ(planned->plan.min_count, 2);
  EXPECT_EQ(planned->plan.output_type, kernels::ElementType::kFloat64);
}

TEST(RequestValidationTest, StrategiesAreForEnginesToJudge) {
  const auto options = [](const std::string& strategy) {
    return "execution_options { strategy: '" + strategy + "' } ";
  };
  const std::string sum = Array(kSix) + "statistics: STATISTIC_SUM ";
  const auto planned = Plan(Parse<v1::ReduceArrayRequest>(sum + options("reduce/x")), Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(planned->plan.strategy, "reduce/x");
  const std::string long_name(65, 'x');
  ExpectFields<v1::ReduceArrayRequest>({{sum + options(long_name), "execution_options.strategy"}});
  ExpectFields<v1::ScanArrayRequest>(
      {{Array(kSix) + "operation: SCAN_OPERATION_SUM " + options(long_name),
        "execution_options.strategy"}});
  ExpectFields<v1::ComputeHistogramRequest>(
      {{Array(kSix) + "bins { even { bin_count: 3 } } " + options(long_name),
        "execution_options.strategy"}});
}

}  // namespace
}  // namespace gridfold::server
