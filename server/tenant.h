// Who calls and how urgent it is, by the caller's own word in the metadata. Nobody has checked it.
#ifndef GRIDFOLD_SERVER_TENANT_H_
#define GRIDFOLD_SERVER_TENANT_H_

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/job.h"

namespace gridfold::server {

// The tenant that a call says it comes from, by the key "gridfold-tenant"; empty where it says
// none. INVALID_ARGUMENT where it is no name, or there are several.
absl::StatusOr<std::string> TenantOf(const grpc::CallbackServerContext& context);

// The value of "gridfold-priority": low, normal or high; normal where there is none.
// INVALID_ARGUMENT where it is something else, or there are several.
absl::StatusOr<Priority> PriorityOf(const grpc::CallbackServerContext& context);

// Both, stored in `work`.
absl::Status ReadCaller(const grpc::CallbackServerContext& context, JobWork& work);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TENANT_H_
