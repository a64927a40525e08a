// One call of ReduceStream, HistogramStream or ReduceByKeyStream: batches are folded into one
// answer. Used by services/compute_service.cc only.
#ifndef GRIDFOLD_SERVER_STREAMS_FOLD_STREAM_CALL_H_
#define GRIDFOLD_SERVER_STREAMS_FOLD_STREAM_CALL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/calls/call_environment.h"
#include "server/scheduling/job.h"
#include "server/streams/stream_call.h"
#include "server/streams/stream_fold.h"

namespace gridfold::server {

class FoldStreamCall final
    : public StreamCall<grpc::ServerReadReactor<grpc::ByteBuffer>, StreamFold> {
 public:
  using MakeFold = absl::StatusOr<std::unique_ptr<StreamFold>> (*)(const std::string& header,
                                                                   const FoldContext& context);

  // Messages have `array_count` fields of bulk data; their header makes the fold.
  FoldStreamCall(CallEnvironment& environment, Rpc rpc, grpc::CallbackServerContext& context,
                 grpc::ByteBuffer& response, MakeFold make_fold, size_t array_count);

 private:
  absl::StatusOr<std::unique_ptr<StreamFold>> MakeComputation(
      const std::string& header) const override;
  absl::Status RunBatch(const JobContext& job_context) override;
  uint64_t AnswerBytesMax() const override;
  absl::StatusOr<bool> HasBatch() const override;

  absl::Status Answer(const JobContext& job_context);

  grpc::ByteBuffer& response_;
  const MakeFold make_fold_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_STREAMS_FOLD_STREAM_CALL_H_
