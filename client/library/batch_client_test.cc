// Batches of a client: each operation reaches the wire, and each result the caller by itself.
#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "client/library/client_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/batch.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace gridfold::client
