#include "server/access_tokens.h"

#include <openssl/crypto.h>

#include <exception>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/event_log.h"
#include "server/limits.h"

namespace gridfold::server {

namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::string bytes(kTokenFileBytesMax + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  bytes.resize(static_cast<size_t>(file.gcount()));
  if (bytes.size() > kTokenFileBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has more than ", kTokenFileBytesMax, " bytes"));
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AccessTokens>> AccessTokens::Load(const std::string& path) {
  std::unique_ptr<AccessTokens> tokens(new AccessTokens(path));
  const absl::StatusOr<bool> changed = tokens->Reload();
  if (!changed.ok()) return changed.status();
  tokens->sweeper_.emplace([self = tokens.get()] { self->Check(); }, kFileCheckInterval);
  return tokens;
}

absl::StatusOr<Access> AccessTokens::Authenticate(absl::string_view authorization) const {
  constexpr absl::string_view kScheme = "Bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) {
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
  absl::StatusOr<std::string> file = ReadFile(path_);
  if (!file.ok()) return file.status();
  if (file_ == *file) return false;
  file_ = *std::move(file);
  const absl::StatusOr<TokenTable> table = ParseTokenTable(*file_);
  if (!table.ok()) {
    return absl::Status(table.status().code(), absl::StrCat(path_, ": ", table.status().message()));
  }
  Use(*table);
  return true;
}

void AccessTokens::Check() {
  absl::StatusOr<bool> changed = false;
  try {
    changed = Reload();
  } catch (const std::exception& exception) {
    changed = absl::InternalError(exception.what());
  }
  if (changed.ok()) {
    if (*changed) LogEvent(LogLevel::kInfo, "tokens", {{"tokens", token_count()}});
    last_error_ = absl::OkStatus();
  } else if (changed.status() != last_error_) {
    last_error_ = changed.status();
    LogEvent(LogLevel::kError, "tokens_not_reloaded", {{"message", last_error_.message()}});
  }
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
    entries->push_back({token.hash, {token.grant, quota}});
  }
  quotas_ = std::move(quotas);
  const std::lock_guard lock(mutex_);
  entries_ = std::move(entries);
}

}  // namespace gridfold::server
