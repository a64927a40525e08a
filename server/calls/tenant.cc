#include "server/calls/tenant.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/error_reason.h"
#include "server/base/fixed_limits.h"
#include "server/base/identifier.h"
#include "server/calls/caller_address.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;

constexpr char kTenantKey[] = "gridfold-tenant";

// None where the key is not there; an error where it is there twice.
absl::StatusOr<std::optional<std::string>> ValueOf(const grpc::CallbackServerContext& context,
                                                   const char* key) {
  const auto [first, last] = context.client_metadata().equal_range(key);
  if (first == last) return std::optional<std::string>();
  if (std::next(first) != last) return InvalidField(key, "more than one value is given");
  return std::optional<std::string>(std::in_place, first->second.data(), first->second.size());
}

// Empty where the caller names none.
absl::StatusOr<std::string> TenantOf(const grpc::CallbackServerContext& context) {
  absl::StatusOr<std::optional<std::string>> tenant = ValueOf(context, kTenantKey);
  if (!tenant.ok()) return tenant.status();
  if (!tenant->has_value()) return std::string();
  absl::Status status = ValidateIdentifier(**tenant, kTenantNameBytesMax, kTenantKey);
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

// Turns a caller away: counts it, and says so in the log, at a bounded rate.
absl::Status Refuse(const grpc::CallbackServerContext& context, const AccessTokens& tokens,
                    const char* rpc, RefusalReason reason, absl::Status status) {
  tokens.refused().Record(reason, AddressOfCaller(context).peer, rpc);
  return status;
}

// The transport takes more than is allowed, so that a call with too much is refused by itself, with
// the reason, and not with its connection.
absl::Status CheckMetadataSize(const grpc::CallbackServerContext& context) {
  // As HTTP/2 counts (RFC 9113, 6.5.2).
  constexpr size_t kOverheadBytes = 32;
  size_t bytes = 0;
  for (const auto& [key, value] : context.client_metadata()) {
    bytes += key.size() + value.size() + kOverheadBytes;
  }
  if (bytes <= kMetadataBytesMax) return absl::OkStatus();
  return WithReason(absl::ResourceExhaustedError(
                        absl::StrCat("the call's metadata takes ", bytes, " bytes, more than the ",
                                     kMetadataBytesMax, " that are allowed")),
                    kReasonJobTooLarge);
}

absl::StatusOr<Access> AccessOf(const grpc::CallbackServerContext& context,
                                const AccessTokens& tokens, const char* rpc) {
  const auto refuse = [&](RefusalReason reason, absl::Status status) {
    return Refuse(context, tokens, rpc, reason, std::move(status));
  };
  const absl::StatusOr<std::optional<std::string>> authorization =
      ValueOf(context, "authorization");
  if (!authorization.ok()) return refuse(RefusalReason::kMalformedToken, authorization.status());
  if (!authorization->has_value()) {
    return refuse(RefusalReason::kNoToken,
                  absl::UnauthenticatedError("authorization: the call brings no token"));
  }
  absl::StatusOr<Access> access = tokens.Authenticate(**authorization);
  if (access.ok()) return access;
  return refuse(
      IsBearer(**authorization) ? RefusalReason::kUnknownToken : RefusalReason::kMalformedToken,
      access.status());
}

absl::Status ApplyAccess(const grpc::CallbackServerContext& context, const AccessTokens& tokens,
                         const char* rpc, const Access& access, Caller& caller) {
  if (!caller.tenant.empty() && caller.tenant != access.grant.tenant) {
    return Refuse(
        context, tokens, rpc, RefusalReason::kWrongTenant,
        absl::PermissionDeniedError(absl::StrCat(kTenantKey, ": is not the tenant of the token")));
  }
  absl::StatusOr<CallPermit> permit = access.quota->Admit();
  if (!permit.ok()) {
    return Refuse(context, tokens, rpc, RefusalReason::kQuota, permit.status());
  }
  caller.tenant = access.grant.tenant;
  caller.priority = std::max(caller.priority, access.grant.priority_max);
  caller.is_admin = access.grant.is_admin;
  caller.permit = *std::move(permit);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Caller> ReadCaller(const grpc::CallbackServerContext& context,
                                  const AccessTokens* tokens, const char* rpc, AuditNotes* notes) {
  if (absl::Status status = CheckMetadataSize(context); !status.ok()) return status;
  // First of what is read: who may not call is told nothing else.
  absl::StatusOr<Access> access;
  if (tokens != nullptr) access = AccessOf(context, *tokens, rpc);
  if (tokens != nullptr && !access.ok()) return access.status();
  if (tokens != nullptr && notes != nullptr) {
    notes->tenant = access->grant.tenant;
    notes->token_id = access->token_id;
  }
  absl::StatusOr<std::string> tenant = TenantOf(context);
  if (!tenant.ok()) return tenant.status();
  const absl::StatusOr<Priority> priority = PriorityOf(context);
  if (!priority.ok()) return priority.status();
  Caller caller{.tenant = *std::move(tenant),
                .priority = *priority,
                .is_admin = tokens == nullptr,
                .permit = nullptr};
  if (tokens != nullptr) {
    absl::Status status = ApplyAccess(context, *tokens, rpc, *access, caller);
    if (!status.ok()) return status;
  } else if (notes != nullptr) {
    notes->tenant = caller.tenant;
  }
  return caller;
}

absl::StatusOr<Caller> ReadCaller(const grpc::CallbackServerContext& context,
                                  const AccessTokens* tokens, const CallReport& report,
                                  JobWork& work) {
  absl::StatusOr<Caller> caller =
      ReadCaller(context, tokens, RpcName(report.rpc), report.audit.get());
  if (caller.ok()) {
    work.tenant = caller->tenant;
    work.priority = caller->priority;
    work.connection = ConnectionOf(context);
  }
  return caller;
}

uint64_t ConnectionOf(const grpc::CallbackServerContext& context) {
  return std::hash<std::string>()(context.peer());
}

absl::StatusOr<Caller> ReadAdmin(const grpc::CallbackServerContext& context,
                                 const AccessTokens* tokens, const char* rpc, AuditNotes* notes) {
  absl::StatusOr<Caller> caller = ReadCaller(context, tokens, rpc, notes);
  if (caller.ok() && !caller->is_admin) {
    return Refuse(
        context, *tokens, rpc, RefusalReason::kNotAdmin,
        absl::PermissionDeniedError("authorization: the token is not an administrator's"));
  }
  return caller;
}

}  // namespace gridfold::server
