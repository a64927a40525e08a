#include "server/tenant.h"

#include "kernels/invalid_field.h"
#include "server/identifier.h"
#include "server/limits.h"

namespace gridfold::server {

absl::StatusOr<std::string> TenantOf(const grpc::CallbackServerContext& context) {
  constexpr char kKey[] = "gridfold-tenant";
  const auto [first, last] = context.client_metadata().equal_range(kKey);
  if (first == last) return std::string();
  if (std::next(first) != last) return kernels::InvalidField(kKey, "more than one tenant is given");
  const std::string tenant(first->second.data(), first->second.size());
  if (absl::Status status = ValidateIdentifier(tenant, kTenantNameBytesMax, kKey); !status.ok()) {
    return status;
  }
  return tenant;
}

}  // namespace gridfold::server
