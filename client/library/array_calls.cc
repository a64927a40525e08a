#include "client/library/array_calls.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kElementBytesMax = 8;
// Of a request, beside arrays and what grows with the question.
constexpr uint64_t kFrameBytes = uint64_t{16} << 10;
// Twice what a stream may have waiting, where messages are not smaller.
constexpr uint64_t kAnyStreamMessageBytes = uint64_t{32} << 20;

uint64_t LargestMessage(const ServerLimits& limits, const ClientOptions& options) {
  return std::min(limits.message_bytes_max, static_cast<uint64_t>(options.message_bytes_max));
}

}  // namespace

absl::StatusOr<ServerLimits> ArrayCalls::Limits(const CallOptions& call_options) {
  {
    const absl::MutexLock lock(&mutex_);
    if (limits_) return *limits_;
  }
  const absl::StatusOr<ServerInfo> info = client_.GetServerInfo(call_options);
  if (!info.ok()) return info.status();
  const absl::MutexLock lock(&mutex_);
  limits_ = info->limits;
  return *limits_;
}

absl::StatusOr<uint64_t> ArrayCalls::MessageBytes(const CallOptions& call_options) {
  const absl::StatusOr<ServerLimits> limits = Limits(call_options);
  if (!limits.ok()) return limits.status();
  const uint64_t bytes = std::min(static_cast<uint64_t>(transport_.options().write_chunk_bytes),
                                  limits->array_chunk_bytes_max);
  if (bytes < kElementBytesMax) {
    return absl::InternalError(absl::StrCat("the server takes messages of ", bytes,
                                            " bytes, which not every element fits in"));
  }
  return bytes;
}

bool FitsMessage(uint64_t request_bytes, uint64_t answer_bytes, const ServerLimits& limits,
                 const ClientOptions& options) {
  return std::max(request_bytes, answer_bytes) + kFrameBytes <= LargestMessage(limits, options);
}

uint64_t BytesOf(const Grouping& grouping) {
  const auto* const segments = std::get_if<Segments>(&grouping);
  return segments == nullptr ? 0 : segments->offsets.size() * sizeof(uint64_t);
}

bool TakesAnyStream(const ServerLimits& limits, const ClientOptions& options) {
  return LargestMessage(limits, options) >= kAnyStreamMessageBytes;
}

}  // namespace gridfold::client
