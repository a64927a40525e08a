#include "server/tenants/access_tokens.h"

#include <openssl/crypto.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/process/event_log.h"

namespace gridfold::server {

namespace {

constexpr size_t kTokenIdBytes = 4;
constexpr absl::string_view kScheme = "Bearer ";

std::string IdOf(const TokenHash& hash) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash.data()), kTokenIdBytes));
}

}  // namespace

bool IsBearer(absl::string_view authorization) {
  return absl::StartsWithIgnoreCase(authorization, kScheme);
}

absl::StatusOr<std::unique_ptr<AccessTokens>> AccessTokens::Load(const std::string& path) {
  std::unique_ptr<AccessTokens> tokens(new AccessTokens(path));
  const absl::StatusOr<bool> changed = tokens->Reload();
  if (!changed.ok()) return changed.status();
  tokens->sweeper_.emplace(
      [self = tokens.get()] {
        if (self->report_.Try([self] { return self->Reload(); })) {
          LogEvent(LogLevel::kInfo, "tokens", {{"tokens", self->token_count()}});
        }
        self->refused_.TellSuppressed();
      },
      kFileCheckInterval);
  return tokens;
}

absl::StatusOr<Access> AccessTokens::Authenticate(absl::string_view authorization) const {
  if (!IsBearer(authorization)) {
    return absl::UnauthenticatedError("authorization: is not Bearer and a token");
  }
  const TokenHash hash = HashOfToken(authorization.substr(kScheme.size()));
  const std::shared_ptr<const Entries> known = entries();
  const Access* access = nullptr;
  for (const Entry& entry : *known) {
    if (CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) access = &entry.access;
  }
  if (access == nullptr)
    return absl::UnauthenticatedError("authorization: the server knows no such token");
  return *access;
}

size_t AccessTokens::token_count() const { return entries()->size(); }

std::shared_ptr<const AccessTokens::Entries> AccessTokens::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

absl::StatusOr<bool> AccessTokens::Reload() {
  absl::StatusOr<std::string> file = watched_.Get(kFileReadTimeout);
  if (!file.ok()) return file.status();
  if (file_ == *file) return false;
  const absl::StatusOr<TokenTable> table = ParseTokenTable(*file);
  if (!table.ok()) {
    return absl::Status(table.status().code(),
                        absl::StrCat(watched_.path(), ": ", table.status().message()));
  }
  file_ = *std::move(file);
  Use(*table);
  return true;
}

// Tenants that are still there keep what they have under way and have sent.
void AccessTokens::Use(const TokenTable& table) {
  Quotas quotas;
  auto entries = std::make_shared<Entries>();
  for (const TokenTable::Token& token : table.tokens) {
    const std::string& tenant = token.grant.tenant;
    std::shared_ptr<TenantQuota>& quota = quotas[tenant];
    if (quota == nullptr) {
      const auto known = quotas_.find(tenant);
      quota = known != quotas_.end() ? known->second : std::make_shared<TenantQuota>();
      const auto limits = table.limits.find(tenant);
      quota->SetLimits(limits != table.limits.end() ? limits->second : TenantLimits{});
    }
    entries->push_back({token.hash, {token.grant, IdOf(token.hash), quota}});
  }
  quotas_ = std::move(quotas);
  const std::lock_guard lock(mutex_);
  entries_ = std::move(entries);
}

}  // namespace gridfold::server
