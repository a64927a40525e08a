// Which requests make which plans, and which field each bad request is told about. Requests are
// written in Protobuf's text format, as a reader would.
#include "server/planning/request_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <variant>

#include "google/protobuf/text_format.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/memory/host_resident_pool.h"

namespace gridfold::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Request>
Request Parse(const std::string& text) {
  Request request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  return request;
}

// Six int16 elements; and the same as a matrix.
constexpr char kSix[] =
    "inline_array { element_type: ELEMENT_TYPE_INT16 data: \"\\001\\000\\002\\000\\003\\000"
    "\\004\\000\\005\\000\\006\\000\" }";
constexpr char kMatrix[] =
    "inline_array { element_type: ELEMENT_TYPE_INT16 shape: [2, 3] data: \"abcdefghijkl\" }";
constexpr char kFloats[] = "inline_array { element_type: ELEMENT_TYPE_FLOAT32 data: \"abcdefgh\" }";

std::string Array(const char* array) { return std::string("array { ") + array + " } "; }

// Plans a request of a tenant who has no arrays.
template <class Request>
auto Plan(const Request& request, const Limits& limits) {
  static auto* const kNoArrays = new ArrayStore(kernels::CreateHostResidentPool(0), Limits{});
  return PlanRequest(request, PlanningContext{limits, TenantArrays(*kNoArrays, "")});
}

struct BadRequest {
  std::string text;
  std::string field;
};

template <class Request>
void ExpectFields(const std::vector<BadRequest>& cases, const Limits& limits = {}) {
  for (const auto& [text, field] : cases) {
    SCOPED_TRACE(text);
    const Request request = Parse<Request>(text);
    const auto planned = Plan(request, limits);
    ASSERT_FALSE(planned.ok()) << "accepted";
    EXPECT_TRUE(absl::IsInvalidArgument(planned.status())) << planned.status();
    EXPECT_EQ(kernels::FieldOf(planned.status()), field) << planned.status();
    EXPECT_THAT(std::string(planned.status().message()), testing::StartsWith(field + ": "));
  }
}

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

TEST(RequestValidationTest, LimitsOfTheServer) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  limits.bin_count_max = 100'000;
  limits.group_count_max = 4;
  ExpectFields<v1::ReduceArrayRequest>(
      {{Array(kSix) +
            "statistics: STATISTIC_SUM grouping { segments { offsets: [0, 1, 2, 3, 4, 6] } }",
        "grouping.segments.offsets"},
       {"array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [5, 0] } } "
        "statistics: STATISTIC_SUM grouping { axis: 1 }",
        "grouping.axis"}},
      limits);
  ExpectFields<v1::ComputeHistogramRequest>(
      {{Array(kSix) + "bins { integer { bin_count: 100001 } }", "bins[0].integer.bin_count"},
       {Array(kSix) + "bins { even { bin_count: 50001 } } channel_count: 2",
        "bins[0].even.bin_count"}},
      limits);
}

// As many bins and groups as there may be, and one more.
TEST(RequestValidationTest, LimitsAreTakenToTheirEdge) {
  Limits limits;
  limits.bin_count_max = 12;
  limits.group_count_max = 4;
  const auto field_of = [&]<class Request>(const Request& request) {
    return kernels::FieldOf(Plan(request, limits).status());
  };
  const auto reduction = [&](const std::string& text) {
    return field_of(Parse<v1::ReduceArrayRequest>(text + " statistics: STATISTIC_SUM"));
  };
  const auto scan = [&](const std::string& text) {
    return field_of(Parse<v1::ScanArrayRequest>(text + " operation: SCAN_OPERATION_SUM"));
  };
  const auto histogram = [&](const std::string& text) {
    return field_of(Parse<v1::ComputeHistogramRequest>(Array(kSix) + text));
  };
  for (const auto& [offsets, field] :
       {std::pair("0, 1, 2, 3, 6", ""),
        std::pair("0, 1, 2, 3, 4, 6", "grouping.segments.offsets")}) {
    const std::string text =
        Array(kSix) + "grouping { segments { offsets: [" + std::string(offsets) + "] } }";
    EXPECT_EQ(reduction(text), field) << text;
    EXPECT_EQ(scan(text), field) << text;
  }
  for (const auto& [rows, field] : {std::pair("4", ""), std::pair("5", "grouping.axis")}) {
    const std::string text = "array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [" +
                             std::string(rows) + ", 1] data: \"" + std::string(rows[0] - '0', 'x') +
                             "\" } } grouping { axis: 1 }";
    EXPECT_EQ(reduction(text), field) << text;
    EXPECT_EQ(scan(text), field) << text;
  }
  EXPECT_EQ(histogram("bins { integer { bin_count: 12 } }"), "");
  EXPECT_EQ(histogram("bins { integer { bin_count: 13 } }"), "bins[0].integer.bin_count");
  EXPECT_EQ(histogram("bins { even { bin_count: 12 } }"), "");
  EXPECT_EQ(histogram("bins { even { bin_count: 13 } }"), "bins[0].even.bin_count");
  EXPECT_EQ(histogram("bins { even { bin_count: 6 } } channel_count: 2"), "");
  EXPECT_EQ(histogram("bins { even { bin_count: 7 } } channel_count: 2"), "bins[0].even.bin_count");
}

TEST(RequestValidationTest, AnswersLargerThanAMessage) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  // 4,000 groups of 20 bytes each fit in one statistic, not in three.
  v1::ReduceArrayRequest reduction;
  v1::InlineArray& rows = *reduction.mutable_array()->mutable_inline_array();
  rows.set_element_type(v1::ELEMENT_TYPE_INT8);
  rows.add_shape(4000);
  rows.add_shape(1);
  rows.mutable_data()->assign(4000, 'x');
  reduction.mutable_grouping()->set_axis(1);
  reduction.add_statistics(v1::STATISTIC_SUM);
  EXPECT_TRUE(Plan(reduction, limits).ok());
  reduction.add_statistics(v1::STATISTIC_MIN);
  EXPECT_EQ(kernels::FieldOf(Plan(reduction, limits).status()), "grouping");

  // int8 in, int64 out.
  v1::ScanArrayRequest scan;
  scan.set_operation(v1::SCAN_OPERATION_SUM);
  scan.mutable_array()->mutable_inline_array()->set_element_type(v1::ELEMENT_TYPE_INT8);
  scan.mutable_array()->mutable_inline_array()->mutable_data()->assign(10'000, 'x');
  EXPECT_EQ(kernels::FieldOf(Plan(scan, limits).status()), "destination");
  scan.set_output_type(v1::ELEMENT_TYPE_INT8);
  EXPECT_TRUE(Plan(scan, limits).ok());

  ExpectFields<v1::ComputeHistogramRequest>(
      {{Array(kSix) + "bins { even { bin_count: 5000 } }", "bins"},
       {Array(kSix) + "bins { integer { bin_count: 10000 } }", "bins"},
       {Array(kSix) + "bins { integer { bin_count: 1 } } channel_count: 3 "
                      "bins { integer { bin_count: 8000 } } bins { integer { bin_count: 1 } }",
        "bins"}},
      limits);
  // Sparse answers are as small as their samples are few.
  EXPECT_TRUE(Plan(Parse<v1::ComputeHistogramRequest>(Array(kSix) +
                                                      "bins { integer { bin_count: 100000 } } "
                                                      "format: HISTOGRAM_FORMAT_SPARSE"),
                   limits)
                  .ok());
  v1::ComputeHistogramRequest quantiles = Parse<v1::ComputeHistogramRequest>(
      Array(kSix) + "bins { even { bin_count: 1 } } channel_count: 3");
  for (int i = 0; i < 3000; ++i) quantiles.add_quantiles(0.5);
  EXPECT_EQ(kernels::FieldOf(Plan(quantiles, limits).status()), "quantiles");
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

// Whose states would not fit in a message either.
TEST(RequestValidationTest, AccumulatorsLargerThanAMessage) {
  Limits limits;
  limits.message_bytes_max = kMessageBytesFloor;
  v1::ReduceArrayRequest reduction;
  v1::InlineArray& rows = *reduction.mutable_array()->mutable_inline_array();
  rows.set_element_type(v1::ELEMENT_TYPE_FLOAT64);
  rows.add_shape(100);
  rows.add_shape(1);
  rows.mutable_data()->assign(800, 'x');
  reduction.mutable_grouping()->set_axis(1);
  reduction.add_statistics(v1::STATISTIC_SUM);
  EXPECT_TRUE(Plan(reduction, limits).ok());
  reduction.set_return_accumulator(true);
  EXPECT_EQ(kernels::FieldOf(Plan(reduction, limits).status()), "return_accumulator");
  ExpectFields<v1::ComputeHistogramRequest>(
      {{Array(kSix) + "bins { even { bin_count: 3000 } } weights { " + kSix +
            " } return_accumulator: true",
        "return_accumulator"}},
      limits);
  // Few samples fill few bins.
  EXPECT_TRUE(Plan(Parse<v1::ComputeHistogramRequest>(
                       Array(kSix) + "bins { even { bin_count: 3000 } } return_accumulator: true"),
                   limits)
                  .ok());
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

TEST(RequestValidationTest, AReductionIsPlannedAsItIsAsked) {
  const auto request = Parse<v1::ReduceArrayRequest>(
      Array(kMatrix) +
      "statistics: [STATISTIC_MEAN, STATISTIC_BITWISE_XOR] grouping { axis: 0 } nan_policy: "
      "NAN_POLICY_IGNORE overflow_policy: OVERFLOW_POLICY_WRAP delta_degrees_of_freedom: 1");
  const auto planned = Plan(request, Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_THAT(planned->plan.statistics,
              ElementsAre(kernels::Statistic::kMean, kernels::Statistic::kBitwiseXor));
  EXPECT_EQ(planned->plan.grouping.kind, kernels::GroupingKind::kAxis0);
  EXPECT_EQ(planned->plan.grouping.group_count, 3u);
  EXPECT_EQ(planned->plan.nan_policy, kernels::NanPolicy::kIgnore);
  EXPECT_EQ(planned->plan.overflow_policy, kernels::OverflowPolicy::kWrap);
  EXPECT_EQ(planned->plan.delta_degrees_of_freedom, 1u);
  // The view points into the request.
  const auto& input = std::get<kernels::HostSpan>(planned->input.data);
  EXPECT_EQ(static_cast<const void*>(input.data), request.array().inline_array().data().data());
  EXPECT_EQ(input.size_bytes, 12u);
}

TEST(RequestValidationTest, AScanIsPlannedAsItIsAsked) {
  const auto defaults =
      Plan(Parse<v1::ScanArrayRequest>(Array(kSix) + "operation: SCAN_OPERATION_SUM"), Limits{});
  ASSERT_TRUE(defaults.ok()) << defaults.status();
  EXPECT_EQ(defaults->plan.mode, kernels::ScanMode::kInclusive);
  EXPECT_EQ(defaults->plan.direction, kernels::ScanDirection::kForward);
  EXPECT_EQ(defaults->plan.output_type, kernels::ElementType::kInt64);
  const auto planned = Plan(
      Parse<v1::ScanArrayRequest>(
          Array(kSix) +
          "operation: SCAN_OPERATION_PRODUCT mode: SCAN_MODE_EXCLUSIVE direction: "
          "SCAN_DIRECTION_REVERSE output_type: ELEMENT_TYPE_INT16 grouping { segments { offsets: "
          "[0, 2, 6] } } destination { inline_array { } }"),
      Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(planned->plan.operation, kernels::ScanOperation::kProduct);
  EXPECT_EQ(planned->plan.mode, kernels::ScanMode::kExclusive);
  EXPECT_EQ(planned->plan.direction, kernels::ScanDirection::kReverse);
  EXPECT_EQ(planned->plan.output_type, kernels::ElementType::kInt16);
  EXPECT_THAT(planned->plan.grouping.offsets, ElementsAre(0, 2, 6));
}

TEST(RequestValidationTest, AHistogramIsPlannedAsItIsAsked) {
  const auto planned =
      Plan(Parse<v1::ComputeHistogramRequest>(
               Array(kSix) +
               "bins { even { bin_count: 4 } } bins { integer { first_value: -1 "
               "bin_count: 5 } } y_array { " +
               kSix +
               " } weights { inline_array { element_type: ELEMENT_TYPE_UINT8 data: \"abcdef\" } "
               "} out_of_range_policy: OUT_OF_RANGE_POLICY_CLAMP format: HISTOGRAM_FORMAT_SPARSE"),
           Limits{});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_TRUE(planned->plan.two_dimensional);
  EXPECT_TRUE(planned->plan.sparse);
  EXPECT_EQ(planned->plan.channel_count, 1u);
  EXPECT_EQ(planned->plan.weight_type, kernels::ElementType::kUint8);
  EXPECT_EQ(planned->plan.out_of_range_policy, kernels::OutOfRangePolicy::kClamp);
  EXPECT_TRUE(planned->plan.bins[0].automatic_range);
  EXPECT_EQ(planned->plan.bins[1].first_value, -1);
  EXPECT_EQ(planned->plan.total_bin_count(), 20u);
  EXPECT_EQ(kernels::SizeBytes(planned->input.y_array), 12u);
  EXPECT_EQ(kernels::SizeBytes(planned->input.weights), 6u);
}

}  // namespace
}  // namespace gridfold::server
