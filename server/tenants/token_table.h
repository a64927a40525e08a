// The file of tokens (--token-file): who may call the server. JSON:
//
//   {
//     "tokens": [
//       {"sha256": "<64 hexadecimal digits>", "tenant": "reports", "priority": "normal"},
//       {"sha256": "...", "tenant": "operations", "admin": true}
//     ],
//     "tenants": {
//       "reports": {"requests_in_flight": 16, "bytes_per_second": 100000000,
//                   "resident_bytes": 1073741824}
//     }
//   }
//
// A token's "priority" is the highest that its calls may have, by default "high"; "admin" allows
// calls that reveal something of all tenants. A tenant may have several tokens, so that one can be
// replaced by the next. A limit that is absent or 0 does not apply. Pure functions; thread-safe.
#ifndef GRIDFOLD_SERVER_TENANTS_TOKEN_TABLE_H_
#define GRIDFOLD_SERVER_TENANTS_TOKEN_TABLE_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/priority.h"
#include "server/tenants/tenant_quota.h"

namespace gridfold::server {

using TokenHash = std::array<uint8_t, 32>;

TokenHash HashOfToken(absl::string_view token);

// What a token stands for.
struct AccessGrant {
  std::string tenant;
  Priority priority_max = Priority::kHigh;
  bool is_admin = false;
};

struct TokenTable {
  struct Token {
    TokenHash hash;
    AccessGrant grant;
  };
  std::vector<Token> tokens;
  std::map<std::string, TenantLimits> limits;
};

// INVALID_ARGUMENT that names the field at fault, and repeats nothing that could be a secret.
absl::StatusOr<TokenTable> ParseTokenTable(absl::string_view json);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TENANTS_TOKEN_TABLE_H_
