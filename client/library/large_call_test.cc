// What parts of a call are together, and which of their errors are judgements of the whole.
#include "client/library/large_call.h"

#include <vector>

#include "gridfold/v1/error_details.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

// Each figure has a digit of its own.
ExecutionStatistics PartOf(int factor) {
  return {.engine = "cuda",
          .strategy = "reduce/long/blocks",
          .cluster_size = 8,
          .bytes_read = static_cast<uint64_t>(factor),
          .queue_time = absl::Nanoseconds(10 * factor),
          .stage_in_time = absl::Nanoseconds(100 * factor),
          .kernel_time = absl::Nanoseconds(1'000 * factor),
          .stage_out_time = absl::Nanoseconds(10'000 * factor),
          .total_time = absl::Nanoseconds(100'000 * factor),
          .device_count = 2};
}

void ExpectFigures(const ExecutionStatistics& sum, int factor) {
  EXPECT_EQ(sum.bytes_read, static_cast<uint64_t>(factor));
  EXPECT_EQ(sum.queue_time, absl::Nanoseconds(10 * factor));
  EXPECT_EQ(sum.stage_in_time, absl::Nanoseconds(100 * factor));
  EXPECT_EQ(sum.kernel_time, absl::Nanoseconds(1'000 * factor));
  EXPECT_EQ(sum.stage_out_time, absl::Nanoseconds(10'000 * factor));
  EXPECT_EQ(sum.total_time, absl::Nanoseconds(100'000 * factor));
}

TEST(LargeCallTest, PartsAddUpAndTheFirstSaysHow) {
  ExpectFigures(SumOf({PartOf(3)}), 3);
  ExecutionStatistics other = PartOf(4);
  other.engine = "cpu";
  other.strategy = "reduce/short";
  other.cluster_size = 1;
  other.device_count = 1;
  const ExecutionStatistics sum = SumOf({PartOf(1), other, PartOf(2)});
  ExpectFigures(sum, 7);
  EXPECT_EQ(sum.engine, "cuda");
  EXPECT_EQ(sum.strategy, "reduce/long/blocks");
  EXPECT_EQ(sum.cluster_size, 8u);
  EXPECT_EQ(sum.device_count, 2u);
}

TEST(LargeCallTest, JudgementsAreErrorsOfWhatWasAsked) {
  const struct {
    absl::StatusCode code;
    bool is_judgement;
  } codes[] = {{absl::StatusCode::kOk, false},
               {absl::StatusCode::kCancelled, false},
               {absl::StatusCode::kUnknown, false},
               {absl::StatusCode::kInvalidArgument, true},
               {absl::StatusCode::kDeadlineExceeded, false},
               {absl::StatusCode::kNotFound, false},
               {absl::StatusCode::kAlreadyExists, false},
               {absl::StatusCode::kPermissionDenied, false},
               {absl::StatusCode::kResourceExhausted, true},
               {absl::StatusCode::kFailedPrecondition, true},
               {absl::StatusCode::kAborted, false},
               {absl::StatusCode::kOutOfRange, true},
               {absl::StatusCode::kUnimplemented, true},
               {absl::StatusCode::kInternal, false},
               {absl::StatusCode::kUnavailable, false},
               {absl::StatusCode::kDataLoss, false},
               {absl::StatusCode::kUnauthenticated, false}};
  for (const auto& [code, is_judgement] : codes) {
    EXPECT_EQ(IsJudgement(absl::Status(code, "no")), is_judgement)
        << absl::StatusCodeToString(code);
  }
  // What is refused for now may be answered later.
  absl::Status refused = absl::ResourceExhaustedError("full");
  v1::RetryInfo delay;
  delay.mutable_retry_delay()->set_nanos(1'000'000);
  refused.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                     absl::Cord(delay.SerializeAsString()));
  EXPECT_FALSE(IsJudgement(refused));
}

}  // namespace
}  // namespace gridfold::client
