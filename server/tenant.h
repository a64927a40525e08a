#ifndef GRIDFOLD_SERVER_TENANT_H_
#define GRIDFOLD_SERVER_TENANT_H_

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/statusor.h"

namespace gridfold::server {

// The tenant that a call says it comes from, by the metadata key "gridfold-tenant"; empty where it
// says none. Nobody has checked that. INVALID_ARGUMENT where it is no name, or there are several.
absl::StatusOr<std::string> TenantOf(const grpc::CallbackServerContext& context);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TENANT_H_
