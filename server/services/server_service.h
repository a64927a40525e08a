// ServerService: information on the server, and its statistics.
#ifndef GRIDFOLD_SERVER_SERVICES_SERVER_SERVICE_H_
#define GRIDFOLD_SERVER_SERVICES_SERVER_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <vector>

#include "gridfold/v1/server_service.grpc.pb.h"
#include "kernels/contract/engine.h"
#include "server/calls/call_environment.h"

namespace gridfold::server {

class ServerService final : public v1::ServerService::CallbackService {
 public:
  // `environment` must outlive the service. With tokens, statistics are for administrators only.
  ServerService(const std::vector<kernels::Engine*>& engines, CallEnvironment& environment);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;
  grpc::ServerUnaryReactor* GetStatistics(grpc::CallbackServerContext* context,
                                          const v1::GetStatisticsRequest* request,
                                          v1::GetStatisticsResponse* response) override;

 private:
  void FillStatistics(v1::GetStatisticsResponse& response) const;

  v1::GetServerInfoResponse info_;
  CallEnvironment& environment_;
  const std::chrono::steady_clock::time_point started_at_ = std::chrono::steady_clock::now();
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SERVICES_SERVER_SERVICE_H_
