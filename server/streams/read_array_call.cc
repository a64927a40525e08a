#include "server/streams/read_array_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gridfold/v1/array_service.pb.h"
#include "kernels/types/element_type.h"
#include "server/base/error_reason.h"
#include "server/base/exception_guard.h"
#include "server/calls/rpc_deadline.h"
#include "server/calls/rpc_report.h"
#include "server/wire/description_conversion.h"
#include "server/wire/message_codec.h"
#include "server/wire/rpc_status.h"

namespace gridfold::server {

ReadArrayCall::ReadArrayCall(CallEnvironment& environment, grpc::CallbackServerContext& context,
                             const grpc::ByteBuffer& request)
    : environment_(environment),
      report_(NewReport(Rpc::kReadArray, environment, context)),
      context_(context),
      // The buffer belongs to this call, which releases it as soon as it is decoded.
      request_(const_cast<grpc::ByteBuffer&>(request)),
      work_{.deadline = DeadlineOf(context), .rpc = Rpc::kReadArray},
      jobs_(environment),
      unsent_(environment.sends, context) {}

grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadArrayCall::Start() {
  const absl::Status status = CatchExceptions([this] { return Begin(); });
  if (!status.ok()) FinishWith(status);
  return this;
}

absl::Status ReadArrayCall::Begin() {
  report_.request_bytes = request_.Length();
  absl::StatusOr<Caller> caller = ReadCaller(context_, environment_.tokens, report_, work_);
  if (!caller.ok()) return caller.status();
  caller_ = *std::move(caller);
  caller_.Charge(report_.request_bytes);
  v1::ReadArrayRequest request;
  absl::Status status = DecodeRequest(request_, environment_.limits, request);
  if (!status.ok()) return status;
  absl::StatusOr<PlannedRead> planned = PlanRequest(
      request, PlanningContext{environment_.limits,
                               TenantArrays(environment_.arrays, work_.tenant, 0, report_.audit)});
  if (!planned.ok()) return planned.status();
  planned_ = *std::move(planned);
  const ResidentSlice& slice = planned_->slice;
  array_ = slice.lease;
  const uint64_t chunk_bytes =
      planned_->chunk_element_count * kernels::ElementSize(slice.description.element_type);
  const uint64_t wanted_bytes = std::min(chunk_bytes, slice.description.size_bytes());
  if (const auto refusal = environment_.read_chunks.Take(caller_.tenant, wanted_bytes)) {
    return QueueFull(*refusal == RoomRefusal::kFull
                         ? "too many chunks are on their way to readers"
                         : "what is left of the room for chunks on their way is for other "
                           "tenants; this one has its share",
                     kRetryDelay);
  }
  held_bytes_ = wanted_bytes;
  work_.resident_bytes = wanted_bytes;
  return SubmitChunk();
}

void ReadArrayCall::OnDone() {
  environment_.read_chunks.GiveBack(caller_.tenant, held_bytes_);
  delete this;
}

void ReadArrayCall::PlaceChunk() {
  const ResidentSlice& slice = planned_->slice;
  const uint64_t count = std::min(planned_->chunk_element_count,
                                  slice.description.element_count() - read_element_count_);
  if (!slice.view) {
    place_ = CutShards(slice.shards, read_element_count_, count).front();
    return;
  }
  const kernels::StridedView box = kernels::BoxOf(*slice.view, read_element_count_, count);
  const kernels::ElementRange range = kernels::RangeOf(box);
  place_ = CutShards(slice.shards, range.first, range.count).front();
  order_ = kernels::PlanRearrangement(box);
}

absl::Status ReadArrayCall::SubmitChunk() {
  JobWork work = work_;  // Without payload: the chunk takes memory when a lane fetches it.
  PlaceChunk();
  work.engine = place_.engine;
  work.run = [this](const JobContext& job_context) { return FetchChunk(job_context); };
  work.finish = [this](const absl::Status& status) { OnChunkFetched(status); };
  return jobs_.Submit(std::move(work), report_);
}

absl::Status ReadArrayCall::CopyChunk(const JobContext& job_context,
                                      kernels::MutableHostSpan data) {
  const kernels::ResidentSpan from(place_.span);
  if (!order_) return job_context.lane.Copy(from, data, job_context.stop);
  kernels::RunStatistics run;
  return job_context.lane.Rearrange(*order_,
                                    kernels::ElementSize(planned_->slice.description.element_type),
                                    from, data, job_context.stop, run);
}

absl::Status ReadArrayCall::FetchChunk(const JobContext& job_context) {
  report_.AddQueueTime(job_context.queue_time);
  const ResidentSlice& slice = planned_->slice;
  const uint64_t element_count = order_ ? order_->element_count() : place_.element_count;
  ChunkData data(element_count * kernels::ElementSize(slice.description.element_type));
  absl::Status status = CopyChunk(job_context, {data.data(), data.size_bytes()});
  if (!status.ok()) return status;
  v1::ReadArrayResponse fields;
  if (read_element_count_ == 0) *fields.mutable_array() = ToWire(slice.array);
  // A view's elements have their place in the view.
  fields.set_first_element((order_ ? 0 : slice.first_element) + read_element_count_);
  message_ = EncodeChunk(fields, v1::ReadArrayResponse::kDataFieldNumber, std::move(data));
  read_element_count_ += element_count;
  return absl::OkStatus();
}

void ReadArrayCall::OnChunkFetched(const absl::Status& status) {
  planned_->slice.lease->MarkUsed();
  planned_->slice.lease.reset();
  if (!status.ok()) {
    FinishWith(status);
    return;
  }
  response_bytes_ += message_.Length();
  unsent_.Begin(message_.Length());
  // From here on the transport may ask for the next chunk at any moment.
  StartWrite(&message_);
}

void ReadArrayCall::OnWriteDone(bool ok) {
  message_.Clear();
  unsent_.End();
  if (!ok) {
    FinishWith(CancelledByCaller());
    return;
  }
  if (read_element_count_ == planned_->slice.description.element_count()) {
    FinishWith(absl::OkStatus());
    return;
  }
  planned_->slice.lease = array_.lock();
  const absl::Status status = CatchExceptions(
      [this] { return planned_->slice.lease == nullptr ? ArrayDeleted() : SubmitChunk(); });
  if (!status.ok()) FinishWith(status);
}

void ReadArrayCall::FinishWith(const absl::Status& status) {
  // The caller may be slow to take the answer.
  planned_.reset();
  environment_.Report(report_, status, response_bytes_);
  unsent_.Begin(0);
  // From here on gRPC may delete this call at any moment.
  Finish(ToGrpcStatus(status));
}

}  // namespace gridfold::server
