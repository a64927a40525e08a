#include "server/streams/fold_stream_call.h"

#include <algorithm>

#include "server/calls/execution.h"
#include "server/wire/message_codec.h"
#include "server/wire/stream_message.h"

namespace gridfold::server {

FoldStreamCall::FoldStreamCall(CallEnvironment& environment, Rpc rpc,
                               grpc::CallbackServerContext& context, grpc::ByteBuffer& response,
                               MakeFold make_fold, size_t array_count)
    : StreamCall(environment, rpc, context, array_count),
      response_(response),
      make_fold_(make_fold) {}

absl::StatusOr<std::unique_ptr<StreamFold>> FoldStreamCall::MakeComputation(
    const std::string& header) const {
  return make_fold_(header, {environment_.limits, arrays()});
}

absl::StatusOr<bool> FoldStreamCall::HasBatch() const {
  const StreamSizes sizes = intake_.sizes();
  const uint64_t waiting_bytes = TotalBytes(sizes);
  if (computation_->CanRun(sizes)) {
    return waiting_bytes >= std::min(computation_->batch_bytes_wanted(), kStreamPendingBytes) ||
           !intake_.TenantHasRoom();
  }
  absl::Status status = CheckWaiting(computation_->counted_field());
  if (!status.ok()) return status;
  return false;
}

absl::Status FoldStreamCall::RunBatch(const JobContext& job_context) {
  absl::Status status;
  do {
    status = computation_->Run(intake_.batch(), job_context, report_.run);
    const std::lock_guard lock(mutex_);
    if (status.ok()) status = intake_.HoldState(computation_->state_bytes());
  } while (status.ok() && computation_->HasMoreToRun());
  if (!status.ok() || !is_last_batch_) return status;
  return Answer(job_context);
}

// The answer is made of the last batch only.
uint64_t FoldStreamCall::AnswerBytesMax() const {
  if (!is_last_batch_ || computation_ == nullptr) return 0;
  return std::min(computation_->AnswerBytesMax(report_.request_bytes),
                  environment_.limits.message_bytes_max) +
         kAnswerOverheadBytes;
}

absl::Status FoldStreamCall::Answer(const JobContext& job_context) {
  absl::StatusOr<StreamAnswer> answer = computation_->Finish(intake_.batch(), job_context.stop);
  if (!answer.ok()) return answer.status();
  FillExecution(report_, environment_.engine_name, *answer->execution);
  absl::Status status = EncodeResponse(*answer->message, response_);
  response_bytes_ = response_.Length();
  return status;
}

}  // namespace gridfold::server
