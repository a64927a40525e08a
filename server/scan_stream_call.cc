#include "server/scan_stream_call.h"

#include <utility>

#include "absl/status/statusor.h"
#include "kernels/invalid_field.h"
#include "server/error_reason.h"
#include "server/exception_guard.h"
#include "server/message_codec.h"
#include "server/proto_conversion.h"
#include "server/rpc_deadline.h"
#include "server/rpc_status.h"
#include "server/tenant.h"

namespace gridfold::server {

ScanStreamCall::ScanStreamCall(CallEnvironment& environment, grpc::CallbackServerContext& context)
    : environment_(environment),
      context_(context),
      work_{.deadline = DeadlineOf(context), .rpc = Rpc::kScanStream},
      jobs_(environment.scheduler),
      report_(Rpc::kScanStream, environment.next_call_id++),
      intake_(environment, 1) {}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ScanStreamCall::Start() {
  Proceed(CatchExceptions([this] {
    const absl::Status status = ReadCaller(context_, work_);
    return status.ok() ? intake_.Enter() : status;
  }));
  return this;
}

void ScanStreamCall::OnReadDone(bool ok) {
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

void ScanStreamCall::OnWriteDone(bool ok) {
  results_.Clear();
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
  Proceed(ok ? absl::OkStatus() : CancelledByCaller());
}

void ScanStreamCall::OnCancel() {
  jobs_.Cancel();
  Proceed(CancelledByCaller());
}

absl::Status ScanStreamCall::TakeMessage() {
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
  intake_.Add(*message);
  return absl::OkStatus();
}

absl::Status ScanStreamCall::TakeHeader(const std::string& header) {
  absl::StatusOr<std::unique_ptr<StreamScan>> scan = StreamScan::Make(header, environment_.limits);
  if (!scan.ok()) return scan.status();
  const std::lock_guard lock(mutex_);
  if (is_finished_) return absl::OkStatus();
  scan_ = *std::move(scan);
  report_.element_type = scan_->element_type();
  // Results that are sent, and those that wait.
  return intake_.HoldState(2 * scan_->result_bytes_max());
}

// As FoldStreamCall::Proceed; a call is not finished while it writes either.
void ScanStreamCall::Proceed(const absl::Status& status) {
  Step step;
  {
    const std::lock_guard lock(mutex_);
    step = NextStep(status);
  }
  if (step.cancel) jobs_.Cancel();
  if (step.finish) {
    FinishWith(step.status);
    return;
  }
  if (step.read) StartRead(&message_);
  if (step.write) StartWrite(&results_);
  if (!step.run) return;
  const absl::Status submitted = CatchExceptions([this] { return SubmitBatch(); });
  if (!submitted.ok()) OnBatchDone(submitted);
}

ScanStreamCall::Step ScanStreamCall::NextStep(const absl::Status& status) {
  if (is_finished_) return {};
  if (error_.ok()) error_ = status;
  const bool is_complete = is_last_batch_ && !running_ && !ready_ && !writing_;
  if (!error_.ok() || is_complete) {
    if (running_) return {.cancel = true};
    if (writing_) return {};
    is_finished_ = true;
    ready_.reset();
    scan_.reset();
    intake_.ReleaseAll();
    return {.finish = true, .status = error_};
  }
  const bool write = ready_ && !writing_;
  if (write) BeginWrite();
  const bool run = ShouldRun();
  if (run) {
    intake_.BeginBatch();
    running_ = true;
    const uint64_t batch_bytes_max = scan_ == nullptr ? 0 : scan_->batch_bytes_max();
    is_last_batch_ = has_ended_ && intake_.batch_bytes() <= batch_bytes_max;
  }
  const bool read = ShouldRead();
  reading_ |= read;
  return {.read = read, .write = write, .run = run};
}

// One batch of results may wait while another is sent.
bool ScanStreamCall::ShouldRun() const {
  if (running_ || ready_ || is_last_batch_) return false;
  if (has_ended_) return true;
  return scan_ != nullptr && TotalBytes(intake_.sizes()) >= scan_->batch_bytes_min();
}

// What is too little for a batch must become more, whatever else happens.
bool ScanStreamCall::ShouldRead() const {
  if (reading_ || has_ended_) return false;
  if (intake_.HasRoom()) return true;
  return !running_ && (scan_ == nullptr || TotalBytes(intake_.sizes()) < scan_->batch_bytes_min());
}

void ScanStreamCall::BeginWrite() {
  results_.Swap(&*ready_);
  ready_.reset();
  response_bytes_ += results_.Length();
  writing_ = true;
}

absl::Status ScanStreamCall::SubmitBatch() {
  JobWork work = work_;
  work.payload_bytes = intake_.batch_bytes();
  work.run = [this](const JobContext& job_context) { return RunBatch(job_context); };
  work.finish = [this](const absl::Status& status) { OnBatchDone(status); };
  return jobs_.Submit(std::move(work));
}

absl::Status ScanStreamCall::RunBatch(const JobContext& job_context) {
  report_.AddQueueTime(job_context.queue_time);
  if (scan_ == nullptr) return kernels::InvalidField("request", "the stream has no message");
  v1::ScanStreamResponse fields;
  absl::StatusOr<ChunkData> results = scan_->Run(
      intake_.batch()[0], is_last_batch_, job_context.lane, job_context.stop, report_.run, fields);
  if (!results.ok()) return results.status();
  if (is_last_batch_) {
    FillExecution(report_, environment_.engine_name, *fields.mutable_execution());
  }
  computed_ = EncodeChunk(fields, v1::ScanStreamResponse::kDataFieldNumber, *std::move(results));
  return absl::OkStatus();
}

void ScanStreamCall::OnBatchDone(const absl::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
    intake_.EndBatch();
    if (status.ok()) ready_.emplace().Swap(&computed_);
  }
  Proceed(status);
}

void ScanStreamCall::FinishWith(const absl::Status& status) {
  environment_.Report(report_, status, response_bytes_);
  // From here on gRPC may delete this call at any moment.
  Finish(ToGrpcStatus(status));
}

}  // namespace gridfold::server
