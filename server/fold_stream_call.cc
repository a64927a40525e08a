#include "server/fold_stream_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/invalid_field.h"
#include "server/error_reason.h"
#include "server/exception_guard.h"
#include "server/message_codec.h"
#include "server/proto_conversion.h"
#include "server/rpc_deadline.h"
#include "server/rpc_status.h"
#include "server/stream_message.h"
#include "server/tenant.h"

namespace gridfold::server {

FoldStreamCall::FoldStreamCall(CallEnvironment& environment, Rpc rpc,
                               grpc::CallbackServerContext& context, grpc::ByteBuffer& response,
                               MakeFold make_fold, size_t array_count)
    : environment_(environment),
      context_(context),
      response_(response),
      make_fold_(make_fold),
      work_{.deadline = DeadlineOf(context), .rpc = rpc},
      jobs_(environment.scheduler),
      report_(rpc, environment.next_call_id++),
      intake_(environment, array_count) {}

grpc::ServerReadReactor<grpc::ByteBuffer>* FoldStreamCall::Start() {
  Proceed(CatchExceptions([this] {
    const absl::Status status = ReadCaller(context_, work_);
    return status.ok() ? intake_.Enter() : status;
  }));
  return this;
}

void FoldStreamCall::OnReadDone(bool ok) {
  absl::Status status;
  if (ok) {
    status = CatchExceptions([this] { return TakeMessage(); });
  } else if (context_.IsCancelled()) {
    status = CancelledByCaller();
  }
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    has_ended_ |= !ok;
  }
  Proceed(status);
}

void FoldStreamCall::OnCancel() {
  jobs_.Cancel();
  Proceed(CancelledByCaller());
}

absl::Status FoldStreamCall::TakeMessage() {
  if (absl::Status status = environment_.scheduler.CheckAdmission(work_); !status.ok()) {
    return status;
  }
  const uint64_t size_bytes = message_.Length();
  const absl::StatusOr<StreamMessage> message = intake_.Open(message_);
  if (!message.ok()) return message.status();
  if (message->header) {
    if (absl::Status status = TakeHeader(*message->header); !status.ok()) return status;
  }
  const std::lock_guard lock(mutex_);
  if (is_finished_) return absl::OkStatus();
  report_.request_bytes += size_bytes;
  for (size_t i = 0; i < message->arrays.size(); ++i) {
    if (message->arrays[i].empty()) continue;
    if (absl::Status status = fold_->CheckExpected(i); !status.ok()) return status;
  }
  intake_.Add(*message);
  return absl::OkStatus();
}

absl::Status FoldStreamCall::TakeHeader(const std::string& header) {
  absl::StatusOr<std::unique_ptr<StreamFold>> fold = make_fold_(header, environment_.limits);
  if (!fold.ok()) return fold.status();
  const std::lock_guard lock(mutex_);
  if (is_finished_) return absl::OkStatus();
  fold_ = *std::move(fold);
  report_.element_type = fold_->element_type();
  return intake_.HoldState(fold_->state_bytes());
}

// Whatever has happened, with or without an error: does what is to be done next. While a job runs
// the call stays, so a job is submitted last; after that, or after a read is started where no job
// runs, the call may be gone.
void FoldStreamCall::Proceed(const absl::Status& status) {
  Step step;
  {
    const std::lock_guard lock(mutex_);
    step = NextStep(status);
  }
  // The end of the job brings us back here. Only calls from gRPC meet one that runs, and no call is
  // deleted before they have returned.
  if (step.cancel) jobs_.Cancel();
  if (step.finish) {
    FinishWith(step.error);
    return;
  }
  if (step.read) StartRead(&message_);
  if (!step.run) return;
  const absl::Status submitted = CatchExceptions([this] { return SubmitBatch(); });
  if (!submitted.ok()) OnBatchDone(submitted);
}

FoldStreamCall::Step FoldStreamCall::NextStep(const absl::Status& status) {
  if (is_finished_) return {};
  if (error_.ok()) error_ = status;
  const bool run = error_.ok() && !running_ && ShouldRun();
  if (error_.ok() && !running_ && !run) error_ = CheckHeldBytes();
  if (!error_.ok()) {
    if (running_) return {.cancel = true};
    is_finished_ = true;
    ReleaseAll();
    return {.finish = true, .error = error_};
  }
  if (run) {
    intake_.BeginBatch();
    running_ = true;
    is_last_batch_ = has_ended_;
  }
  const bool read = ShouldRead();
  reading_ |= read;
  return {.read = read, .run = run};
}

bool FoldStreamCall::ShouldRun() const {
  if (has_ended_) return true;
  const StreamSizes sizes = intake_.sizes();
  if (fold_ == nullptr || !fold_->CanRun(sizes)) return false;
  return TotalBytes(sizes) >= std::min(fold_->batch_bytes_wanted(), kStreamPendingBytes) ||
         !environment_.streams.HasRoom();
}

bool FoldStreamCall::ShouldRead() const {
  if (reading_ || has_ended_) return false;
  return !running_ || intake_.HasRoom();
}

// Bytes of which nothing can be computed wait for others, which may never come.
absl::Status FoldStreamCall::CheckHeldBytes() const {
  const StreamSizes sizes = intake_.sizes();
  const uint64_t waiting_bytes = TotalBytes(sizes);
  const bool wait_for_more = fold_ == nullptr || fold_->CanRun(sizes);
  if (wait_for_more || waiting_bytes <= environment_.limits.message_bytes_max) {
    return absl::OkStatus();
  }
  return kernels::InvalidField(
      "data", absl::StrCat(waiting_bytes, " bytes wait for those of other arrays, where ",
                           environment_.limits.message_bytes_max, " may"));
}

absl::Status FoldStreamCall::SubmitBatch() {
  JobWork work = work_;
  work.payload_bytes = intake_.batch_bytes();
  work.run = [this](const JobContext& job_context) { return RunBatch(job_context); };
  work.finish = [this](const absl::Status& status) { OnBatchDone(status); };
  return jobs_.Submit(std::move(work));
}

absl::Status FoldStreamCall::RunBatch(const JobContext& job_context) {
  report_.AddQueueTime(job_context.queue_time);
  if (fold_ == nullptr) return kernels::InvalidField("request", "the stream has no message");
  absl::Status status =
      fold_->Run(intake_.batch(), job_context.lane, job_context.stop, report_.run);
  if (!status.ok() || !is_last_batch_) return status;
  return Answer(job_context);
}

absl::Status FoldStreamCall::Answer(const JobContext& job_context) {
  absl::StatusOr<StreamAnswer> answer = fold_->Finish(intake_.batch(), job_context.stop);
  if (!answer.ok()) return answer.status();
  FillExecution(report_, environment_.engine_name, *answer->execution);
  return EncodeResponse(*answer->message, response_);
}

void FoldStreamCall::OnBatchDone(const absl::Status& status) {
  bool is_answered = false;
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
    is_answered = is_last_batch_ && status.ok() && error_.ok();
    if (is_answered) {
      is_finished_ = true;
      ReleaseAll();
    } else {
      intake_.EndBatch();
    }
  }
  if (is_answered) {
    FinishWith(status);
  } else {
    Proceed(status);
  }
}

// The caller may be slow to take the answer.
void FoldStreamCall::ReleaseAll() {
  fold_.reset();
  intake_.ReleaseAll();
}

void FoldStreamCall::FinishWith(const absl::Status& status) {
  environment_.Report(report_, status, response_.Length());
  // From here on gRPC may delete this call at any moment.
  Finish(ToGrpcStatus(status));
}

}  // namespace gridfold::server
