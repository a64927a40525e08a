// Histograms of a client: every option reaches the wire, and every field of an answer the caller.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace gridfold::client
