// ArrayService over gRPC's callback API, in the manner of ComputeService: messages arrive and leave
// as bytes. Calls that touch an array's elements run on lanes; the others only look something up,
// and are answered in gRPC's own threads.
#ifndef GRIDFOLD_SERVER_SERVICES_ARRAY_SERVICE_H_
#define GRIDFOLD_SERVER_SERVICES_ARRAY_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "gridfold/v1/array_service.grpc.pb.h"
#include "server/calls/call_environment.h"

namespace gridfold::server {

using RawArrayService = v1::ArrayService::WithRawCallbackMethod_CreateArray<
    v1::ArrayService::WithRawCallbackMethod_WriteArray<
        v1::ArrayService::WithRawCallbackMethod_ReadArray<
            v1::ArrayService::WithRawCallbackMethod_GetArray<
                v1::ArrayService::WithRawCallbackMethod_ListArrays<
                    v1::ArrayService::WithRawCallbackMethod_DeleteArray<
                        v1::ArrayService::Service>>>>>>;

class ArrayService final : public RawArrayService {
 public:
  explicit ArrayService(CallEnvironment& environment) : environment_(environment) {}

  grpc::ServerUnaryReactor* CreateArray(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* WriteArray(grpc::CallbackServerContext* context,
                                                        grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadArray(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* GetArray(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListArrays(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteArray(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;

 private:
  CallEnvironment& environment_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SERVICES_ARRAY_SERVICE_H_
