#include "client/library/region_pool.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "client/library/array_route.h"
#include "client/library/part_run.h"
#include "gridfold/error_details.h"

namespace gridfold::client {
namespace {

// What is kept in all. A region for each of the most calls of one array, and twice as much.
constexpr uint32_t kKeptPartsMax = 2 * kStreamCountMax;
constexpr uint64_t kKeptBytesMax = uint64_t{kKeptPartsMax} * kRegionPartBytes;
// Small arrays that go with their requests before others are shared. A region takes a millisecond
// or two to make, and saves half of one for each MiB.
constexpr uint64_t kFirstSmallArrays = 2;
// What one thread copies at a time.
constexpr uint64_t kCopyBytes = uint64_t{8} << 20;

// Whether a registration that failed so may succeed another time.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status) || IsRefusedForNow(status);
}

}  // namespace

RegionPool::~RegionPool() {
  std::vector<SharedRegion> kept;
  {
    const absl::MutexLock lock(&mutex_);
    kept.swap(kept_);
  }
  (void)RunParts(kept.size(), kStreamCountMax, {},
                 [&](size_t part, size_t /*worker*/, const StopRequest& /*is_stopped*/) {
                   const SharedRegion ended = std::move(kept[part]);
                   return absl::OkStatus();
                 });
}

bool RegionPool::Works(const ServerLimits& limits, const CallOptions& options) {
  if (limits.region_count_max == 0) return false;
  {
    const absl::MutexLock lock(&mutex_);
    if (works_) return *works_;
  }
  absl::StatusOr<SharedRegion> region = Take(RegionBytes(kRegionPartBytes), options);
  if (!region.ok()) return false;
  Keep(*std::move(region));
  return true;
}

bool RegionPool::IsForSmallArrays() {
  return small_arrays_++ >= kFirstSmallArrays && borrowers_ < kKeptPartsMax;
}

std::optional<SharedRegion> RegionPool::TakeKept(uint64_t size_bytes) {
  const absl::MutexLock lock(&mutex_);
  const auto fits = std::find_if(kept_.begin(), kept_.end(), [&](const SharedRegion& region) {
    return region.bytes().size() >= size_bytes;
  });
  if (fits == kept_.end()) return std::nullopt;
  SharedRegion region = std::move(*fits);
  kept_.erase(fits);
  return region;
}

absl::StatusOr<SharedRegion> RegionPool::Take(uint64_t size_bytes, const CallOptions& options) {
  if (std::optional<SharedRegion> region = TakeKept(size_bytes)) return *std::move(region);
  return Create(size_bytes, options);
}

absl::StatusOr<SharedRegion> RegionPool::Create(uint64_t size_bytes, const CallOptions& options) {
  absl::StatusOr<SharedRegion> region =
      SharedRegion::Create(client_, {.size_bytes = size_bytes}, options);
  if (region.ok() || !MayPass(region.status())) {
    const absl::MutexLock lock(&mutex_);
    works_ = region.ok();
  }
  return region;
}

void RegionPool::Keep(SharedRegion region) {
  // Unregisters what is not kept, behind the lock.
  std::optional<SharedRegion> surplus;
  const absl::MutexLock lock(&mutex_);
  uint64_t kept_bytes = region.bytes().size();
  for (const SharedRegion& other : kept_) kept_bytes += other.bytes().size();
  if (kept_bytes > kKeptBytesMax) {
    surplus.emplace(std::move(region));
  } else {
    kept_.push_back(std::move(region));
  }
}

void RegionPool::GiveUp() {
  const absl::MutexLock lock(&mutex_);
  works_ = false;
}

BorrowedRegion::~BorrowedRegion() {
  if (region_) pool_.Keep(*std::move(region_));
  --pool_.borrowers_;
}

absl::Status BorrowedRegion::Take(const CallOptions& options) {
  if (region_) return absl::OkStatus();
  absl::StatusOr<SharedRegion> region = pool_.Take(size_bytes_, options);
  if (region.ok()) region_.emplace(*std::move(region));
  return region.status();
}

absl::Status BorrowedRegion::Replace(const CallOptions& options) {
  region_.reset();
  absl::StatusOr<SharedRegion> region = pool_.Create(size_bytes_, options);
  if (region.ok()) region_.emplace(*std::move(region));
  return region.status();
}

bool BorrowedRegion::IsLost(const absl::Status& status) const {
  const std::string reason = ErrorReason(status).value_or("");
  // The caller may have named regions of its own beside this one.
  if (reason == "REGION_NOT_FOUND") return absl::StrContains(status.message(), region_->name());
  return absl::StartsWith(reason, "REGION");
}

void BorrowedRegion::GiveUp() {
  region_.reset();
  pool_.GiveUp();
}

RegionSlice CopyInto(const SharedRegion& region, const ArrayView& array, size_t thread_count,
                     uint64_t& offset_bytes) {
  offset_bytes =
      (offset_bytes + kRegionAlignmentBytes - 1) / kRegionAlignmentBytes * kRegionAlignmentBytes;
  const std::span<const std::byte> from = array.bytes();
  std::byte* const to = region.bytes().data() + offset_bytes;
  const size_t part_count = (from.size() + kCopyBytes - 1) / kCopyBytes;
  (void)RunParts(part_count, thread_count, {},
                 [&](size_t part, size_t /*worker*/, const StopRequest& /*is_stopped*/) {
                   const uint64_t begin = part * kCopyBytes;
                   std::memcpy(to + begin, from.data() + begin,
                               std::min<uint64_t>(kCopyBytes, from.size() - begin));
                   return absl::OkStatus();
                 });
  const std::span<const uint64_t> shape = array.shape();
  const uint64_t offset = std::exchange(offset_bytes, offset_bytes + from.size());
  const bool has_no_shape = shape.empty() && !array.is_zero_dimensional();
  return region.Slice(array.element_type(),
                      has_no_shape ? std::vector<uint64_t>{array.element_count()}
                                   : std::vector<uint64_t>(shape.begin(), shape.end()),
                      offset);
}

}  // namespace gridfold::client
