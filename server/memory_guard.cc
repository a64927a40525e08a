#include "server/memory_guard.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "server/event_log.h"
#include "server/limits.h"
#include "server/process_statistics.h"

namespace gridfold::server {

namespace {

std::vector<int> OpenDescriptors() {
  std::vector<int> descriptors;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    int descriptor = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &descriptor)) {
      descriptors.push_back(descriptor);
    }
  }
  return descriptors;
}

// 0 where the descriptor is no socket's.
uint64_t CookieOf(int descriptor) {
  uint64_t cookie = 0;
  socklen_t size = sizeof(cookie);
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

// TCP_ESTABLISHED of <netinet/tcp.h>, whose tcp_info says less than that of Linux.
constexpr uint8_t kEstablished = 1;

// None of a descriptor that is no connection's, or of one that has ended.
std::optional<tcp_info> TcpInfoOf(int descriptor) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  // Linux before 4.19 does not say what was sent.
  const bool is_whole = size >= offsetof(tcp_info, tcpi_bytes_sent) + sizeof(info.tcpi_bytes_sent);
  if (!is_whole || info.tcpi_state != kEstablished) return std::nullopt;
  return info;
}

bool CameTo(int descriptor, int port) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  const in_port_t own = address.ss_family == AF_INET6
                            ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                            : reinterpret_cast<const sockaddr_in&>(address).sin_port;
  return ntohs(own) == port;
}

// Ends a connection whose descriptor stays gRPC's, which finds it ended. Unlike after shutdown,
// bytes that have arrived are not read any more.
void Abort(int descriptor) {
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  connect(descriptor, &nobody, sizeof(nobody));
}

}  // namespace

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
  for (const int descriptor : OpenDescriptors()) {
    const uint64_t cookie = CookieOf(descriptor);
    const std::optional<tcp_info> info = cookie == 0 ? std::nullopt : TcpInfoOf(descriptor);
    if (!info || !CameTo(descriptor, port_)) continue;
    Silence silence = {.descriptor = descriptor,
                       .sent_bytes = info->tcpi_bytes_sent,
                       .received_bytes_before = info->tcpi_bytes_received};
    const auto known = before.find(cookie);
    if (known != before.end() && known->second.sent_bytes == silence.sent_bytes) {
      silence.received_bytes_before = known->second.received_bytes_before;
    }
    silence.received_bytes = info->tcpi_bytes_received - silence.received_bytes_before;
    silences_[cookie] = silence;
  }
}

// Those that received most and have half of all together: however many there are, few looks are
// needed. Not those with so little that, if all who sent had as much, memory would but double.
std::vector<MemoryGuard::Silence> MemoryGuard::MostSuspect() const {
  std::vector<Silence> suspects;
  uint64_t all_bytes = 0;
  for (const auto& [cookie, silence] : silences_) {
    if (silence.received_bytes > 0) suspects.push_back(silence);
    all_bytes += silence.received_bytes;
  }
  std::ranges::sort(suspects, std::ranges::greater(), &Silence::received_bytes);
  const uint64_t little = memory_bytes_max_ / kMemoryPerHeaderByte / (suspects.size() + 1);
  uint64_t bytes = 0;
  const auto end = std::ranges::find_if(suspects, [&](const Silence& suspect) {
    const bool is_enough = bytes >= all_bytes / 2 || suspect.received_bytes <= little;
    bytes += suspect.received_bytes;
    return is_enough;
  });
  suspects.erase(end, suspects.end());
  return suspects;
}

void MemoryGuard::Close(const std::vector<Silence>& suspects) {
  uint64_t bytes = 0;
  for (const Silence& suspect : suspects) {
    Abort(suspect.descriptor);
    bytes += suspect.received_bytes;
  }
  LogEvent(LogLevel::kWarning, "connections_closed",
           {{"count", suspects.size()},
            {"received_bytes", bytes},
            {"note", "memory was short, and grew while they sent"}});
}

}  // namespace gridfold::server
