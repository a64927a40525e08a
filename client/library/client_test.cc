// What holds for the calls of a client alike: strategies reach the wire, and answers that make no
// sense are errors.
#include "gridfold/client.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "client/library/client_test_fixture.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

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

}  // namespace
}  // namespace gridfold::client
