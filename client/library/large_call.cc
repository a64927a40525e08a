#include "client/library/large_call.h"

namespace gridfold::client {

ExecutionStatistics SumOf(const std::vector<ExecutionStatistics>& parts) {
  ExecutionStatistics sum = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    sum.bytes_read += parts[i].bytes_read;
    sum.queue_time += parts[i].queue_time;
    sum.stage_in_time += parts[i].stage_in_time;
    sum.kernel_time += parts[i].kernel_time;
    sum.stage_out_time += parts[i].stage_out_time;
    sum.total_time += parts[i].total_time;
  }
  return sum;
}

bool IsJudgement(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnimplemented: return true;
    case absl::StatusCode::kResourceExhausted: return !IsRefusedForNow(status);
    default: return false;
  }
}

}  // namespace gridfold::client
