#include "server/tenants/token_table.h"

#include <openssl/sha.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/base/fixed_limits.h"
#include "server/base/identifier.h"

namespace gridfold::server {

namespace {

using kernels::InvalidField;
using Json = nlohmann::json;

absl::Status CheckObject(const Json& json, const std::string& field,
                         std::initializer_list<absl::string_view> keys) {
  if (!json.is_object()) return InvalidField(field, "is not an object");
  for (const auto& item : json.items()) {
    bool is_known = false;
    for (const absl::string_view key : keys) is_known |= item.key() == key;
    if (!is_known) return InvalidField(field, "has a key that means nothing");
  }
  return absl::OkStatus();
}

absl::Status ReadHash(const Json& token, const std::string& field, TokenHash& hash) {
  const auto found = token.find("sha256");
  const std::string text =
      found != token.end() && found->is_string() ? found->get<std::string>() : std::string();
  bool is_good = text.size() == 2 * hash.size();
  for (const char digit : text) is_good &= absl::ascii_isxdigit(static_cast<unsigned char>(digit));
  if (!is_good) return InvalidField(field + ".sha256", "is not 64 hexadecimal digits");
  const std::string bytes = absl::HexStringToBytes(text);
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  // What a file that is not there comes to when it is hashed: any caller could bring that token.
  if (hash == HashOfToken("")) return InvalidField(field + ".sha256", "is that of an empty token");
  return absl::OkStatus();
}

absl::Status ReadTenant(const Json& token, const std::string& field, std::string& tenant) {
  const auto found = token.find("tenant");
  if (found == token.end() || !found->is_string()) {
    return InvalidField(field + ".tenant", "is not a name");
  }
  tenant = found->get<std::string>();
  return ValidateIdentifier(tenant, kTenantNameBytesMax, field + ".tenant");
}

absl::Status ReadPriority(const Json& token, const std::string& field, Priority& priority) {
  const auto found = token.find("priority");
  if (found == token.end() || *found == "high") return absl::OkStatus();
  if (*found == "normal") {
    priority = Priority::kNormal;
  } else if (*found == "low") {
    priority = Priority::kLow;
  } else {
    return InvalidField(field + ".priority", "is not low, normal or high");
  }
  return absl::OkStatus();
}

absl::Status ReadAdmin(const Json& token, const std::string& field, bool& is_admin) {
  const auto found = token.find("admin");
  if (found == token.end()) return absl::OkStatus();
  if (!found->is_boolean()) return InvalidField(field + ".admin", "is neither true nor false");
  is_admin = found->get<bool>();
  return absl::OkStatus();
}

absl::StatusOr<TokenTable::Token> ReadToken(const Json& json, const std::string& field) {
  TokenTable::Token token;
  absl::Status status = CheckObject(json, field, {"sha256", "tenant", "priority", "admin"});
  if (status.ok()) status = ReadHash(json, field, token.hash);
  if (status.ok()) status = ReadTenant(json, field, token.grant.tenant);
  if (status.ok()) status = ReadPriority(json, field, token.grant.priority_max);
  if (status.ok()) status = ReadAdmin(json, field, token.grant.is_admin);
  if (!status.ok()) return status;
  return token;
}

absl::Status ReadLimit(const Json& tenant, const std::string& field, const char* key,
                       uint64_t& limit) {
  const auto found = tenant.find(key);
  if (found == tenant.end()) return absl::OkStatus();
  if (!found->is_number_unsigned() || found->get<uint64_t>() > kTenantLimitCeiling) {
    return InvalidField(absl::StrCat(field, ".", key),
                        absl::StrCat("is not a number from 0 to ", kTenantLimitCeiling));
  }
  limit = found->get<uint64_t>();
  return absl::OkStatus();
}

absl::StatusOr<TenantLimits> ReadLimits(const Json& json, const std::string& field) {
  TenantLimits limits;
  absl::Status status =
      CheckObject(json, field, {"requests_in_flight", "bytes_per_second", "resident_bytes"});
  if (status.ok()) status = ReadLimit(json, field, "requests_in_flight", limits.requests_in_flight);
  if (status.ok()) status = ReadLimit(json, field, "bytes_per_second", limits.bytes_per_second);
  if (status.ok()) status = ReadLimit(json, field, "resident_bytes", limits.resident_bytes);
  if (!status.ok()) return status;
  return limits;
}

absl::Status ReadTokens(const Json& json, TokenTable& table) {
  if (!json.is_array() || json.empty()) return InvalidField("tokens", "is not a list of tokens");
  if (json.size() > kTokenCountMax) {
    return InvalidField("tokens", absl::StrCat("has more than ", kTokenCountMax));
  }
  std::set<TokenHash> hashes;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string field = absl::StrCat("tokens[", i, "]");
    absl::StatusOr<TokenTable::Token> token = ReadToken(json[i], field);
    if (!token.ok()) return token.status();
    if (!hashes.insert(token->hash).second) {
      return InvalidField(field + ".sha256", "is that of an earlier token");
    }
    table.tokens.push_back(*std::move(token));
  }
  return absl::OkStatus();
}

absl::Status ReadTenants(const Json& json, TokenTable& table) {
  if (!json.is_object()) return InvalidField("tenants", "is not an object");
  if (json.size() > kTokenTenantCountMax) {
    return InvalidField("tenants", absl::StrCat("has more than ", kTokenTenantCountMax));
  }
  for (const auto& [name, value] : json.items()) {
    absl::Status status = ValidateIdentifier(name, kTenantNameBytesMax, "tenants");
    if (!status.ok()) return status;
    const absl::StatusOr<TenantLimits> limits = ReadLimits(value, absl::StrCat("tenants.", name));
    if (!limits.ok()) return limits.status();
    table.limits.emplace(name, *limits);
  }
  return absl::OkStatus();
}

}  // namespace

TokenHash HashOfToken(absl::string_view token) {
  TokenHash hash;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  return hash;
}

absl::StatusOr<TokenTable> ParseTokenTable(absl::string_view json) {
  // Not the parser's own message, which quotes what it has read.
  const Json file =
      Json::parse(json.begin(), json.end(), /*callback=*/nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) return absl::InvalidArgumentError("is not JSON");
  TokenTable table;
  absl::Status status = CheckObject(file, "file", {"tokens", "tenants"});
  if (status.ok()) status = ReadTokens(file.value("tokens", Json()), table);
  if (status.ok()) status = ReadTenants(file.value("tenants", Json::object()), table);
  if (!status.ok()) return status;
  return table;
}

}  // namespace gridfold::server
