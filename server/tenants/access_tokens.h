// Who may call the server: the file of tokens (token_table.h), reloaded whenever it changes, and
// what each of its tenants uses now. Knows neither gRPC nor CUDA. Thread-safe.
#ifndef GRIDFOLD_SERVER_TENANTS_ACCESS_TOKENS_H_
#define GRIDFOLD_SERVER_TENANTS_ACCESS_TOKENS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/fixed_limits.h"
#include "server/base/sweeper.h"
#include "server/process/reload_report.h"
#include "server/process/watched_file.h"
#include "server/tenants/refused_callers.h"
#include "server/tenants/tenant_quota.h"
#include "server/tenants/token_table.h"

namespace gridfold::server {

// Whether the value of the metadata key "authorization" is of the scheme Bearer.
bool IsBearer(absl::string_view authorization);

// What a call with a token may do.
struct Access {
  AccessGrant grant;
  std::string token_id;                // The first digits of its hash, which identify it in logs.
  std::shared_ptr<TenantQuota> quota;  // The tenant's, whatever the token.
};

class AccessTokens {
 public:
  // Reads the file, and again within kFileCheckInterval of a change; one that makes no sense leaves
  // things as they were, and the log says so. Errors: those of WatchedFile and ParseTokenTable.
  static absl::StatusOr<std::unique_ptr<AccessTokens>> Load(const std::string& path);

  // What the value of the metadata key "authorization", "Bearer TOKEN", allows. UNAUTHENTICATED
  // where it allows nothing. Takes the same time whatever the token has in common with others.
  absl::StatusOr<Access> Authenticate(absl::string_view authorization) const;

  size_t token_count() const;

  // Reads the file now, in a thread of its own. Callable from any thread; does not block.
  void Wake() { sweeper_->Wake(); }

  const ReloadReport& report() const { return report_; }

  // Where callers that are turned away are counted and logged.
  RefusedCallers& refused() const { return refused_; }

 private:
  struct Entry {
    TokenHash hash;
    Access access;
  };
  using Entries = std::vector<Entry>;
  using Quotas = std::map<std::string, std::shared_ptr<TenantQuota>>;

  explicit AccessTokens(std::string path) : watched_(std::move(path), kTokenFileBytesMax) {}

  std::shared_ptr<const Entries> entries() const;
  // Whether the file had changed.
  absl::StatusOr<bool> Reload();
  void Use(const TokenTable& table);

  mutable RefusedCallers refused_;
  // Touched by one thread at a time: that of Load, then the sweeper's.
  WatchedFile watched_;
  std::optional<std::string> file_;  // As it was used last.
  ReloadReport report_{"tokens_not_reloaded"};
  Quotas quotas_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_;  // Guarded by mutex_.
  std::optional<Sweeper> sweeper_;          // Last: it ends before what it uses.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TENANTS_ACCESS_TOKENS_H_
