// Who calls and how urgent it is: by the token that a call brings where the server has a file of
// tokens, else by the caller's own word in the metadata, which nobody has checked.
#ifndef GRIDFOLD_SERVER_CALLS_TENANT_H_
#define GRIDFOLD_SERVER_CALLS_TENANT_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/calls/call_report.h"
#include "server/process/audit_log.h"
#include "server/scheduling/job.h"
#include "server/tenants/access_tokens.h"
#include "server/tenants/tenant_quota.h"

namespace gridfold::server {

struct Caller {
  std::string tenant;  // Empty where it names none.
  Priority priority = Priority::kNormal;
  bool is_admin = false;  // True for everybody where there are no tokens.
  CallPermit permit;      // None where tenants have no quotas.

  // Bytes that the tenant's arrays may take together; 0: no bound of its own.
  uint64_t resident_bytes_max() const {
    return permit == nullptr ? 0 : permit->limits().resident_bytes;
  }
  // Charges the tenant for bytes of the call that have arrived.
  void Charge(uint64_t bytes) const {
    if (permit != nullptr) permit->Charge(bytes);
  }
};

// Reads "gridfold-tenant" (by default empty), "gridfold-priority" (by default normal, and never
// above what the token allows) and, unless `tokens` is null, "authorization", which then determines
// the tenant. `rpc` is what is called, for the log where the caller is refused; `notes`, which may
// be null, are told who it is. Errors: INVALID_ARGUMENT for a value that is invalid or given twice;
// UNAUTHENTICATED without a known token; PERMISSION_DENIED where the call names a tenant that is
// not the token's; RESOURCE_EXHAUSTED where the tenant's quota is used up, or the metadata
// takes more than kMetadataBytesMax.
absl::StatusOr<Caller> ReadCaller(const grpc::CallbackServerContext& context,
                                  const AccessTokens* tokens, const char* rpc, AuditNotes* notes);

// The same, for a call whose job, or jobs, begin with `work`.
absl::StatusOr<Caller> ReadCaller(const grpc::CallbackServerContext& context,
                                  const AccessTokens* tokens, const CallReport& report,
                                  JobWork& work);

// A number for the connection that the call came by, as JobWork::connection.
uint64_t ConnectionOf(const grpc::CallbackServerContext& context);

// As ReadCaller; PERMISSION_DENIED also where there are tokens and the call's is not an
// administrator's.
absl::StatusOr<Caller> ReadAdmin(const grpc::CallbackServerContext& context,
                                 const AccessTokens* tokens, const char* rpc, AuditNotes* notes);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_TENANT_H_
