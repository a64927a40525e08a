// Answers calls of methods that the server does not have: UNIMPLEMENTED, with the details that
// every error has.
#ifndef GRIDFOLD_SERVER_SERVICES_UNKNOWN_METHOD_SERVICE_H_
#define GRIDFOLD_SERVER_SERVICES_UNKNOWN_METHOD_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

namespace gridfold::server {

class UnknownMethodService final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_SERVICES_UNKNOWN_METHOD_SERVICE_H_
