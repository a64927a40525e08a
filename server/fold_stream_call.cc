#include "server/fold_stream_call.h"

#include <algorithm>
#include <numeric>
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

namespace {

absl::Status Refused(absl::string_view why) {
  return WithRetryDelay(WithReason(absl::ResourceExhaustedError(why), kReasonQueueFull),
                        kRetryDelay);
}

uint64_t Total(const StreamSizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
}

}  // namespace

FoldStreamCall::FoldStreamCall(CallEnvironment& environment, Rpc rpc,
                               grpc::CallbackServerContext& context, grpc::ByteBuffer& response,
                               MakeFold make_fold, size_t array_count)
    : environment_(environment),
      context_(context),
      response_(response),
      make_fold_(make_fold),
      array_count_(array_count),
      deadline_(DeadlineOf(context)),
      jobs_(environment.scheduler),
      report_(rpc, environment.next_call_id++) {}

grpc::ServerReadReactor<grpc::ByteBuffer>* FoldStreamCall::Start() {
  const absl::Status status = CatchExceptions([this]() -> absl::Status {
    if (absl::StatusOr<std::string> tenant = TenantOf(context_); !tenant.ok()) {
      return tenant.status();
    }
    is_admitted_ = environment_.streams.Enter();
    return is_admitted_ ? absl::OkStatus()
                        : Refused(absl::StrCat(environment_.limits.stream_count_max,
                                               " streams are open already"));
  });
  Proceed(status);
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

void FoldStreamCall::OnDone() {
  if (is_admitted_) environment_.streams.Leave();
  delete this;
}

absl::Status FoldStreamCall::TakeMessage() {
  if (absl::Status status = environment_.scheduler.CheckAdmission(0, deadline_); !status.ok()) {
    return status;
  }
  const uint64_t size_bytes = message_.Length();
  absl::StatusOr<StreamMessage> message = SplitMessage(message_, array_count_);
  message_.Clear();
  if (!message.ok()) return message.status();
  {
    const std::lock_guard lock(mutex_);
    if (is_finished_) return absl::OkStatus();
    report_.request_bytes += size_bytes;
  }
  if (absl::Status status = TakeHeader(*message); !status.ok()) return status;
  return Hold(*message);
}

absl::Status FoldStreamCall::TakeHeader(const StreamMessage& message) {
  if (has_begun_ == message.header.has_value()) {
    return kernels::InvalidField("request", has_begun_
                                                ? "only the first message of a stream has one"
                                                : "the first message has none");
  }
  if (has_begun_) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<StreamFold>> fold =
      make_fold_(*message.header, environment_.limits);
  if (!fold.ok()) return fold.status();
  const uint64_t state_bytes = (*fold)->state_bytes();
  if (!environment_.streams.HasRoomFor(state_bytes)) {
    return Refused(absl::StrCat("other streams leave no room for the ", state_bytes,
                                " bytes that this one would hold"));
  }
  has_begun_ = true;
  const std::lock_guard lock(mutex_);
  if (is_finished_) return absl::OkStatus();
  fold_ = *std::move(fold);
  report_.element_type = fold_->element_type();
  state_bytes_ = state_bytes;
  held_bytes_ += state_bytes;
  environment_.streams.Hold(state_bytes);
  return absl::OkStatus();
}

absl::Status FoldStreamCall::Hold(StreamMessage& message) {
  const std::lock_guard lock(mutex_);
  if (is_finished_) return absl::OkStatus();
  for (size_t i = 0; i < array_count_; ++i) {
    const uint64_t before_bytes = pending_[i].size_bytes();
    for (const grpc::Slice& piece : message.arrays[i]) pending_[i].Append(piece);
    const uint64_t added_bytes = pending_[i].size_bytes() - before_bytes;
    if (added_bytes == 0) continue;
    if (absl::Status status = fold_->CheckExpected(i); !status.ok()) return status;
    held_bytes_ += added_bytes;
    environment_.streams.Hold(added_bytes);
  }
  return absl::OkStatus();
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
    for (size_t i = 0; i < array_count_; ++i) arrays_[i].Append(pending_[i]);
    running_ = true;
    is_last_batch_ = has_ended_;
  }
  const bool read = ShouldRead();
  reading_ |= read;
  return {.read = read, .run = run};
}

bool FoldStreamCall::ShouldRun() const {
  if (has_ended_) return true;
  const StreamSizes sizes = SizesOfAll();
  if (fold_ == nullptr || !fold_->CanRun(sizes)) return false;
  return Total(sizes) >= std::min(fold_->batch_bytes_wanted(), kStreamPendingBytes) ||
         !environment_.streams.HasRoom();
}

bool FoldStreamCall::ShouldRead() const {
  if (reading_ || has_ended_) return false;
  if (!running_) return true;
  StreamSizes pending;
  for (size_t i = 0; i < pending.size(); ++i) pending[i] = pending_[i].size_bytes();
  return Total(pending) < kStreamPendingBytes && environment_.streams.HasRoom();
}

// Bytes of which nothing can be computed wait for others, which may never come.
absl::Status FoldStreamCall::CheckHeldBytes() const {
  const StreamSizes sizes = SizesOfAll();
  const uint64_t waiting_bytes = Total(sizes);
  const bool wait_for_more = fold_ == nullptr || fold_->CanRun(sizes);
  if (wait_for_more || waiting_bytes <= environment_.limits.message_bytes_max) {
    return absl::OkStatus();
  }
  return kernels::InvalidField(
      "data", absl::StrCat(waiting_bytes, " bytes wait for those of other arrays, where ",
                           environment_.limits.message_bytes_max, " may"));
}

StreamSizes FoldStreamCall::SizesOfAll() const {
  StreamSizes sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = arrays_[i].size_bytes() + pending_[i].size_bytes();
  }
  return sizes;
}

absl::Status FoldStreamCall::SubmitBatch() {
  uint64_t payload_bytes = 0;
  for (const PieceQueue& array : arrays_) payload_bytes += array.size_bytes();
  return jobs_.Submit({
      .payload_bytes = payload_bytes,
      .deadline = deadline_,
      .run = [this](const JobContext& job_context) { return RunBatch(job_context); },
      .finish = [this](const absl::Status& status) { OnBatchDone(status); },
  });
}

absl::Status FoldStreamCall::RunBatch(const JobContext& job_context) {
  report_.AddQueueTime(job_context.queue_time);
  if (fold_ == nullptr) return kernels::InvalidField("request", "the stream has no message");
  absl::Status status = fold_->Run(arrays_, job_context.lane, job_context.stop, report_.run);
  if (!status.ok() || !is_last_batch_) return status;
  return Answer(job_context);
}

absl::Status FoldStreamCall::Answer(const JobContext& job_context) {
  absl::StatusOr<StreamAnswer> answer = fold_->Finish(arrays_, job_context.stop);
  if (!answer.ok()) return answer.status();
  v1::ExecutionStatistics& execution = *answer->execution;
  FillExecution(report_.run, execution);
  execution.set_engine(environment_.engine_name);
  *execution.mutable_queue_time() = ToWire(*report_.queue_time);
  *execution.mutable_total_time() = ToWire(report_.Elapsed());
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
      const uint64_t left_bytes = state_bytes_ + Total(SizesOfAll());
      environment_.streams.Release(held_bytes_ - left_bytes);
      held_bytes_ = left_bytes;
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
  arrays_ = {};
  pending_ = {};
  environment_.streams.Release(std::exchange(held_bytes_, 0));
}

void FoldStreamCall::FinishWith(const absl::Status& status) {
  environment_.Report(report_, status, response_.Length());
  // From here on gRPC may delete this call at any moment.
  Finish(ToGrpcStatus(status));
}

}  // namespace gridfold::server
