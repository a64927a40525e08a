// ComputeService over gRPC's callback API.
//
// Messages arrive and leave as bytes: size and deadline are looked at before anything is decoded,
// bytes that are no message are answered with INVALID_ARGUMENT, and answers are encoded in the
// scheduler's threads. gRPC's own threads decode and validate; they never wait for a lane.
#ifndef GRIDFOLD_SERVER_SERVICES_COMPUTE_SERVICE_H_
#define GRIDFOLD_SERVER_SERVICES_COMPUTE_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "gridfold/v1/compute_service.grpc.pb.h"
#include "server/calls/call_environment.h"

namespace gridfold::server {

using RawComputeService = v1::ComputeService::WithRawCallbackMethod_ReduceArray<
    v1::ComputeService::WithRawCallbackMethod_ScanArray<
        v1::ComputeService::WithRawCallbackMethod_ComputeHistogram<
            v1::ComputeService::WithRawCallbackMethod_MergeAccumulators<
                v1::ComputeService::WithRawCallbackMethod_ReduceStream<
                    v1::ComputeService::WithRawCallbackMethod_HistogramStream<
                        v1::ComputeService::WithRawCallbackMethod_ScanStream<
                            v1::ComputeService::WithRawCallbackMethod_BatchCompute<
                                v1::ComputeService::WithRawCallbackMethod_ReduceByKey<
                                    v1::ComputeService::WithRawCallbackMethod_ComputeQuantiles<
                                        v1::ComputeService::WithRawCallbackMethod_SelectTop<
                                            v1::ComputeService::
                                                WithRawCallbackMethod_ReduceByKeyStream<
                                                    v1::ComputeService::
                                                        WithRawCallbackMethod_SubtractAccumulators<
                                                            v1::ComputeService::
                                                                WithRawCallbackMethod_RelateArrays<
                                                                    v1::ComputeService::
                                                                        Service>>>>>>>>>>>>>>;

class ComputeService final : public RawComputeService {
 public:
  explicit ComputeService(CallEnvironment& environment) : environment_(environment) {}

  grpc::ServerUnaryReactor* ReduceArray(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ScanArray(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ComputeHistogram(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* MergeAccumulators(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* SubtractAccumulators(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* ReduceStream(grpc::CallbackServerContext* context,
                                                          grpc::ByteBuffer* response) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* HistogramStream(grpc::CallbackServerContext* context,
                                                             grpc::ByteBuffer* response) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* ReduceByKeyStream(grpc::CallbackServerContext* context,
                                                               grpc::ByteBuffer* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ScanStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* BatchCompute(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ReduceByKey(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ComputeQuantiles(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* SelectTop(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* RelateArrays(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;

 private:
  CallEnvironment& environment_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SERVICES_COMPUTE_SERVICE_H_
