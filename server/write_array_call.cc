#include "server/write_array_call.h"

#include <utility>

#include "absl/status/statusor.h"
#include "kernels/invalid_field.h"
#include "server/array_request_validation.h"
#include "server/exception_guard.h"
#include "server/message_codec.h"
#include "server/rpc_deadline.h"
#include "server/rpc_status.h"
#include "server/tenant.h"

namespace gridfold::server {

WriteArrayCall::WriteArrayCall(CallEnvironment& environment, grpc::CallbackServerContext& context,
                               grpc::ByteBuffer& response)
    : environment_(environment),
      report_("WriteArray", environment.next_call_id++),
      context_(context),
      response_(response),
      deadline_(DeadlineOf(context)),
      jobs_(environment.scheduler) {}

grpc::ServerReadReactor<grpc::ByteBuffer>* WriteArrayCall::Start() {
  const absl::Status status = CatchExceptions([this] {
    absl::StatusOr<std::string> tenant = TenantOf(context_);
    if (tenant.ok()) tenant_ = *std::move(tenant);
    return tenant.status();
  });
  if (status.ok()) {
    StartRead(&message_);
  } else {
    FinishWith(status);
  }
  return this;
}

void WriteArrayCall::OnReadDone(bool ok) {
  if (!ok) {
    FinishWith(context_.IsCancelled() ? absl::CancelledError("the caller cancelled the request")
                                      : CatchExceptions([this] { return Answer(); }));
    return;
  }
  const absl::Status status = CatchExceptions([this] { return TakeMessage(); });
  if (!status.ok()) FinishWith(status);
}

absl::Status WriteArrayCall::TakeMessage() {
  const uint64_t size_bytes = message_.Length();
  report_.request_bytes += size_bytes;
  absl::Status status = environment_.scheduler.CheckAdmission(size_bytes, deadline_);
  if (status.ok()) status = DecodeRequest(message_, environment_.limits, chunk_);
  if (status.ok()) status = CheckHeader();
  if (!status.ok()) return status;
  const absl::StatusOr<kernels::MutableResidentSpan> place =
      PlaceOfChunk(chunk_, *array_, environment_.limits);
  if (!place.ok()) return place.status();
  return SubmitChunk(*place);
}

absl::Status WriteArrayCall::CheckHeader() {
  const bool is_first = array_ == nullptr;
  if (is_first != chunk_.has_header()) {
    return kernels::InvalidField("header", is_first ? "the first message has none"
                                                    : "only the first message of a stream has one");
  }
  if (!is_first) return absl::OkStatus();
  absl::StatusOr<ArrayLease> array =
      PlanWrite(chunk_.header(), TenantArrays(environment_.arrays, tenant_));
  if (array.ok()) array_ = *std::move(array);
  return array.status();
}

absl::Status WriteArrayCall::SubmitChunk(kernels::MutableResidentSpan place) {
  return jobs_.Submit({
      .payload_bytes = place.size_bytes,
      .deadline = deadline_,
      .run =
          [this, place](const JobContext& job_context) {
            report_.queue_time += job_context.queue_time;
            const kernels::HostSpan data{reinterpret_cast<const std::byte*>(chunk_.data().data()),
                                         chunk_.data().size()};
            return job_context.lane.Copy(data, place, job_context.stop);
          },
      .finish = [this](const absl::Status& status) { OnChunkWritten(status); },
  });
}

void WriteArrayCall::OnChunkWritten(const absl::Status& status) {
  if (!status.ok()) {
    FinishWith(status);
    return;
  }
  written_bytes_ += chunk_.data().size();
  array_->MarkUsed();
  chunk_.Clear();
  // From here on the next message may come at any moment.
  StartRead(&message_);
}

absl::Status WriteArrayCall::Answer() {
  if (array_ == nullptr) return kernels::InvalidField("header", "the stream has no message");
  v1::WriteArrayResponse response;
  response.set_written_bytes(written_bytes_);
  return EncodeResponse(response, response_);
}

void WriteArrayCall::FinishWith(const absl::Status& status) {
  report_.Log(status, response_.Length());
  // From here on gRPC may delete this call at any moment.
  Finish(ToGrpcStatus(status));
}

}  // namespace gridfold::server
