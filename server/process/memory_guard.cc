#include "server/process/memory_guard.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"

namespace gridfold::server {

MemoryGuard::MemoryGuard(uint64_t memory_bytes_max, MemoryGuardSources sources)
    : memory_bytes_max_(memory_bytes_max),
      growth_bytes_(memory_bytes_max / kMemoryGrowthPart),
      sources_(std::move(sources)) {}

void MemoryGuard::Look() {
  const uint64_t bytes = sources_.memory_bytes();
  NoteShortage(bytes);
  if (!is_short_) return;
  ObserveConnections();
  ++patient_looks_;
  lowest_bytes_ = std::min(lowest_bytes_, bytes);
  std::vector<Holder> suspects;
  const uint64_t growth = bytes - lowest_bytes_;
  if (growth >= growth_bytes_) {
    // What calls that were ended still take is no fault of those who hold something.
    const bool is_theirs = growth >= growth_bytes_ + ending_bytes_;
    suspects = MostSuspect(is_theirs ? std::min(growth_bytes_ / 8, kHeldBytesSuspect)
                                     : std::numeric_limits<uint64_t>::max());
  } else if (patient_looks_ >= kMemoryPatienceLooks) {
    // Who holds little does not pay for what others took, or what the server itself needs.
    suspects = MostSuspect(std::min(growth_bytes_, 2 * kHeldBytesSuspect));
  }
  if (suspects.empty()) return;
  lowest_bytes_ = bytes;
  patient_looks_ = 0;
  Close(suspects);
}

// A little less is no end of it yet, or it would begin and end all the time.
void MemoryGuard::NoteShortage(uint64_t bytes) {
  if (!is_short_ && bytes > memory_bytes_max_) {
    is_short_ = true;
    lowest_bytes_ = bytes;
    ending_bytes_ = 0;
    patient_looks_ = 0;
    LogEvent(LogLevel::kWarning, "memory_short", {{"bytes", bytes}, {"most", memory_bytes_max_}});
  } else if (is_short_ && bytes <= memory_bytes_max_ - growth_bytes_) {
    is_short_ = false;
    holders_.clear();
    LogEvent(LogLevel::kWarning, "memory_suffices", {{"bytes", bytes}});
  }
}

void MemoryGuard::ObserveConnections() {
  Holders before;
  before.swap(holders_);
  for (const ConnectionLoad& load : sources_.connections()) {
    Holder holder = {.descriptor = load.descriptor, .sent_bytes = load.sent_bytes};
    const auto known = before.find(load.cookie);
    if (known != before.end() && known->second.sent_bytes == load.sent_bytes) {
      holder.received_bytes_before = known->second.received_bytes_before;
      holder.is_known = true;
    } else if (load.sent_bytes > kGreetingBytesMax) {
      holder.received_bytes_before = load.received_bytes;
    }
    holder.header_bytes =
        (load.received_bytes - holder.received_bytes_before) * kMemoryPerHeaderByte;
    holder.held_bytes = load.calls * kIdleCallBytes;
    if (holder.is_known) holder.held_bytes += load.answer_bytes;
    holders_[load.cookie] = holder;
  }
}

// The holders that hold most and have half of all together: however many there are, few looks are
// needed. Headers are a guess: those who sent so few that, if all who sent any had as much, memory
// would but double, are not among them.
std::vector<MemoryGuard::Holder> MemoryGuard::MostSuspect(uint64_t held_bytes_min) const {
  std::vector<Holder> holders;
  uint64_t senders = 0;  // Of more than whoever connects says.
  uint64_t all_bytes = 0;
  for (const auto& [cookie, holder] : holders_) {
    holders.push_back(holder);
    if (holder.header_bytes > kGreetingBytesMax * kMemoryPerHeaderByte) ++senders;
    all_bytes += holder.bytes();
  }
  std::ranges::sort(holders, std::ranges::greater(), &Holder::bytes);
  const uint64_t header_bytes_min = memory_bytes_max_ / (senders + 1);
  std::vector<Holder> suspects;
  uint64_t bytes = 0;
  for (const Holder& holder : holders) {
    if (bytes >= all_bytes / 2) break;
    bytes += holder.bytes();
    if (holder.header_bytes > header_bytes_min || holder.held_bytes > held_bytes_min) {
      suspects.push_back(holder);
    }
  }
  return suspects;
}

void MemoryGuard::Close(const std::vector<Holder>& suspects) {
  uint64_t bytes = 0;
  for (const Holder& suspect : suspects) {
    sources_.close(suspect.descriptor);
    bytes += suspect.bytes();
    ending_bytes_ += kEndingPerHeaderMemory * suspect.header_bytes;
  }
  LogEvent(LogLevel::kWarning, "connections_closed",
           {{"count", suspects.size()},
            {"held_bytes", bytes},
            {"note", "memory was short, and they held most of it"}});
}

}  // namespace gridfold::server
