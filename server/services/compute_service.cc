#include "server/services/compute_service.h"

#include "server/compute/unary_call.h"
#include "server/streams/fold_stream_call.h"
#include "server/streams/scan_stream_call.h"
#include "server/streams/stream_fold.h"

namespace gridfold::server {

// A call deletes itself when gRPC is done with it.

grpc::ServerUnaryReactor* ComputeService::ReduceArray(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::ReduceArrayRequest, PlannedReduction, v1::ReduceArrayResponse>;
  return (new Call(environment_, Rpc::kReduceArray, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::ScanArray(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::ScanArrayRequest, PlannedScan, ScanAnswer>;
  return (new Call(environment_, Rpc::kScanArray, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::ComputeHistogram(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  using Call =
      UnaryCall<v1::ComputeHistogramRequest, PlannedHistogram, v1::ComputeHistogramResponse>;
  return (new Call(environment_, Rpc::kComputeHistogram, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::MergeAccumulators(grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request,
                                                            grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::MergeAccumulatorsRequest, PlannedMerge, v1::MergeAccumulatorsResponse>;
  return (new Call(environment_, Rpc::kMergeAccumulators, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::SubtractAccumulators(grpc::CallbackServerContext* context,
                                                               const grpc::ByteBuffer* request,
                                                               grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::SubtractAccumulatorsRequest, PlannedSubtraction,
                         v1::SubtractAccumulatorsResponse>;
  return (new Call(environment_, Rpc::kSubtractAccumulators, *context, *request, *response))
      ->Start();
}

grpc::ServerReadReactor<grpc::ByteBuffer>* ComputeService::ReduceStream(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return (new FoldStreamCall(environment_, Rpc::kReduceStream, *context, *response,
                             MakeStreamReduction, 2))
      ->Start();
}

grpc::ServerReadReactor<grpc::ByteBuffer>* ComputeService::HistogramStream(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return (new FoldStreamCall(environment_, Rpc::kHistogramStream, *context, *response,
                             MakeStreamHistogram, 4))
      ->Start();
}

grpc::ServerReadReactor<grpc::ByteBuffer>* ComputeService::ReduceByKeyStream(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return (new FoldStreamCall(environment_, Rpc::kReduceByKeyStream, *context, *response,
                             MakeStreamKeyed, 3))
      ->Start();
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ComputeService::ScanStream(
    grpc::CallbackServerContext* context) {
  return (new ScanStreamCall(environment_, *context))->Start();
}

grpc::ServerUnaryReactor* ComputeService::BatchCompute(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  using Call = UnaryCall<ArenaMessage<v1::BatchComputeRequest>, PlannedBatch,
                         ArenaMessage<v1::BatchComputeResponse>>;
  return (new Call(environment_, Rpc::kBatchCompute, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::ReduceByKey(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::ReduceByKeyRequest, PlannedKeyedReduction, v1::ReduceByKeyResponse>;
  return (new Call(environment_, Rpc::kReduceByKey, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::ComputeQuantiles(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  using Call =
      UnaryCall<v1::ComputeQuantilesRequest, PlannedQuantiles, v1::ComputeQuantilesResponse>;
  return (new Call(environment_, Rpc::kComputeQuantiles, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::SelectTop(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::SelectTopRequest, PlannedTop, v1::SelectTopResponse>;
  return (new Call(environment_, Rpc::kSelectTop, *context, *request, *response))->Start();
}

grpc::ServerUnaryReactor* ComputeService::RelateArrays(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::RelateArraysRequest, PlannedPaired, v1::RelateArraysResponse>;
  return (new Call(environment_, Rpc::kRelateArrays, *context, *request, *response))->Start();
}

}  // namespace gridfold::server
