#include "client/library/grpc_lifetime.h"

#include "grpc/grpc.h"

namespace gridfold::client {

void KeepGrpcRunning() {
  [[maybe_unused]] static const bool is_kept = [] {
    grpc_init();  // Balanced by no grpc_shutdown.
    return true;
  }();
}

}  // namespace gridfold::client
