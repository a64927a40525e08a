// Every option reaches the wire, and every field of an answer reaches the caller.
#include "gridfold/client.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(ClientTest, ReductionOptionsReachTheWire) {
  const std::vector<int8_t> elements = {'a', 'b', 'c', 'd', 'e', 'f'};
  ASSERT_TRUE(client_
                  ->ReduceArray(ArrayView(elements).WithShape(2, 3),
                                {.statistics = {Statistic::kSum, Statistic::kBitwiseXor},
                                 .grouping = Axis{0},
                                 .nan_policy = NanPolicy::kIgnore,
                                 .overflow_policy = OverflowPolicy::kWrap,
                                 .delta_degrees_of_freedom = 1,
                                 .return_accumulator = true,
                                 .first_index = 77})
                  .ok());
  ExpectMessage(reduce_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: 2 shape: 3 data: "abcdef" } }
    statistics: STATISTIC_SUM statistics: STATISTIC_BITWISE_XOR
    grouping { axis: 0 }
    nan_policy: NAN_POLICY_IGNORE
    overflow_policy: OVERFLOW_POLICY_WRAP
    delta_degrees_of_freedom: 1
    return_accumulator: true
    first_index: 77)");
}

TEST_F(ClientTest, AxesAndShapesReachTheWire) {
  const std::vector<int8_t> elements = {'a', 'b', 'c', 'd', 'e', 'f'};
  Parse("group_count: 2 result_shape: [1, 2, 1]", reduce_response_);
  const auto result = client_->ReduceArray(
      ArrayView(elements).WithShape({3, 2, 1}),
      {.statistics = {Statistic::kSum}, .grouping = Axes{{0, -1}}, .keep_dimensions = true});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->result_shape, testing::ElementsAre(1, 2, 1));
  ExpectMessage(reduce_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_INT8 shape: [3, 2, 1] data: "abcdef" } }
    statistics: STATISTIC_SUM
    grouping { axes { axes: 0 axes: -1 } }
    nan_policy: NAN_POLICY_PROPAGATE
    overflow_policy: OVERFLOW_POLICY_ERROR
    keep_dimensions: true)");
}

TEST_F(ClientTest, ArraysWithoutDimensionsReachTheWire) {
  const std::vector<int8_t> elements = {'a'};
  Parse("inline_array { element_type: ELEMENT_TYPE_INT8 zero_dimensional: true data: 'a' }",
        scan_response_);
  const auto result = client_->ScanArray(ArrayView(elements).WithShape({}), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->shape.empty());
  EXPECT_TRUE(scan_request_.array().inline_array().zero_dimensional());
  EXPECT_EQ(scan_request_.array().inline_array().shape_size(), 0);
}

TEST_F(ClientTest, StrategiesReachTheWire) {
  const std::vector<uint8_t> elements = {1, 2};
  (void)client_->ReduceArray(elements,
                             {.statistics = {Statistic::kSum}, .strategy = "reduce/groups/tiles"});
  EXPECT_EQ(reduce_request_.execution_options().strategy(), "reduce/groups/tiles");
  (void)client_->ScanArray(elements, {.strategy = "scan/look-back"});
  EXPECT_EQ(scan_request_.execution_options().strategy(), "scan/look-back");
  (void)client_->ReduceArray(elements, {.statistics = {Statistic::kSum}});
  EXPECT_FALSE(reduce_request_.has_execution_options());
}

TEST_F(ClientTest, SegmentsReachTheWire) {
  const std::vector<uint8_t> elements = {'a', 'b'};
  ASSERT_TRUE(client_
                  ->ReduceArray(elements, {.statistics = {Statistic::kMean},
                                           .grouping = Segments{{0, 1, 1, 2}}})
                  .ok());
  ExpectMessage(reduce_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_UINT8 data: "ab" } }
    statistics: STATISTIC_MEAN
    grouping { segments { offsets: 0 offsets: 1 offsets: 1 offsets: 2 } }
    nan_policy: NAN_POLICY_PROPAGATE
    overflow_policy: OVERFLOW_POLICY_ERROR)");
}

TEST_F(ClientTest, EveryKindOfStatisticReachesTheCaller) {
  Parse(R"(
    results { statistic: STATISTIC_SUM values { int64_values { values: -1 values: 2 } } }
    results { statistic: STATISTIC_COUNT values { uint64_values { values: 3 values: 4 } } }
    results { statistic: STATISTIC_MEAN values { double_values { values: 0.5 values: inf } } }
    results { statistic: STATISTIC_ANY values { bool_values { values: true values: false } } }
    group_count: 2
    execution { engine: "cuda" strategy: "reduce/long/blocks" cluster_size: 8 bytes_read: 77
                queue_time { nanos: 1000 } stage_in_time { nanos: 2000 } kernel_time { nanos: 3000 }
                stage_out_time { nanos: 4000 } total_time { seconds: 1 } })",
        reduce_response_);
  const auto result = client_->ReduceArray(std::vector<int8_t>{1}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->group_count, 2u);
  ASSERT_EQ(result->entries.size(), 4u);
  EXPECT_THAT(std::get<std::vector<int64_t>>(*result->Find(Statistic::kSum)), ElementsAre(-1, 2));
  EXPECT_THAT(std::get<std::vector<uint64_t>>(*result->Find(Statistic::kCount)), ElementsAre(3, 4));
  EXPECT_THAT(std::get<std::vector<double>>(*result->Find(Statistic::kMean)),
              ElementsAre(0.5, HUGE_VAL));
  EXPECT_THAT(std::get<std::vector<bool>>(*result->Find(Statistic::kAny)),
              ElementsAre(true, false));
  EXPECT_EQ(result->Find(Statistic::kMax), nullptr);
  EXPECT_EQ(result->execution.engine, "cuda");
  EXPECT_EQ(result->execution.strategy, "reduce/long/blocks");
  EXPECT_EQ(result->execution.cluster_size, 8u);
  EXPECT_EQ(result->execution.bytes_read, 77u);
  EXPECT_EQ(result->execution.queue_time, absl::Microseconds(1));
  EXPECT_EQ(result->execution.stage_in_time, absl::Microseconds(2));
  EXPECT_EQ(result->execution.kernel_time, absl::Microseconds(3));
  EXPECT_EQ(result->execution.stage_out_time, absl::Microseconds(4));
  EXPECT_EQ(result->execution.total_time, absl::Seconds(1));
}

TEST_F(ClientTest, AnswersThatMakeNoSenseAreInternalErrors) {
  const std::vector<float> elements = {1};
  Parse("results { statistic: STATISTIC_SUM } group_count: 1", reduce_response_);
  EXPECT_TRUE(absl::IsInternal(client_->ReduceArray(elements, {}).status()));
  Parse("results { values { double_values { values: 1 } } } group_count: 2", reduce_response_);
  EXPECT_TRUE(absl::IsInternal(client_->ReduceArray(elements, {}).status()));

  EXPECT_TRUE(absl::IsInternal(client_->ScanArray(elements, {}).status()));
  Parse("inline_array { element_type: ELEMENT_TYPE_INT32 data: '12345' }", scan_response_);
  EXPECT_TRUE(absl::IsInternal(client_->ScanArray(elements, {}).status()));

  Parse("channels { counts: 1 counts: 2 } bins { bin_count: 3 }", histogram_response_);
  EXPECT_TRUE(absl::IsInternal(client_->ComputeHistogram(elements, {}).status()));
  Parse("channels { counts: 1 } bins { bin_count: 1 edges: 0 }", histogram_response_);
  EXPECT_TRUE(absl::IsInternal(client_->ComputeHistogram(elements, {}).status()));
  Parse("channels { counts: 1 bin_indices: 5 } bins { bin_count: 5 }", histogram_response_);
  EXPECT_TRUE(absl::IsInternal(
      client_->ComputeHistogram(elements, {.format = HistogramFormat::kSparse}).status()));
}

TEST_F(ClientTest, ScanOptionsReachTheWireAndTheResultTheCaller) {
  Parse(R"(inline_array { element_type: ELEMENT_TYPE_INT32 shape: 1 shape: 2
                          data: "\001\000\000\000\377\377\377\377" }
           execution { engine: "cpu" })",
        scan_response_);
  const std::vector<int32_t> elements = {1, 2};
  const auto result = client_->ScanArray(ArrayView(elements).WithShape(1, 2),
                                         {.operation = ScanOperation::kProduct,
                                          .mode = ScanMode::kExclusive,
                                          .direction = ScanDirection::kReverse,
                                          .grouping = Axis{1},
                                          .output_type = ElementType::kInt32,
                                          .nan_policy = NanPolicy::kIgnore,
                                          .overflow_policy = OverflowPolicy::kWrap,
                                          .exact = true});
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectMessage(scan_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_INT32 shape: 1 shape: 2
                           data: "\001\000\000\000\002\000\000\000" } }
    operation: SCAN_OPERATION_PRODUCT
    mode: SCAN_MODE_EXCLUSIVE
    direction: SCAN_DIRECTION_REVERSE
    grouping { axis: 1 }
    output_type: ELEMENT_TYPE_INT32
    nan_policy: NAN_POLICY_IGNORE
    overflow_policy: OVERFLOW_POLICY_WRAP
    destination { inline_array {} }
    exact: true)");
  EXPECT_EQ(result->element_type, ElementType::kInt32);
  EXPECT_THAT(result->shape, ElementsAre(1, 2));
  EXPECT_THAT(*result->Values<int32_t>(), ElementsAre(1, -1));
  EXPECT_EQ(result->Values<int64_t>().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(result->execution.engine, "cpu");
}

TEST_F(ClientTest, ScanOfNothingIsEmpty) {
  Parse("inline_array { element_type: ELEMENT_TYPE_FLOAT64 }", scan_response_);
  const auto result = client_->ScanArray(std::vector<double>(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->shape, ElementsAre(0));
  EXPECT_THAT(*result->Values<double>(), IsEmpty());
  EXPECT_EQ(scan_request_.output_type(), v1::ELEMENT_TYPE_UNSPECIFIED);
}

TEST_F(ClientTest, HistogramOptionsReachTheWire) {
  const std::vector<uint8_t> x = {'x', 'X'};
  const std::vector<uint8_t> y = {'y', 'Y'};
  const std::vector<int8_t> weights = {'w', 'W'};
  client_
      ->ComputeHistogram(x, {.bins = {EvenBins{10}, EvenBins{5, -1.0, 1.0}, EdgeBins{{0, 1, 4}},
                                      LogarithmicBins{3, 1, 1000}, IntegerBins{-128, 256}},
                             .channel_count = 5,
                             .y_array = y,
                             .weights = weights,
                             .out_of_range_policy = OutOfRangePolicy::kClamp,
                             .format = HistogramFormat::kSparse,
                             .quantiles = {0.25, 1},
                             .return_accumulator = true})
      .IgnoreError();
  ExpectMessage(histogram_request_, R"(
    array { inline_array { element_type: ELEMENT_TYPE_UINT8 data: "xX" } }
    bins { even { bin_count: 10 } }
    bins { even { bin_count: 5 lower_bound: -1 upper_bound: 1 } }
    bins { edges { edges: 0 edges: 1 edges: 4 } }
    bins { logarithmic { bin_count: 3 lower_bound: 1 upper_bound: 1000 } }
    bins { integer { first_value: -128 bin_count: 256 } }
    channel_count: 5
    y_array { inline_array { element_type: ELEMENT_TYPE_UINT8 data: "yY" } }
    weights { inline_array { element_type: ELEMENT_TYPE_INT8 data: "wW" } }
    out_of_range_policy: OUT_OF_RANGE_POLICY_CLAMP
    format: HISTOGRAM_FORMAT_SPARSE
    quantiles: 0.25 quantiles: 1
    return_accumulator: true
    compact_answer: true)");
}

TEST_F(ClientTest, APartHasAnAccumulatorAndLeavesOutWhatHasNoValue) {
  Parse(R"(results { statistic: STATISTIC_COUNT values { uint64_values { values: 0 } } }
           results { statistic: STATISTIC_MIN }
           group_count: 1 accumulator: "abc")",
        reduce_response_);
  const auto result = client_->ReduceArray(std::vector<float>(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->accumulator, "abc");
  EXPECT_NE(result->Find(Statistic::kCount), nullptr);
  EXPECT_EQ(result->Find(Statistic::kMin), nullptr);
}

TEST_F(ClientTest, AccumulatorsReachTheWireAndMergedStatisticsTheCaller) {
  Parse(R"(reduction { results { statistic: STATISTIC_SUM values { double_values { values: 1.5 } } }
                       group_count: 1 accumulator: "merged"
                       execution { strategy: "merge/reduction" } }
           element_type: ELEMENT_TYPE_FLOAT16 element_count: 12)",
        merge_response_);
  const std::vector<std::string> accumulators = {"a", std::string(200'000, 'b'), ""};
  const auto merged = client_->MergeAccumulators(accumulators, {.partial = true});
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(merge_request_.accumulators(), testing::ElementsAreArray(accumulators));
  EXPECT_TRUE(merge_request_.partial());
  EXPECT_EQ(merged->element_type, ElementType::kFloat16);
  EXPECT_EQ(merged->element_count, 12u);
  const auto& result = std::get<ReductionResult>(merged->answer);
  EXPECT_EQ(result.accumulator, "merged");
  EXPECT_EQ(result.execution.strategy, "merge/reduction");
  EXPECT_THAT(std::get<std::vector<double>>(*result.Find(Statistic::kSum)), ElementsAre(1.5));
}

TEST_F(ClientTest, SubtractionsReachTheWireAndWhatRemainsTheCaller) {
  Parse(R"(remainder {
             reduction { results { statistic: STATISTIC_SUM
                                   values { double_values { values: 1.5 } } }
                         group_count: 1 accumulator: "rest" }
             element_type: ELEMENT_TYPE_FLOAT16 element_count: 12 })",
        subtract_response_);
  const std::vector<std::string> subtrahends = {"a", std::string(200'000, 'b')};
  const auto rest = client_->SubtractAccumulators("whole", subtrahends, {.partial = true});
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(subtract_request_.minuend(), "whole");
  EXPECT_THAT(subtract_request_.subtrahends(), testing::ElementsAreArray(subtrahends));
  EXPECT_TRUE(subtract_request_.partial());
  EXPECT_EQ(rest->element_count, 12u);
  EXPECT_EQ(std::get<ReductionResult>(rest->answer).accumulator, "rest");
  subtract_response_.Clear();
  EXPECT_TRUE(absl::IsInternal(client_->SubtractAccumulators("whole", subtrahends).status()));
}

TEST_F(ClientTest, MergedHistogramsReachTheCallerWithTheirOptions) {
  Parse(R"(histogram { channels { weight_sums: 2.5 bin_indices: 5 }
                       bins { bin_count: 2 edges: 0 edges: 1 edges: 2 } bins { bin_count: 3 }
                       accumulator: "merged" }
           element_type: ELEMENT_TYPE_INT8 element_count: 4
           histogram_description { two_dimensional: true weighted: true
                                   format: HISTOGRAM_FORMAT_SPARSE
                                   first_values: 0 first_values: -7 })",
        merge_response_);
  const auto merged = client_->MergeAccumulators(std::vector<std::string>{"a"});
  ASSERT_TRUE(merged.ok()) << merged.status();
  const auto& histogram = std::get<MergedHistogram>(merged->answer);
  EXPECT_EQ(histogram.result.accumulator, "merged");
  EXPECT_THAT(histogram.result.channels[0].weight_sums, ElementsAre(2.5));
  EXPECT_TRUE(histogram.options.y_array.has_value());
  EXPECT_TRUE(histogram.options.weights.has_value());
  EXPECT_EQ(histogram.options.format, HistogramFormat::kSparse);
  ASSERT_EQ(histogram.options.bins.size(), 2u);
  EXPECT_THAT(std::get<EdgeBins>(histogram.options.bins[0]).edges, ElementsAre(0, 1, 2));
  EXPECT_EQ(std::get<IntegerBins>(histogram.options.bins[1]).first_value, -7);
  EXPECT_EQ(std::get<IntegerBins>(histogram.options.bins[1]).bin_count, 3u);
}

TEST_F(ClientTest, MergedIntegerBinsMayBeginBeyondInt64) {
  Parse(R"(histogram { channels { counts: 1 counts: 2 } bins { bin_count: 2 } }
           element_type: ELEMENT_TYPE_UINT64 element_count: 3
           histogram_description { format: HISTOGRAM_FORMAT_DENSE first_values: 0
                                   first_unsigned_values: 9223372036854775809 })",
        merge_response_);
  const auto merged = client_->MergeAccumulators(std::vector<std::string>{"a"});
  ASSERT_TRUE(merged.ok()) << merged.status();
  const auto& options = std::get<MergedHistogram>(merged->answer).options;
  EXPECT_EQ(std::get<IntegerBins>(options.bins[0]).first_unsigned_value, (uint64_t{1} << 63) + 1);
}

TEST_F(ClientTest, MergesThatMakeNoSenseAreInternalErrors) {
  const std::vector<std::string> accumulators = {"a"};
  EXPECT_TRUE(absl::IsInternal(client_->MergeAccumulators(accumulators).status()));
  Parse(R"(histogram { channels { counts: 2 } bins { bin_count: 2 } }
           element_type: ELEMENT_TYPE_INT8 histogram_description { format: HISTOGRAM_FORMAT_DENSE })",
        merge_response_);
  EXPECT_TRUE(absl::IsInternal(client_->MergeAccumulators(accumulators).status()));
}

TEST_F(ClientTest, HistogramCountsReachTheCaller) {
  Parse(R"(channels { counts: 1 counts: 2 underflow_count: 3 overflow_count: 4 nan_count: 5
                      quantile_values: 0.75 }
           bins { bin_count: 2 edges: 0 edges: 1 edges: 2 }
           execution { strategy: "histogram/shared" })",
        histogram_response_);
  const auto result =
      client_->ComputeHistogram(std::vector<float>{1}, {.bins = {EvenBins{2}}, .quantiles = {0.5}});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->channels.size(), 1u);
  const HistogramCounts& counts = result->channels[0];
  EXPECT_THAT(counts.counts, ElementsAre(1, 2));
  EXPECT_EQ(counts.underflow_count, 3u);
  EXPECT_EQ(counts.overflow_count, 4u);
  EXPECT_EQ(counts.nan_count, 5u);
  EXPECT_THAT(counts.quantile_values, ElementsAre(0.75));
  EXPECT_EQ(result->bins[0].bin_count, 2u);
  EXPECT_THAT(result->bins[0].edges, ElementsAre(0, 1, 2));
  EXPECT_EQ(result->execution.strategy, "histogram/shared");
}

TEST_F(ClientTest, HistogramsInCompactFormReachTheCaller) {
  const auto ask = [this] {
    return client_->ComputeHistogram(std::vector<float>{1}, {.bins = {EvenBins{2}}});
  };
  const std::string bins =
      "bins { bin_count: 2 even_edges { lower_bound: -1 upper_bound: 2 } } channels { ";
  for (const char* const counts :
       {R"(packed_count_bytes: 1 packed_counts: '\001\377' })",
        R"(packed_count_bytes: 2 packed_counts: '\001\000\377\000' })",
        R"(packed_count_bytes: 4 packed_counts: '\001\000\000\000\377\000\000\000' })",
        R"(packed_count_bytes: 8 packed_counts:
           '\001\000\000\000\000\000\000\000\377\000\000\000\000\000\000\000' })"}) {
    Parse((bins + counts).c_str(), histogram_response_);
    const auto result = ask();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_THAT(result->channels[0].counts, ElementsAre(1, 255));
    EXPECT_THAT(result->bins[0].edges, ElementsAre(-1, 0.5, 2));
  }
  EXPECT_TRUE(histogram_request_.compact_answer());
  // Widths that are none, too few bytes, and edges of more bins than there are counts.
  for (const char* const wrong : {"packed_count_bytes: 3 packed_counts: '123456' }",
                                  "packed_count_bytes: 0 packed_counts: '12' }",
                                  "packed_count_bytes: 4 packed_counts: '1234567' }",
                                  "packed_count_bytes: 1 packed_counts: '12' } bins { bin_count: "
                                  "123456789123456 even_edges {} }",
                                  "}"}) {
    Parse((bins + wrong).c_str(), histogram_response_);
    EXPECT_TRUE(absl::IsInternal(ask().status())) << wrong;
  }
}

TEST_F(ClientTest, SparseWeightSumsInTwoDimensionsReachTheCaller) {
  Parse(R"(channels { weight_sums: 0.5 weight_sums: 1.5 bin_indices: 1 bin_indices: 5 }
           bins { bin_count: 2 } bins { bin_count: 3 })",
        histogram_response_);
  const std::vector<int32_t> samples = {1};
  const auto result =
      client_->ComputeHistogram(samples, {.bins = {IntegerBins{0, 2}, IntegerBins{0, 3}},
                                          .y_array = samples,
                                          .weights = samples,
                                          .format = HistogramFormat::kSparse});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->channels[0].weight_sums, ElementsAre(0.5, 1.5));
  EXPECT_THAT(result->channels[0].bin_indices, ElementsAre(1, 5));
  EXPECT_EQ(result->bins.size(), 2u);
}

TEST_F(ClientTest, BatchesReachTheWire) {
  const std::vector<int8_t> some = {'a', 'b'};
  const std::vector<int8_t> none;
  Batch batch;
  batch.ReduceArray(some, {.statistics = {Statistic::kSum}, .first_index = 7});
  batch.ScanArray(none, {.operation = ScanOperation::kMax});
  batch.ComputeHistogram(
      ResidentArray{"x"},
      {.bins = {IntegerBins{.first_value = 1, .bin_count = 2}}, .weights = some});
  ASSERT_FALSE(client_->BatchCompute(batch).ok()) << "the answer has no results";
  ExpectMessage(batch_request_, R"(
    operations { reduction {
      array { inline_array { element_type: ELEMENT_TYPE_INT8 data: "ab" } }
      statistics: STATISTIC_SUM grouping { } nan_policy: NAN_POLICY_PROPAGATE
      overflow_policy: OVERFLOW_POLICY_ERROR first_index: 7 } }
    operations { scan {
      array { inline_array { element_type: ELEMENT_TYPE_INT8 } } operation: SCAN_OPERATION_MAX
      mode: SCAN_MODE_INCLUSIVE direction: SCAN_DIRECTION_FORWARD grouping { }
      nan_policy: NAN_POLICY_PROPAGATE overflow_policy: OVERFLOW_POLICY_ERROR
      destination { inline_array { } } } }
    operations { histogram {
      array { resident_array { name: "x" } } bins { integer { first_value: 1 bin_count: 2 } }
      channel_count: 1
      weights { inline_array { element_type: ELEMENT_TYPE_INT8 data: "ab" } }
      out_of_range_policy: OUT_OF_RANGE_POLICY_DROP format: HISTOGRAM_FORMAT_DENSE
      compact_answer: true } })");
}

TEST_F(ClientTest, ResultsOfABatchReachTheCallerEachByItself) {
  Parse(R"(
    results { reduction { results { statistic: STATISTIC_SUM values { int64_values { values: 3 } } }
                          group_count: 1 } }
    results { error { code: 3 message: "no" details {
      type_url: "type.googleapis.com/google.rpc.ErrorInfo" value: "\n\x0dINVALID_FIELD" } } }
    results { scan { inline_array { element_type: ELEMENT_TYPE_INT8 data: "ab" } } }
    results { }
    results { reduction { group_count: 1 } }
    results { error { } }
    execution { strategy: "batch" })",
        batch_response_);
  const std::vector<int8_t> elements = {1};
  Batch batch;
  const auto reduction = batch.ReduceArray(elements, {.statistics = {Statistic::kSum}});
  const auto error = batch.ReduceArray(elements, {.statistics = {Statistic::kSum}});
  const auto scan = batch.ScanArray(elements, {});
  const auto nothing = batch.ScanArray(elements, {});
  const auto other_kind = batch.ComputeHistogram(elements, {});
  const auto no_error = batch.ComputeHistogram(elements, {});
  const auto result = client_->BatchCompute(batch);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->execution().strategy, "batch");
  ASSERT_TRUE(result->Of(reduction).ok());
  EXPECT_THAT(std::get<std::vector<int64_t>>(*result->Of(reduction)->Find(Statistic::kSum)),
              ElementsAre(3));
  EXPECT_EQ(result->Of(error).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(result->Of(error).status().message(), "no");
  EXPECT_EQ(ErrorReason(result->Of(error).status()), "INVALID_FIELD");
  ASSERT_TRUE(result->Of(scan).ok());
  EXPECT_EQ(result->Of(scan)->data, "ab");
  EXPECT_EQ(result->Of(nothing).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(result->Of(other_kind).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(result->Of(no_error).status().code(), absl::StatusCode::kInternal);
}

TEST_F(ClientTest, ServerInfoReachesTheCaller) {
  server_.on_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse& response) {
    Parse(R"(version: "1.2.3" engine: "cuda"
             devices { name: "GPU" memory_bytes: 9 compute_units: 132 compute_capability: "9.0"
                       uuid: "GPU-1" }
             limits { message_bytes_max: 1 bin_count_max: 2 group_count_max: 3 lane_count: 4
                      queued_jobs_max: 5 queued_bytes_max: 6
                      resident_bytes_max: 7 tenant_resident_bytes_max: 8
                      array_count_max: 9 array_chunk_bytes_max: 10
                      region_count_max: 12 region_bytes_max: 13
                      stream_count_max: 14 stream_pending_bytes_max: 15
                      batch_operations_max: 11 })",
          response);
    return grpc::Status::OK;
  };
  const auto info = client_->GetServerInfo();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->version, "1.2.3");
  EXPECT_EQ(info->engine, "cuda");
  ASSERT_EQ(info->devices.size(), 1u);
  EXPECT_EQ(info->devices[0].name, "GPU");
  EXPECT_EQ(info->devices[0].memory_bytes, 9u);
  EXPECT_EQ(info->devices[0].compute_units, 132u);
  EXPECT_EQ(info->devices[0].compute_capability, "9.0");
  EXPECT_EQ(info->devices[0].uuid, "GPU-1");
  EXPECT_EQ(info->limits.message_bytes_max, 1u);
  EXPECT_EQ(info->limits.bin_count_max, 2u);
  EXPECT_EQ(info->limits.group_count_max, 3u);
  EXPECT_EQ(info->limits.lane_count, 4u);
  EXPECT_EQ(info->limits.queued_jobs_max, 5u);
  EXPECT_EQ(info->limits.queued_bytes_max, 6u);
  EXPECT_EQ(info->limits.resident_bytes_max, 7u);
  EXPECT_EQ(info->limits.tenant_resident_bytes_max, 8u);
  EXPECT_EQ(info->limits.array_count_max, 9u);
  EXPECT_EQ(info->limits.array_chunk_bytes_max, 10u);
  EXPECT_EQ(info->limits.region_count_max, 12u);
  EXPECT_EQ(info->limits.region_bytes_max, 13u);
  EXPECT_EQ(info->limits.stream_count_max, 14u);
  EXPECT_EQ(info->limits.stream_pending_bytes_max, 15u);
  EXPECT_EQ(info->limits.batch_operations_max, 11u);
}

TEST_F(ClientTest, StatisticsReachTheCaller) {
  server_.on_statistics = [](grpc::ServerContext&, const v1::GetStatisticsRequest&,
                             v1::GetStatisticsResponse& response) {
    Parse(R"(uptime { seconds: 1 } jobs_accepted: 2 jobs_refused: 3 jobs_succeeded: 4
             jobs_failed: 5 jobs_cancelled: 6 bytes_processed: 7 jobs_queued: 8 bytes_queued: 9
             lanes_busy: 10 lane_count: 11 resident_array_count: 12 resident_bytes: 13)",
          response);
    return grpc::Status::OK;
  };
  const auto statistics = client_->GetStatistics();
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  EXPECT_EQ(statistics->uptime, absl::Seconds(1));
  EXPECT_EQ(statistics->jobs_accepted, 2u);
  EXPECT_EQ(statistics->jobs_refused, 3u);
  EXPECT_EQ(statistics->jobs_succeeded, 4u);
  EXPECT_EQ(statistics->jobs_failed, 5u);
  EXPECT_EQ(statistics->jobs_cancelled, 6u);
  EXPECT_EQ(statistics->bytes_processed, 7u);
  EXPECT_EQ(statistics->jobs_queued, 8u);
  EXPECT_EQ(statistics->bytes_queued, 9u);
  EXPECT_EQ(statistics->lanes_busy, 10u);
  EXPECT_EQ(statistics->lane_count, 11u);
  EXPECT_EQ(statistics->resident_array_count, 12u);
  EXPECT_EQ(statistics->resident_bytes, 13u);
}

TEST_F(ClientTest, HealthIsTheStandardServices) {
  EXPECT_EQ(*client_->CheckHealth(), HealthStatus::kServing);
  server_.health().SetServingStatus("some.Service", false);
  EXPECT_EQ(*client_->CheckHealth("some.Service"), HealthStatus::kNotServing);
  EXPECT_TRUE(absl::IsNotFound(client_->CheckHealth("other.Service").status()));
}

}  // namespace
}  // namespace gridfold::client
