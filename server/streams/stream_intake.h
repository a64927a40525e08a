// The receiving side of StreamCall: its place among the open streams, the parsing of messages, and
// the data that has arrived, counted against CallEnvironment::streams.
//
// Enter, Open and CheckBegun are for the one read that a call has in flight. The rest is not
// thread-safe; the call guards it.
#ifndef GRIDFOLD_SERVER_STREAMS_STREAM_INTAKE_H_
#define GRIDFOLD_SERVER_STREAMS_STREAM_INTAKE_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/calls/announced_count.h"
#include "server/calls/call_environment.h"
#include "server/streams/stream_fold.h"
#include "server/wire/stream_message.h"

namespace gridfold::server {

class StreamIntake {
 public:
  // Messages have `array_count` fields of bulk data.
  StreamIntake(CallEnvironment& environment, size_t array_count)
      : environment_(environment), array_count_(array_count) {}
  ~StreamIntake();

  // Takes a place among the open streams for a call of the tenant. Errors: RESOURCE_EXHAUSTED with
  // a retry delay.
  absl::Status Enter(const std::string& tenant);

  // Parses a message and releases it. Errors: those of SplitMessage; INVALID_ARGUMENT that names
  // "request" where the first message has no header, or a later one has.
  absl::StatusOr<StreamMessage> Open(grpc::ByteBuffer& message);

  // There will be no other message. INVALID_ARGUMENT that names "request" where there was none.
  absl::Status CheckBegun() const;

  // There will be no other element. INVALID_ARGUMENT that names "element_count" where the caller
  // has announced more.
  absl::Status CheckEnd() const;

  // The first array, whose elements are the ones that callers count, has elements of this size.
  void SetElementSize(uint64_t bytes) { element_bytes_ = bytes; }

  // So much memory, or what it held before where that is more, for as long as the call lasts.
  // RESOURCE_EXHAUSTED with a retry delay where there is none.
  absl::Status HoldState(uint64_t bytes);

  // Keeps the message's data. Errors: INVALID_ARGUMENT that names "element_count", where there is
  // more of it than the caller has announced, or another number is announced than before.
  absl::Status Add(const StreamMessage& message);

  // What has arrived and not been computed on, with what is left of the last batch.
  StreamSizes sizes() const;

  // Whether to read on while a batch runs, or its results wait.
  bool HasRoom() const;
  // Whether what the tenant's streams hold lets this one read on.
  bool TenantHasRoom() const { return environment_.streams.HasRoom(tenant_); }

  // All that has arrived becomes the next batch, which a job uses without the call's lock.
  void BeginBatch();
  StreamArrays& batch() { return batch_; }
  const StreamArrays& batch() const { return batch_; }
  uint64_t batch_bytes() const;

  // The job has removed what it used.
  void EndBatch();

  // The call is over; its place is free before its caller is told.
  void ReleaseAll();

 private:
  void SetHeldBytes(uint64_t bytes);

  CallEnvironment& environment_;
  const size_t array_count_;
  std::string tenant_;
  bool is_admitted_ = false;
  bool has_begun_ = false;  // Whether the header has come.
  uint64_t element_bytes_ = 1;
  AnnouncedCount announced_;
  StreamArrays batch_;
  StreamArrays pending_;  // What has come since.
  uint64_t state_bytes_ = 0;
  uint64_t held_bytes_ = 0;  // Of CallEnvironment::streams: all of these.
};

// The sum.
uint64_t TotalBytes(const StreamSizes& sizes);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_STREAM_INTAKE_H_
