// One call of ScanStream: batches are scanned, and their results sent, in order. While one batch of
// results is being sent, only the next one is computed: the server stops reading from a caller who
// does not take results. Used by services/compute_service.cc only.
#ifndef GRIDFOLD_SERVER_STREAMS_SCAN_STREAM_CALL_H_
#define GRIDFOLD_SERVER_STREAMS_SCAN_STREAM_CALL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/calls/call_environment.h"
#include "server/scheduling/job.h"
#include "server/streams/stream_call.h"
#include "server/streams/stream_scan.h"

namespace gridfold::server {

class ScanStreamCall final
    : public StreamCall<grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>, StreamScan> {
 public:
  ScanStreamCall(CallEnvironment& environment, grpc::CallbackServerContext& context)
      : StreamCall(environment, Rpc::kScanStream, context, 2) {}

  void OnWriteDone(bool ok) override;

 private:
  absl::StatusOr<std::unique_ptr<StreamScan>> MakeComputation(
      const std::string& header) const override;
  absl::Status RunBatch(const JobContext& job_context) override;
  uint64_t AnswerBytesMax() const override;
  void SendResults() override;
  absl::StatusOr<bool> HasBatch() const override;
  bool TakesWholeBatch() const override;
  bool HasPlaceForResults() const override { return !ready_; }
  bool IsSending() const override { return writing_; }

  void Write();
  // Requires `mutex_`.
  bool BeginWrite();

  grpc::ByteBuffer results_;   // Of the write under way.
  grpc::ByteBuffer computed_;  // A job's results.
  // Guarded by `mutex_`.
  std::optional<grpc::ByteBuffer> ready_;  // Results that wait for the write before them.
  bool writing_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_SCAN_STREAM_CALL_H_
