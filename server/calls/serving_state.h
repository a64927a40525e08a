// What the health service says: SERVING from the start of the server until the first reason not to.
#ifndef GRIDFOLD_SERVER_CALLS_SERVING_STATE_H_
#define GRIDFOLD_SERVER_CALLS_SERVING_STATE_H_

#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/health_check_service_interface.h>

#include <mutex>

namespace gridfold::server {

// Thread-safe.
class ServingState {
 public:
  // The server accepts requests. `health` reports it, for the server and each of its services,
  // unless EndServing came first. `health` must outlive the last call of EndServing.
  void BeginServing(grpc::HealthCheckServiceInterface& health);

  // NOT_SERVING, for good.
  void EndServing();

  bool serving() const;

 private:
  mutable std::mutex mutex_;
  grpc::HealthCheckServiceInterface* health_ = nullptr;
  bool ended_ = false;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_SERVING_STATE_H_
