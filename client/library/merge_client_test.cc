// Accumulators that a client has merged and subtracted: they reach the wire, and what comes of them
// the caller.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

TEST_F(ClientTest, AccumulatorsReachTheWireAndMergedStatisticsTheCaller) {
  Parse(R"(reduction { results { statistic: STATISTIC_SUM values { double_values { values: 1.5 } } }
                       group_count: 1 accumulator: "merged"
                       execution { strategy: "merge/reduction" } }
           element_type: ELEMENT_TYPE_FLOAT16 element_count: 12)",
        merge_response_);
  const std::vector<std::string> accumulators = {"a", std::string(200'000, 'b'), ""};
  const auto merged = client_->MergeAccumulators(
      accumulators, {.partial = true, .output_type = ElementType::kBfloat16});
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(merge_request_.accumulators(), testing::ElementsAreArray(accumulators));
  EXPECT_TRUE(merge_request_.partial());
  EXPECT_EQ(merge_request_.output_type(), v1::ELEMENT_TYPE_BFLOAT16);
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
  const auto rest = client_->SubtractAccumulators(
      "whole", subtrahends, {.partial = true, .output_type = ElementType::kFloat32});
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(subtract_request_.minuend(), "whole");
  EXPECT_THAT(subtract_request_.subtrahends(), testing::ElementsAreArray(subtrahends));
  EXPECT_TRUE(subtract_request_.partial());
  EXPECT_EQ(subtract_request_.output_type(), v1::ELEMENT_TYPE_FLOAT32);
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

// Each field of what the server says of the histogram, and none where it says nothing.
TEST_F(ClientTest, MergedHistogramsHaveEveryOption) {
  const auto options_by = [this](const char* response) {
    Parse(response, merge_response_);
    const auto merged = client_->MergeAccumulators(std::vector<std::string>{"a"});
    EXPECT_TRUE(merged.ok()) << merged.status();
    return merged.ok() ? std::get<MergedHistogram>(merged->answer).options : HistogramOptions();
  };
  const HistogramOptions channels = options_by(
      R"(histogram { channels { counts: 1 quantile_values: 0.5 quantile_values: 0.75 }
                     channels { counts: 2 quantile_values: 1 quantile_values: 2 }
                     channels { counts: 3 quantile_values: 3 quantile_values: 4 }
                     bins { bin_count: 1 edges: 0 edges: 1 } bins { bin_count: 1 edges: 2 edges: 3 }
                     bins { bin_count: 1 edges: 4 edges: 5 } }
         element_type: ELEMENT_TYPE_INT8 element_count: 6
         histogram_description { format: HISTOGRAM_FORMAT_DENSE quantiles: 0.25 quantiles: 0.5 })");
  EXPECT_EQ(channels.channel_count, 3u);
  EXPECT_FALSE(channels.y_array.has_value());
  EXPECT_FALSE(channels.weights.has_value());
  EXPECT_EQ(channels.format, HistogramFormat::kDense);
  EXPECT_THAT(channels.quantiles, ElementsAre(0.25, 0.5));
  ASSERT_EQ(channels.bins.size(), 3u);
  EXPECT_THAT(std::get<EdgeBins>(channels.bins[2]).edges, ElementsAre(4, 5));
  const HistogramOptions weighted = options_by(
      R"(histogram { channels { weight_sums: 0.5 } bins { bin_count: 1 } }
         element_type: ELEMENT_TYPE_INT8 element_count: 1
         histogram_description { weighted: true format: HISTOGRAM_FORMAT_DENSE
                                 first_values: 9 })");
  EXPECT_EQ(weighted.channel_count, 1u);
  EXPECT_FALSE(weighted.y_array.has_value());
  EXPECT_TRUE(weighted.weights.has_value());
  EXPECT_THAT(weighted.quantiles, ElementsAre());
  EXPECT_EQ(std::get<IntegerBins>(weighted.bins[0]).first_value, 9);
  EXPECT_EQ(std::get<IntegerBins>(weighted.bins[0]).first_unsigned_value, 0u);
  const HistogramOptions plane = options_by(
      R"(histogram { channels { counts: 1 counts: 2 } bins { bin_count: 1 } bins { bin_count: 2 } }
         element_type: ELEMENT_TYPE_INT8 element_count: 3
         histogram_description { two_dimensional: true format: HISTOGRAM_FORMAT_DENSE })");
  EXPECT_EQ(plane.channel_count, 1u);
  EXPECT_TRUE(plane.y_array.has_value());
  EXPECT_FALSE(plane.weights.has_value());
  EXPECT_EQ(std::get<IntegerBins>(plane.bins[1]).first_value, 0);
}

// Keyed statistics are a kind of answer of their own.
TEST_F(ClientTest, MergedKeyedStatisticsReachTheCaller) {
  Parse(R"(keyed_reduction { group_count: 1 keys { int64_values { values: 5 } } counts: 2
                             results { statistic: STATISTIC_SUM
                                       values { int64_values { values: 7 } } } }
           element_type: ELEMENT_TYPE_INT16 element_count: 2)",
        merge_response_);
  const auto merged = client_->MergeAccumulators(std::vector<std::string>{"a"});
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_FALSE(merge_request_.partial());
  EXPECT_EQ(merged->element_type, ElementType::kInt16);
  const auto& keyed = std::get<KeyedReductionResult>(merged->answer);
  EXPECT_THAT(keyed.counts, ElementsAre(2));
  EXPECT_THAT(std::get<std::vector<int64_t>>(*keyed.Find(Statistic::kSum)), ElementsAre(7));
}

TEST_F(ClientTest, MergesThatMakeNoSenseAreInternalErrors) {
  const std::vector<std::string> accumulators = {"a"};
  EXPECT_TRUE(absl::IsInternal(client_->MergeAccumulators(accumulators).status()));
  Parse(R"(histogram { channels { counts: 2 } bins { bin_count: 2 } }
           element_type: ELEMENT_TYPE_INT8 histogram_description { format: HISTOGRAM_FORMAT_DENSE })",
        merge_response_);
  EXPECT_TRUE(absl::IsInternal(client_->MergeAccumulators(accumulators).status()));
}

}  // namespace
}  // namespace gridfold::client
