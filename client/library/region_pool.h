// Shared memory by which arrays go to a server on this host, kept from call to call.
#ifndef GRIDFOLD_CLIENT_LIBRARY_REGION_POOL_H_
#define GRIDFOLD_CLIENT_LIBRARY_REGION_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "gridfold/client.h"
#include "gridfold/shared_region.h"

namespace gridfold::client {

// Thread-safe.
class RegionPool {
 public:
  // `client` must outlive the pool.
  explicit RegionPool(Client& client) : client_(client) {}
  // Unregisters all that are kept at the same time: each is a call to the server.
  ~RegionPool();
  RegionPool(const RegionPool&) = delete;
  RegionPool& operator=(const RegionPool&) = delete;

  // Whether the server sees this process's memory. That is proved, and not concluded from an
  // address: memory with a name that nobody could know is registered with the server, which cannot
  // map it unless it is on this host and allowed to. Tried once, where the server allows regions.
  bool Works(const ServerLimits& limits, const CallOptions& options);

  // Whether an array that is no larger than a part goes by a region, which the caller asks once a
  // call. Not those of the first calls: a client that makes no others would wait longer for the
  // region than it gains. Nor beside so many calls with regions that not all of these are kept.
  bool IsForSmallArrays();

  // A region of at least `size_bytes`, one that is kept or a new one. The server may have lost one
  // that is kept. Errors: those of Create.
  absl::StatusOr<SharedRegion> Take(uint64_t size_bytes, const CallOptions& options);

  // A new region. Errors: those of SharedRegion::Create; where time does not heal them, Works is
  // false from then on.
  absl::StatusOr<SharedRegion> Create(uint64_t size_bytes, const CallOptions& options);

  // Keeps a region for Take, unless enough are kept.
  void Keep(SharedRegion region);

  // Works is false from now on.
  void GiveUp();

 private:
  friend class BorrowedRegion;

  std::optional<SharedRegion> TakeKept(uint64_t size_bytes);

  Client& client_;
  std::atomic<uint64_t> small_arrays_ = 0;  // That were asked about.
  std::atomic<uint32_t> borrowers_ = 0;
  absl::Mutex mutex_;
  std::optional<bool> works_ ABSL_GUARDED_BY(mutex_);
  std::vector<SharedRegion> kept_ ABSL_GUARDED_BY(mutex_);
};

// A region of the pool for calls one after another, given back when this is destroyed. Not
// thread-safe.
class BorrowedRegion {
 public:
  // Of at least `size_bytes`. `pool` must outlive this.
  BorrowedRegion(RegionPool& pool, uint64_t size_bytes) : pool_(pool), size_bytes_(size_bytes) {
    ++pool_.borrowers_;
  }
  ~BorrowedRegion();
  BorrowedRegion(const BorrowedRegion&) = delete;
  BorrowedRegion& operator=(const BorrowedRegion&) = delete;

  // Calls `use(region)`, whose result is a StatusOr. The server may have lost a region, when it has
  // been idle for too long or another server has taken the first one's place: then `use` is called
  // again with a new region, since the others that are kept are likely lost too. Errors: those of
  // `use` and of RegionPool::Create.
  template <typename Use>
  auto Run(const CallOptions& options, Use use) -> decltype(use(std::declval<SharedRegion&>())) {
    if (const absl::Status status = Take(options); !status.ok()) return status;
    auto result = use(*region_);
    if (!IsLost(result.status())) return result;
    if (const absl::Status status = Replace(options); !status.ok()) return status;
    result = use(*region_);
    if (IsLost(result.status())) GiveUp();
    return result;
  }

  // Whether there was no region to be had in the last Run.
  bool is_missing() const { return !region_; }

 private:
  absl::Status Take(const CallOptions& options);
  absl::Status Replace(const CallOptions& options);
  bool IsLost(const absl::Status& status) const;
  void GiveUp();

  RegionPool& pool_;
  const uint64_t size_bytes_;
  std::optional<SharedRegion> region_;
};

// Copies the array to `offset_bytes` of the region, or behind it where its elements are not aligned
// there, and moves `offset_bytes` behind it. With `thread_count` threads.
RegionSlice CopyInto(const SharedRegion& region, const ArrayView& array, size_t thread_count,
                     uint64_t& offset_bytes);

// Of a region, for each array that is copied into it: what alignment may take.
inline constexpr uint64_t kRegionAlignmentBytes = 64;

// What a region must hold for the arrays of a call, of so many bytes together.
constexpr uint64_t RegionBytes(uint64_t array_bytes) {
  constexpr uint64_t kArraysMax = 3;
  return array_bytes + kArraysMax * kRegionAlignmentBytes;
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_REGION_POOL_H_
