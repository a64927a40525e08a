// One call of WriteArray: each chunk is copied by a lane before the next message is asked for, so a
// stream holds one message at a time, and none and no lease in between: a caller who stops sending
// keeps no memory. Used by services/array_service.cc only.
//
// Messages are decoded and checked in threads of gRPC, chunks written in those of the scheduler.
// OnDone comes last and deletes the call.
#ifndef GRIDFOLD_SERVER_STREAMS_WRITE_ARRAY_CALL_H_
#define GRIDFOLD_SERVER_STREAMS_WRITE_ARRAY_CALL_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gridfold/v1/array_service.pb.h"
#include "server/arrays/array_store.h"
#include "server/calls/announced_count.h"
#include "server/calls/call_environment.h"
#include "server/calls/call_report.h"
#include "server/calls/tenant.h"
#include "server/scheduling/job.h"
#include "server/streams/stream_jobs.h"

namespace gridfold::server {

class WriteArrayCall final : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                             private IdleWatch::Waiter {
 public:
  WriteArrayCall(CallEnvironment& environment, grpc::CallbackServerContext& context,
                 grpc::ByteBuffer& response);

  grpc::ServerReadReactor<grpc::ByteBuffer>* Start();

  void OnReadDone(bool ok) override;
  void OnCancel() override { jobs_.Cancel(); }
  void OnDone() override;

 private:
  void ReadNext();
  void OnIdle() override;
  absl::Status TakeMessage();
  absl::Status TakeLease();
  absl::Status SubmitChunk();
  void OnChunkWritten(const absl::Status& written);
  absl::Status Answer();
  void FinishWith(const absl::Status& status);

  CallEnvironment& environment_;
  CallReport report_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  Caller caller_;
  JobWork work_;  // What the jobs of the stream have in common.
  StreamJobs jobs_;
  grpc::ByteBuffer message_;
  std::atomic<bool> waits_for_caller_ = false;  // Whoever ends the wait goes on with the call.
  bool has_begun_ = false;                      // Whether the header has come.
  std::weak_ptr<const StoredArray> array_;
  // While a chunk is written.
  std::optional<v1::WriteArrayRequest> chunk_;
  ArrayLease lease_;
  std::vector<ArrayShard> places_;  // Where the chunk goes,
  size_t written_places_ = 0;       // and so many of them have it.
  uint64_t written_bytes_ = 0;
  uint64_t element_bytes_ = 1;
  AnnouncedCount announced_;  // Of all chunks.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_WRITE_ARRAY_CALL_H_
