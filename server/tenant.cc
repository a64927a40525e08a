#include "server/tenant.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/invalid_field.h"
#include "server/identifier.h"
#include "server/limits.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

// None where the key is not there; an error where it is there twice.
absl::StatusOr<std::optional<std::string>> ValueOf(const grpc::CallbackServerContext& context,
                                                   const char* key) {
  const auto [first, last] = context.client_metadata().equal_range(key);
  if (first == last) return std::optional<std::string>();
  if (std::next(first) != last) return InvalidField(key, "more than one value is given");
  return std::optional<std::string>(std::in_place, first->second.data(), first->second.size());
}

}  // namespace

absl::StatusOr<std::string> TenantOf(const grpc::CallbackServerContext& context) {
  constexpr char kKey[] = "gridfold-tenant";
  absl::StatusOr<std::optional<std::string>> tenant = ValueOf(context, kKey);
  if (!tenant.ok()) return tenant.status();
  if (!tenant->has_value()) return std::string();
  absl::Status status = ValidateIdentifier(**tenant, kTenantNameBytesMax, kKey);
  if (!status.ok()) return status;
  return **std::move(tenant);
}

absl::StatusOr<Priority> PriorityOf(const grpc::CallbackServerContext& context) {
  constexpr char kKey[] = "gridfold-priority";
  const absl::StatusOr<std::optional<std::string>> priority = ValueOf(context, kKey);
  if (!priority.ok()) return priority.status();
  if (!priority->has_value() || **priority == "normal") return Priority::kNormal;
  if (**priority == "low") return Priority::kLow;
  if (**priority == "high") return Priority::kHigh;
  return InvalidField(kKey, "is not low, normal or high");
}

absl::Status ReadCaller(const grpc::CallbackServerContext& context, JobWork& work) {
  absl::StatusOr<std::string> tenant = TenantOf(context);
  if (!tenant.ok()) return tenant.status();
  const absl::StatusOr<Priority> priority = PriorityOf(context);
  if (!priority.ok()) return priority.status();
  work.tenant = *std::move(tenant);
  work.priority = *priority;
  return absl::OkStatus();
}

}  // namespace gridfold::server
