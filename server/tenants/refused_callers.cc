#include "server/tenants/refused_callers.h"

#include <algorithm>
#include <vector>

#include "server/process/event_log.h"

namespace gridfold::server {

namespace {

// "ipv4:10.0.0.1" of "ipv4:10.0.0.1:4711": a caller has as many ports as it likes.
std::string AddressOf(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  const bool has_port = peer.starts_with("ipv") && colon > 4;
  return has_port ? peer.substr(0, colon) : peer;
}

void LogSuppressed(absl::string_view address, uint64_t calls) {
  LogEvent(LogLevel::kWarning, "callers_refused", {{"peer", address}, {"calls", calls}});
}

}  // namespace

void RefusedCallers::Record(RefusalReason reason, const std::string& peer, absl::string_view rpc) {
  counts_[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  if (!LogIsEnabled(LogLevel::kWarning)) return;
  uint64_t suppressed = 0;
  {
    const std::lock_guard lock(mutex_);
    const LineRate::Time now = now_();
    Peer& caller = FindPeer(AddressOf(peer), now);
    if (!caller.rate.Admit(now) || !all_.Admit(now)) {
      ++caller.suppressed;
      return;
    }
    suppressed = std::exchange(caller.suppressed, 0);
  }
  LogEvent(LogLevel::kWarning, "caller_refused",
           {{"reason", kReasonNames[static_cast<size_t>(reason)]},
            {"peer", peer},
            {"rpc", rpc},
            {"suppressed", suppressed}});
}

RefusedCallers::Peer& RefusedCallers::FindPeer(const std::string& address, LineRate::Time now) {
  if (const auto found = peers_.find(address); found != peers_.end()) return found->second;
  if (peers_.size() == kRefusedPeersMax) {
    std::erase_if(peers_, [&](const auto& entry) {
      return entry.second.suppressed == 0 && entry.second.rate.IsRested(now);
    });
  }
  return peers_.size() < kRefusedPeersMax ? peers_[address] : others_;
}

void RefusedCallers::TellSuppressed() {
  {
    const std::lock_guard lock(mutex_);
    if (now_() - told_at_ < kRefusedSummaryInterval) return;
  }
  TellSuppressedNow();
}

void RefusedCallers::TellSuppressedNow() {
  std::vector<std::pair<uint64_t, std::string>> told;
  uint64_t rest = 0;
  {
    const std::lock_guard lock(mutex_);
    told_at_ = now_();
    rest = std::exchange(others_.suppressed, 0);
    for (auto& [address, peer] : peers_) {
      if (peer.suppressed > 0) told.emplace_back(std::exchange(peer.suppressed, 0), address);
    }
  }
  std::sort(told.rbegin(), told.rend());
  while (told.size() > kRefusedSummaryLinesMax) {
    rest += told.back().first;
    told.pop_back();
  }
  for (const auto& [calls, address] : told) LogSuppressed(address, calls);
  if (rest > 0) LogSuppressed("others", rest);
}

}  // namespace gridfold::server
