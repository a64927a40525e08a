// Shared-memory regions by tenant and name: memory of callers on this host that jobs read and write
// in place.
//
// A job that works on a region holds a lease on it, and a region that is leased does not expire.
// When a region is unregistered, expires, or loses the process that owns it, new requests no longer
// find it. The store's own thread releases its memory when the last lease has ended; its room is
// counted until then.
//
// Bounds: regions and their bytes, of all tenants together, by Limits. Knows neither gRPC nor CUDA.
// Thread-safe. Must outlive its leases.
//
// Errors, each with a reason of base/error_reason.h: NOT_FOUND; ALREADY_EXISTS; RESOURCE_EXHAUSTED,
// with a retry delay unless the region is larger than the bound; FAILED_PRECONDITION for a region
// that has lost memory.
#ifndef GRIDFOLD_SERVER_REGIONS_REGION_STORE_H_
#define GRIDFOLD_SERVER_REGIONS_REGION_STORE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "server/base/job_clock.h"
#include "server/base/limits.h"
#include "server/base/sweeper.h"
#include "server/process/audit_log.h"
#include "server/regions/owner_process.h"
#include "server/regions/region_info.h"
#include "server/regions/shared_mapping.h"

namespace gridfold::server {

class RegionStore;

// Where a region's memory is: an object by its name (ValidateObjectName), or memory of a device.
using RegionSource = std::variant<std::string, kernels::IpcHandle>;

struct NewRegion {
  std::string name;         // Empty: chosen by the store.
  uint64_t size_bytes = 0;  // At least 1.
  RegionSource source;
  uint32_t device = 0;  // Of device memory: the engine's place in the store's list.
  std::chrono::nanoseconds idle_expiry{0};
  std::optional<OwnerProcess> owner;
};

// A region's memory and its lifetime. Created by RegionStore::Register, and shared as RegionLease.
class StoredRegion {
 public:
  // The memory's share of the store's room.
  class Room {
   public:
    Room(RegionStore& store, uint64_t size_bytes) : store_(store), size_bytes_(size_bytes) {}
    ~Room();
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    uint64_t size_bytes() const { return size_bytes_; }

   private:
    RegionStore& store_;
    const uint64_t size_bytes_;
  };

  StoredRegion(RegionStore& store, const NewRegion& region, std::unique_ptr<Room> room);
  StoredRegion(const StoredRegion&) = delete;
  StoredRegion& operator=(const StoredRegion&) = delete;

  kernels::MutableResidentSpan span() const { return memory_->span(); }

  // The engine that device memory belongs to, as an index of the store's list; none for host
  // memory, which every engine can use.
  std::optional<uint32_t> engine() const { return engine_; }

  // FAILED_PRECONDITION once memory of the region is found missing.
  absl::Status Check() const;

  // The same, after a job; also notes that the region was in use until now.
  absl::Status EndUse() const;

  // Whether the bytes `span` of this region are also bytes of `other`.
  bool Overlaps(const kernels::ResidentSpan& span, const StoredRegion& other,
                const kernels::ResidentSpan& other_span) const;

 private:
  friend class RegionStore;

  absl::Status Open(const std::vector<kernels::Engine*>& engines, const NewRegion& region);

  RegionStore& store_;
  const std::chrono::nanoseconds idle_expiry_;
  const std::optional<OwnerProcess> owner_;
  // Released in the opposite order.
  const std::unique_ptr<Room> room_;
  std::unique_ptr<SharedMapping> mapping_;  // None of device memory.
  std::unique_ptr<kernels::ExternalMemory> memory_;
  std::optional<uint32_t> engine_;
  mutable std::atomic<JobClock::time_point> last_used_;
  mutable std::atomic<bool> is_abandoned_ = false;  // The owner has ended.
};
using RegionLease = std::shared_ptr<const StoredRegion>;

// A page of a tenant's regions, sorted by name.
struct RegionPage {
  std::vector<RegionInfo> regions;
  bool is_last = true;
};

// What the regions of all tenants use now.
struct RegionStoreStatistics {
  uint64_t region_count = 0;
  uint64_t taken_bytes = 0;  // Of regions that are unregistered but leased as well.
};

class RegionStore {
 public:
  // The engines, at least one, must outlive the store; `now` is the clock for idle times.
  RegionStore(std::vector<kernels::Engine*> engines, const Limits& limits,
              std::function<JobClock::time_point()> now = JobClock::now);
  ~RegionStore();

  // Opens a region's memory and names it. Takes time in proportion to its size. Further errors:
  // those of SharedMapping::Open and of the engine.
  absl::StatusOr<RegionInfo> Register(const std::string& tenant, NewRegion region);

  // ALREADY_EXISTS where Register would return it now.
  absl::Status CheckVacant(const std::string& tenant, const std::string& name) const;

  // Counts as use.
  absl::StatusOr<RegionLease> Find(const std::string& tenant, const std::string& name) const;

  // Up to `count_max` regions whose names come after `after`.
  RegionPage List(const std::string& tenant, const std::string& after, uint64_t count_max) const;

  absl::Status Remove(const std::string& tenant, const std::string& name);

  RegionStoreStatistics GetStatistics() const;

  // Releases regions that have expired, were abandoned or removed, and are not leased. Runs once a
  // second and after Remove. Returns when every concurrent call has done so too.
  void Sweep();

 private:
  friend class StoredRegion;

  // Tenant and name.
  using Key = std::pair<std::string, std::string>;

  absl::StatusOr<std::unique_ptr<StoredRegion::Room>> TakeRoom(uint64_t size_bytes);
  void GiveBackRoom(uint64_t size_bytes);
  void FindAbandoned();

  // These require `mutex_`.
  const RegionLease* FindRegion(const Key& key) const;
  bool IsGone(const RegionLease& region) const;
  void RemoveGone();
  std::string ChooseName(const std::string& tenant);
  RegionInfo Describe(const std::string& name, const StoredRegion& region) const;

  const std::vector<kernels::Engine*> engines_;
  const uint64_t region_count_max_;
  const uint64_t region_bytes_max_;
  const std::function<JobClock::time_point()> now_;

  std::mutex sweep_mutex_;  // Taken before mutex_.
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  uint64_t taken_count_ = 0;  // Of regions that are leaving as well.
  uint64_t taken_bytes_ = 0;
  std::random_device random_;
  std::map<Key, RegionLease> regions_;
  std::vector<RegionLease> leaving_;  // Without a name, perhaps still leased.

  Sweeper sweeper_;  // Last: it ends before what it uses.
};

// The store as one tenant sees it. Cheap to copy.
class TenantRegions {
 public:
  TenantRegions() = default;
  // `notes`, where there are some, are told the regions that are asked for by name.
  TenantRegions(RegionStore* store, std::string tenant, std::shared_ptr<AuditNotes> notes = nullptr)
      : store_(store), tenant_(std::move(tenant)), notes_(std::move(notes)) {}

  // FAILED_PRECONDITION where regions are off.
  absl::Status CheckAllowed() const;

  absl::StatusOr<RegionInfo> Register(NewRegion region) const;
  absl::Status CheckVacant(const std::string& name) const;
  absl::StatusOr<RegionLease> Find(const std::string& name) const;
  absl::StatusOr<RegionPage> List(const std::string& after, uint64_t count_max) const;
  absl::Status Remove(const std::string& name) const;

 private:
  void Note(const std::string& name) const {
    if (notes_ != nullptr) notes_->AddObject("region", name);
  }

  RegionStore* store_ = nullptr;
  std::string tenant_;
  std::shared_ptr<AuditNotes> notes_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_REGIONS_REGION_STORE_H_
