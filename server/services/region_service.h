// RegionService over gRPC's callback API, in the manner of ArrayService: opening a region's memory
// takes long and so runs on a lane; the rest is answered immediately.
#ifndef GRIDFOLD_SERVER_SERVICES_REGION_SERVICE_H_
#define GRIDFOLD_SERVER_SERVICES_REGION_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "gridfold/v1/region_service.grpc.pb.h"
#include "server/calls/call_environment.h"

namespace gridfold::server {

using RawRegionService = v1::RegionService::WithRawCallbackMethod_RegisterRegion<
    v1::RegionService::WithRawCallbackMethod_UnregisterRegion<
        v1::RegionService::WithRawCallbackMethod_ListRegions<v1::RegionService::Service>>>;

class RegionService final : public RawRegionService {
 public:
  explicit RegionService(CallEnvironment& environment) : environment_(environment) {}

  grpc::ServerUnaryReactor* RegisterRegion(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* UnregisterRegion(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListRegions(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;

 private:
  CallEnvironment& environment_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SERVICES_REGION_SERVICE_H_
