#include "server/streams/write_array_call.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"
#include "server/base/exception_guard.h"
#include "server/calls/rpc_deadline.h"
#include "server/calls/rpc_report.h"
#include "server/planning/array_request_validation.h"
#include "server/wire/message_codec.h"
#include "server/wire/rpc_status.h"

namespace gridfold::server {

WriteArrayCall::WriteArrayCall(CallEnvironment& environment, grpc::CallbackServerContext& context,
                               grpc::ByteBuffer& response)
    : environment_(environment),
      report_(NewReport(Rpc::kWriteArray, environment, context)),
      context_(context),
      response_(response),
      work_{.deadline = DeadlineOf(context), .rpc = Rpc::kWriteArray},
      jobs_(environment) {}

grpc::ServerReadReactor<grpc::ByteBuffer>* WriteArrayCall::Start() {
  const absl::Status status = CatchExceptions([this] {
    absl::StatusOr<Caller> caller = ReadCaller(context_, environment_.tokens, report_, work_);
    if (!caller.ok()) return caller.status();
    caller_ = *std::move(caller);
    return absl::OkStatus();
  });
  if (status.ok()) {
    ReadNext();
  } else {
    FinishWith(status);
  }
  return this;
}

void WriteArrayCall::OnDone() {
  environment_.idle_streams.Forget(*this);
  delete this;
}

// From here on the next message may come at any moment.
void WriteArrayCall::ReadNext() {
  waits_for_caller_ = true;
  environment_.idle_streams.Begin(*this);
  StartRead(&message_);
}

void WriteArrayCall::OnIdle() {
  if (waits_for_caller_.exchange(false)) FinishWith(environment_.idle_streams.Error());
}

void WriteArrayCall::OnReadDone(bool ok) {
  if (!waits_for_caller_.exchange(false)) return;
  environment_.idle_streams.End(*this);
  if (!ok) {
    FinishWith(context_.IsCancelled() ? CancelledByCaller()
                                      : CatchExceptions([this] { return Answer(); }));
    return;
  }
  const absl::Status status = CatchExceptions([this] { return TakeMessage(); });
  if (!status.ok()) FinishWith(status);
}

absl::Status WriteArrayCall::TakeMessage() {
  const uint64_t size_bytes = message_.Length();
  report_.request_bytes += size_bytes;
  caller_.Charge(size_bytes);
  const Limits& limits = environment_.limits;
  if (absl::Status size = CheckMessageSize(size_bytes, limits); !size.ok()) return size;
  if (size_bytes > limits.array_chunk_bytes_max() + kAnswerOverheadBytes) {
    return kernels::AboveLimit(
        "data", absl::StrCat("a message of ", size_bytes, " bytes has more than the ",
                             limits.array_chunk_bytes_max(), " of a chunk"));
  }
  work_.payload_bytes = size_bytes;
  absl::Status status = environment_.scheduler.CheckAdmission(work_);
  if (status.ok()) status = DecodeRequest(message_, limits, chunk_.emplace());
  if (status.ok()) status = TakeLease();
  if (status.ok() && chunk_->has_element_count()) {
    status = announced_.Announce(chunk_->element_count());
  }
  if (status.ok()) status = announced_.Add(chunk_->data().size(), element_bytes_);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<ArrayShard>> places = PlacesOfChunk(*chunk_, *lease_, limits);
  if (!places.ok()) return places.status();
  places_ = *std::move(places);
  written_places_ = 0;
  return SubmitChunk();
}

absl::Status WriteArrayCall::TakeLease() {
  if (has_begun_ == chunk_->has_header()) {
    return kernels::InvalidField("header", has_begun_ ? "only the first message of a stream has one"
                                                      : "the first message has none");
  }
  if (has_begun_) {
    lease_ = array_.lock();
    return lease_ == nullptr ? ArrayDeleted() : absl::OkStatus();
  }
  absl::StatusOr<ArrayLease> array = PlanWrite(
      chunk_->header(), TenantArrays(environment_.arrays, work_.tenant, 0, report_.audit));
  if (!array.ok()) return array.status();
  has_begun_ = true;
  array_ = *array;
  lease_ = *std::move(array);
  element_bytes_ = kernels::ElementSize(lease_->description().element_type);
  return absl::OkStatus();
}

// The part of the chunk that lies on the next device; all of it on most.
absl::Status WriteArrayCall::SubmitChunk() {
  const ArrayShard& place = places_[written_places_];
  JobWork work = work_;
  work.payload_bytes = place.span.size_bytes;
  work.engine = place.engine;
  work.run = [this, place](const JobContext& job_context) {
    report_.AddQueueTime(job_context.queue_time);
    const kernels::HostSpan data{reinterpret_cast<const std::byte*>(chunk_->data().data()) +
                                     place.first_element * element_bytes_,
                                 place.span.size_bytes};
    return job_context.lane.Copy(data, place.span, job_context.stop);
  };
  work.finish = [this](const absl::Status& status) { OnChunkWritten(status); };
  return jobs_.Submit(std::move(work), report_);
}

void WriteArrayCall::OnChunkWritten(const absl::Status& written) {
  absl::Status status = written;
  if (status.ok() && ++written_places_ < places_.size()) {
    status = CatchExceptions([this] { return SubmitChunk(); });
    if (status.ok()) return;
  }
  lease_->MarkUsed();
  lease_.reset();
  if (!status.ok()) {
    FinishWith(status);
    return;
  }
  written_bytes_ += chunk_->data().size();
  chunk_.reset();
  ReadNext();
}

absl::Status WriteArrayCall::Answer() {
  if (!has_begun_) return kernels::InvalidField("header", "the stream has no message");
  if (absl::Status status = announced_.CheckEnd(element_bytes_); !status.ok()) return status;
  v1::WriteArrayResponse response;
  response.set_written_bytes(written_bytes_);
  return EncodeResponse(response, response_);
}

void WriteArrayCall::FinishWith(const absl::Status& status) {
  // The caller may be slow to take the answer.
  lease_.reset();
  chunk_.reset();
  environment_.Report(report_, status, response_.Length());
  // From here on gRPC may delete this call at any moment.
  Finish(ToGrpcStatus(status));
}

}  // namespace gridfold::server
