// One call of ReadArray: each chunk is fetched by a lane when the transport has taken the one
// before it, so a stream holds one message at a time, and no lease in between: a caller who stops
// reading keeps no array. What all streams hold is bounded by CallEnvironment::read_chunks. Used by
// services/array_service.cc only.
//
// OnDone comes last and deletes the call.
#ifndef GRIDFOLD_SERVER_STREAMS_READ_ARRAY_CALL_H_
#define GRIDFOLD_SERVER_STREAMS_READ_ARRAY_CALL_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "kernels/contract/rearrangement.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_report.h"
#include "server/calls/tenant.h"
#include "server/planning/array_request_validation.h"
#include "server/scheduling/job.h"
#include "server/streams/stream_jobs.h"
#include "server/transport/send_watch.h"

namespace gridfold::server {

class ReadArrayCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ReadArrayCall(CallEnvironment& environment, grpc::CallbackServerContext& context,
                const grpc::ByteBuffer& request);

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Start();

  void OnWriteDone(bool ok) override;
  void OnCancel() override { jobs_.Cancel(); }
  void OnDone() override;

 private:
  absl::Status Begin();
  // Finds the chunk that is next.
  void PlaceChunk();
  absl::Status SubmitChunk();
  absl::Status CopyChunk(const JobContext& job_context, kernels::MutableHostSpan data);
  absl::Status FetchChunk(const JobContext& job_context);
  void OnChunkFetched(const absl::Status& status);
  void FinishWith(const absl::Status& status);

  CallEnvironment& environment_;
  CallReport report_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& request_;
  Caller caller_;
  JobWork work_;  // What the jobs of the stream have in common.
  StreamJobs jobs_;
  std::optional<PlannedRead> planned_;  // With a lease while a chunk is fetched.
  std::weak_ptr<const StoredArray> array_;
  uint64_t held_bytes_ = 0;  // Of CallEnvironment::read_chunks.
  grpc::ByteBuffer message_;
  uint64_t read_element_count_ = 0;              // Of the slice, so far.
  ArrayShard place_;                             // Of the chunk, which lies on one device.
  std::optional<kernels::Rearrangement> order_;  // Of its elements there, in a view.
  uint64_t response_bytes_ = 0;
  UnsentAnswer unsent_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_READ_ARRAY_CALL_H_
