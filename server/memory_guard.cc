#include "server/memory_guard.h"

#include <algorithm>

#include "server/event_log.h"
#include "server/limits.h"
#include "server/open_connections.h"
#include "server/process_statistics.h"

namespace gridfold::server {

MemoryGuard::MemoryGuard(uint64_t memory_bytes_max, int port)
    : memory_bytes_max_(memory_bytes_max),
      growth_bytes_(memory_bytes_max / kMemoryGrowthPart),
      port_(port),
      sweeper_([this] { Look(); }, kMemoryCheckInterval) {}

void MemoryGuard::Look() {
  const uint64_t bytes = ProcessPrivateBytes();
  NoteShortage(bytes);
  if (!is_short_) return;
  ObserveConnections();
  // Who does not make it grow is not to pay for what others took.
  lowest_bytes_ = std::min(lowest_bytes_, bytes);
  if (bytes - lowest_bytes_ < growth_bytes_) return;
  const std::vector<Silence> suspects = MostSuspect();
  if (suspects.empty()) return;
  lowest_bytes_ = bytes;
  Close(suspects);
}

// A little less is no end of it yet, or it would begin and end all the time.
void MemoryGuard::NoteShortage(uint64_t bytes) {
  if (!is_short_ && bytes > memory_bytes_max_) {
    is_short_ = true;
    lowest_bytes_ = bytes;
    LogEvent(LogLevel::kWarning, "memory_short", {{"bytes", bytes}, {"most", memory_bytes_max_}});
  } else if (is_short_ && bytes <= memory_bytes_max_ - growth_bytes_) {
    is_short_ = false;
    silences_.clear();
    LogEvent(LogLevel::kWarning, "memory_suffices", {{"bytes", bytes}});
  }
}

void MemoryGuard::ObserveConnections() {
  Silences before;
  before.swap(silences_);
  for (const OpenConnection& connection : OpenConnections(port_)) {
    Silence silence = {.descriptor = connection.descriptor,
                       .sent_bytes = connection.sent_bytes,
                       .received_bytes_before = connection.received_bytes};
    const auto known = before.find(connection.cookie);
    if (known != before.end() && known->second.sent_bytes == silence.sent_bytes) {
      silence.received_bytes_before = known->second.received_bytes_before;
    }
    silence.received_bytes = connection.received_bytes - silence.received_bytes_before;
    silences_[connection.cookie] = silence;
  }
}

// Those that received most and have half of all together: however many there are, few looks are
// needed. Not those with so little that, if all who sent had as much, memory would but double.
std::vector<MemoryGuard::Silence> MemoryGuard::MostSuspect() const {
  std::vector<Silence> senders;
  uint64_t all_bytes = 0;
  for (const auto& [cookie, silence] : silences_) {
    if (silence.received_bytes > 0) senders.push_back(silence);
    all_bytes += silence.received_bytes;
  }
  std::ranges::sort(senders, std::ranges::greater(), &Silence::received_bytes);
  const uint64_t little = memory_bytes_max_ / kMemoryPerHeaderByte / (senders.size() + 1);
  std::vector<Silence> suspects;
  uint64_t bytes = 0;
  for (const Silence& sender : senders) {
    if (bytes >= all_bytes / 2 || sender.received_bytes <= little) break;
    bytes += sender.received_bytes;
    suspects.push_back(sender);
  }
  return suspects;
}

void MemoryGuard::Close(const std::vector<Silence>& suspects) {
  uint64_t bytes = 0;
  for (const Silence& suspect : suspects) {
    AbortConnection(suspect.descriptor);
    bytes += suspect.received_bytes;
  }
  LogEvent(LogLevel::kWarning, "connections_closed",
           {{"count", suspects.size()},
            {"received_bytes", bytes},
            {"note", "memory was short, and grew while they sent"}});
}

}  // namespace gridfold::server
