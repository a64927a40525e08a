// Callers that were turned away, for the log and the metrics: each is counted by the reason, and
// logged as the event "caller_refused" with its address, at a bounded rate of each address and of
// all of them. What a caller brought as its token is never logged. Thread-safe.
#ifndef GRIDFOLD_SERVER_TENANTS_REFUSED_CALLERS_H_
#define GRIDFOLD_SERVER_TENANTS_REFUSED_CALLERS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/base/fixed_limits.h"
#include "server/process/line_rate.h"

namespace gridfold::server {

enum class RefusalReason : uint8_t {
  kNoToken,         // The call brings no token.
  kMalformedToken,  // What it brings is not one token of the scheme Bearer.
  kUnknownToken,
  kWrongTenant,  // It names a tenant that is not its token's.
  kNotAdmin,     // It asks for what only an administrator's token allows.
  kQuota,        // Its tenant's requests in flight, or bytes a second, are used up.
};

class RefusedCallers {
 public:
  static constexpr std::array kReasonNames = {"no_token",     "malformed_token", "unknown_token",
                                              "wrong_tenant", "not_admin",       "quota"};

  explicit RefusedCallers(std::function<LineRate::Time()> now = std::chrono::steady_clock::now)
      : now_(std::move(now)), told_at_(now_()) {}

  // `peer` is gRPC's name of the caller's address ("ipv4:10.0.0.1:4711"); `rpc` what it called.
  void Record(RefusalReason reason, const std::string& peer, absl::string_view rpc);

  uint64_t count(RefusalReason reason) const { return counts_[static_cast<size_t>(reason)]; }

  // Logs how many lines were suppressed since the last one of each address, as the event
  // "callers_refused", once in kRefusedSummaryInterval: to be called at least that often.
  void TellSuppressed();
  // Logs the same now, as at the end.
  void TellSuppressedNow();

 private:
  struct Peer {
    LineRate rate{kRefusedLinesOfPeer, kRefusedLinesOfPeerEachSecond};
    uint64_t suppressed = 0;  // Since its last line.
  };

  // Requires `mutex_`. Those that find no place share one.
  Peer& FindPeer(const std::string& address, LineRate::Time now);

  const std::function<LineRate::Time()> now_;
  std::array<std::atomic<uint64_t>, kReasonNames.size()> counts_{};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, Peer> peers_;
  Peer others_;  // Than those that have a place.
  LineRate all_{kRefusedLines, kRefusedLinesEachSecond};
  LineRate::Time told_at_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TENANTS_REFUSED_CALLERS_H_
