#include "server/streams/scan_stream_call.h"

#include <algorithm>
#include <utility>

#include "server/base/error_reason.h"
#include "server/calls/execution.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {

absl::StatusOr<std::unique_ptr<StreamScan>> ScanStreamCall::MakeComputation(
    const std::string& header) const {
  return StreamScan::Make(header, environment_.limits);
}

absl::StatusOr<bool> ScanStreamCall::HasBatch() const {
  if (computation_->CanRun(intake_.sizes())) return true;
  absl::Status status = CheckWaiting("data");
  if (!status.ok()) return status;
  return false;
}

bool ScanStreamCall::TakesWholeBatch() const {
  return computation_->TakesAll(SizesOf(intake_.batch()));
}

absl::Status ScanStreamCall::RunBatch(const JobContext& job_context) {
  v1::ScanStreamResponse fields;
  absl::StatusOr<ChunkData> results = computation_->Run(
      intake_.batch(), is_last_batch_, job_context.lane, job_context.stop, report_.run, fields);
  if (!results.ok()) return results.status();
  if (is_last_batch_) {
    FillExecution(report_, environment_.engine_name, *fields.mutable_execution());
  }
  computed_ = EncodeChunk(fields, v1::ScanStreamResponse::kDataFieldNumber, *std::move(results));
  return absl::OkStatus();
}

uint64_t ScanStreamCall::AnswerBytesMax() const {
  return computation_->ResultBytesMax(SizesOf(intake_.batch())) + kAnswerOverheadBytes;
}

void ScanStreamCall::SendResults() {
  bool write = false;
  {
    const std::lock_guard lock(mutex_);
    ready_.emplace().Swap(&computed_);
    write = !writing_ && BeginWrite();
  }
  if (write) Write();
}

void ScanStreamCall::OnWriteDone(bool ok) {
  results_.Clear();
  EndSend();
  bool write = false;
  {
    const std::lock_guard lock(mutex_);
    if (!ok) ready_.reset();
    write = BeginWrite();
  }
  if (write) Write();
  Proceed(ok ? absl::OkStatus() : CancelledByCaller());
}

void ScanStreamCall::Write() {
  BeginSend(results_.Length());
  StartWrite(&results_);
}

// What waits is not sent any more after an error.
bool ScanStreamCall::BeginWrite() {
  writing_ = ready_.has_value() && error_.ok();
  if (writing_) {
    results_.Swap(&*ready_);
    response_bytes_ += results_.Length();
  }
  ready_.reset();
  return writing_;
}

}  // namespace gridfold::server
