// Resident arrays by tenant and name: their owners, the room that they take, and their expiry.
//
// Each engine has a pool. An array lies in one of them, where only that engine can use it; a new
// one goes to the pool with the most room unless the caller names an engine. Or it is sharded:
// consecutive ranges of its elements lie in the pools of several engines. AllocateSharded makes all
// but the last ones of the same size: where they end follows from the array's shape and the number
// of engines alone, so that arrays of one shape are cut alike. AllocateLike cuts as another array,
// or a slice of one, is cut.
//
// A job that works on an array holds a lease on it, and an array that is leased does not expire.
// When an array is deleted or expires, new requests no longer find it; its memory is released when
// the last lease ends, and its room is counted until then.
//
// Bounds: the arrays of an engine by its pool, those of a tenant and the number of arrays by
// Limits. Knows neither gRPC nor CUDA. Thread-safe. Must outlive its leases.
//
// Errors, each with a reason of base/error_reason.h: NOT_FOUND; ALREADY_EXISTS; RESOURCE_EXHAUSTED,
// with a retry delay unless the array is larger than a bound.
#ifndef GRIDFOLD_SERVER_ARRAYS_ARRAY_STORE_H_
#define GRIDFOLD_SERVER_ARRAYS_ARRAY_STORE_H_

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
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/resident_memory.h"
#include "kernels/contract/shape.h"
#include "server/arrays/array_info.h"
#include "server/base/job_clock.h"
#include "server/base/limits.h"
#include "server/process/audit_log.h"

namespace gridfold::server {

class ArrayStore;

// An array's memory and description. Created by ArrayStore::Allocate, and shared as ArrayLease.
class StoredArray {
 public:
  StoredArray(ArrayStore& store, std::string tenant, const kernels::ShapedArray& description);
  StoredArray(const StoredArray&) = delete;
  StoredArray& operator=(const StoredArray&) = delete;
  ~StoredArray();

  const kernels::ShapedArray& description() const { return description_; }
  // All elements, in their order; one shard, or several with some elements each.
  const std::vector<ArrayShard>& shards() const { return shards_; }
  bool is_sharded() const { return shards_.size() > 1; }
  // Of the first shard, which is the only one unless the array is sharded.
  uint32_t engine() const { return shards_.front().engine; }
  kernels::MutableResidentSpan span() const { return shards_.front().span; }

  // Says that the array is in use now. For holders that take long.
  void MarkUsed() const;

 private:
  friend class ArrayStore;

  ArrayStore& store_;
  const std::string tenant_;
  const kernels::ShapedArray description_;
  std::vector<ArrayShard> shards_;
  std::vector<std::unique_ptr<kernels::ResidentMemory>> memory_;  // Of each shard.
  mutable std::atomic<JobClock::time_point> last_used_;
};
using ArrayLease = std::shared_ptr<const StoredArray>;

// NOT_FOUND, for an array that has meanwhile disappeared.
absl::Status ArrayDeleted();

struct FoundArray {
  ArrayInfo info;
  ArrayLease lease;
};

// A page of a tenant's arrays, sorted by name.
struct ArrayPage {
  std::vector<ArrayInfo> arrays;
  bool is_last = true;
};

// What the arrays of all tenants use now.
struct ArrayStoreStatistics {
  uint64_t array_count = 0;
  uint64_t taken_bytes = 0;  // Of arrays that are deleted but leased as well.
  std::vector<uint64_t> taken_bytes_by_engine;
};

class ArrayStore {
 public:
  // `now` is the clock of idle times. Requires a pool of Limits::resident_bytes_max for each of
  // Limits::engine_count engines.
  ArrayStore(std::vector<std::unique_ptr<kernels::ResidentPool>> pools, const Limits& limits,
             std::function<JobClock::time_point()> now = JobClock::now);
  // With one engine.
  ArrayStore(std::unique_ptr<kernels::ResidentPool> pool, const Limits& limits,
             std::function<JobClock::time_point()> now = JobClock::now);
  ~ArrayStore();

  // Memory for an array that nobody can see until Insert, of `engine` or, where it is none, of
  // EngineWithMostRoom; content unspecified. `tenant_bytes_max` bounds what the tenant may have
  // where it is less than the bound of Limits; 0: no bound of its own. Requires that the array's
  // size fits in 63 bits.
  absl::StatusOr<ArrayLease> Allocate(const std::string& tenant,
                                      const kernels::ShapedArray& description,
                                      std::optional<uint32_t> engine = std::nullopt,
                                      uint64_t tenant_bytes_max = 0);

  // The same on all engines that are not closed: as many elements, or rows, on each as make their
  // number even, or multiples of kShardUnitElements. Small arrays take fewer engines, or one.
  absl::StatusOr<ArrayLease> AllocateSharded(const std::string& tenant,
                                             const kernels::ShapedArray& description,
                                             uint64_t tenant_bytes_max = 0);

  // With shards on the same engines, and of as many elements, as these.
  absl::StatusOr<ArrayLease> AllocateLike(const std::string& tenant,
                                          const kernels::ShapedArray& description,
                                          const std::vector<ArrayShard>& shards,
                                          uint64_t tenant_bytes_max = 0);

  // The first of equals. Never a closed one unless all are.
  uint32_t EngineWithMostRoom() const;

  // New arrays go elsewhere from now on, unless it is said that they go there.
  void CloseEngine(uint32_t engine);

  // Gives an array of Allocate its name, which the store chooses where it is empty.
  absl::StatusOr<ArrayInfo> Insert(const std::string& tenant, std::string name,
                                   std::chrono::nanoseconds idle_expiry, ArrayLease array);

  // ALREADY_EXISTS or RESOURCE_EXHAUSTED where Insert would fail now.
  absl::Status CheckVacant(const std::string& tenant, const std::string& name);

  // Counts as use.
  absl::StatusOr<FoundArray> Find(const std::string& tenant, const std::string& name);

  // Does not count as use.
  absl::StatusOr<ArrayInfo> Get(const std::string& tenant, const std::string& name);

  // Up to `count_max` arrays whose names come after `after`.
  ArrayPage List(const std::string& tenant, const std::string& after, uint64_t count_max);

  absl::Status Remove(const std::string& tenant, const std::string& name);

  ArrayStoreStatistics GetStatistics() const;

  // Deletes what has been idle for too long. Otherwise that happens when it is asked for.
  void RemoveExpired();

 private:
  friend class StoredArray;

  struct Entry {
    std::chrono::nanoseconds idle_expiry{0};
    ArrayLease array;
  };
  struct Pool {
    std::unique_ptr<kernels::ResidentPool> memory;
    // Guarded by mutex_.
    uint64_t taken_bytes = 0;
    bool closed = false;
  };
  struct Tenant {
    std::map<std::string, Entry> arrays;
    uint64_t taken_bytes = 0;  // Of arrays that are deleted but leased as well.

    bool is_idle() const { return arrays.empty() && taken_bytes == 0; }
  };
  // What has left the store is destroyed after its mutex is released, since StoredArray takes it.
  using Removed = std::vector<ArrayLease>;

  // Where an array is to be; asked for again where the first places have no room.
  using PlaceShards = absl::FunctionRef<std::vector<ArrayShard>()>;

  absl::StatusOr<ArrayLease> Allocate(const std::string& tenant,
                                      const kernels::ShapedArray& description,
                                      uint64_t tenant_bytes_max, PlaceShards place);
  absl::StatusOr<ArrayLease> TryAllocate(const std::string& tenant,
                                         const kernels::ShapedArray& description,
                                         std::vector<ArrayShard> shards, uint64_t tenant_bytes_max);
  absl::Status AddShard(ArrayShard shard, uint64_t tenant_bytes_max, StoredArray& array);
  std::vector<ArrayShard> ShardsOnAll(const kernels::ShapedArray& description) const;
  absl::Status TakeRoom(const std::string& tenant, uint32_t engine, uint64_t size_bytes,
                        uint64_t tenant_bytes_max);
  void GiveBackRoom(const std::string& tenant, uint32_t engine, uint64_t size_bytes);

  // These require `mutex_`.
  Entry* FindEntry(const std::string& tenant, const std::string& name, Removed& removed);
  absl::Status VacancyStatus(const std::string& tenant, const std::string& name, Removed& removed);
  void Erase(Tenant& tenant, std::map<std::string, Entry>::iterator entry, Removed& removed);
  void EraseExpired(Removed& removed);
  static bool IsLeased(const Entry& entry);
  bool IsExpired(const Entry& entry) const;
  ArrayInfo Describe(const std::string& name, const Entry& entry) const;
  std::string ChooseName(const std::string& tenant);

  std::vector<Pool> pools_;  // By engine.
  const uint64_t resident_bytes_max_;
  const uint64_t tenant_bytes_max_;
  const uint64_t array_count_max_;
  const std::function<JobClock::time_point()> now_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, Tenant> tenants_;
  uint64_t array_count_ = 0;
  uint64_t taken_bytes_ = 0;  // Of all tenants.
  std::random_device random_;
};

// The store as one tenant sees it. Cheap to copy.
class TenantArrays {
 public:
  // `bytes_max` as for ArrayStore::Allocate. `notes`, where there are some, are told the arrays
  // that are asked for by name.
  TenantArrays(ArrayStore& store, std::string tenant, uint64_t bytes_max = 0,
               std::shared_ptr<AuditNotes> notes = nullptr)
      : store_(&store),
        tenant_(std::move(tenant)),
        bytes_max_(bytes_max),
        notes_(std::move(notes)) {}

  absl::StatusOr<ArrayLease> Allocate(const kernels::ShapedArray& description,
                                      std::optional<uint32_t> engine = std::nullopt) const {
    return store_->Allocate(tenant_, description, engine, bytes_max_);
  }
  absl::StatusOr<ArrayLease> AllocateSharded(const kernels::ShapedArray& description) const {
    return store_->AllocateSharded(tenant_, description, bytes_max_);
  }
  absl::StatusOr<ArrayLease> AllocateLike(const kernels::ShapedArray& description,
                                          const std::vector<ArrayShard>& shards) const {
    return store_->AllocateLike(tenant_, description, shards, bytes_max_);
  }
  uint32_t EngineWithMostRoom() const { return store_->EngineWithMostRoom(); }
  absl::StatusOr<ArrayInfo> Insert(std::string name, std::chrono::nanoseconds idle_expiry,
                                   ArrayLease array) const {
    Note(name);
    return store_->Insert(tenant_, std::move(name), idle_expiry, std::move(array));
  }
  absl::Status CheckVacant(const std::string& name) const {
    Note(name);
    return store_->CheckVacant(tenant_, name);
  }
  absl::StatusOr<FoundArray> Find(const std::string& name) const {
    Note(name);
    return store_->Find(tenant_, name);
  }
  absl::StatusOr<ArrayInfo> Get(const std::string& name) const {
    Note(name);
    return store_->Get(tenant_, name);
  }
  ArrayPage List(const std::string& after, uint64_t count_max) const {
    return store_->List(tenant_, after, count_max);
  }
  absl::Status Remove(const std::string& name) const {
    Note(name);
    return store_->Remove(tenant_, name);
  }

 private:
  void Note(const std::string& name) const {
    if (notes_ != nullptr) notes_->AddObject("array", name);
  }

  ArrayStore* store_;
  std::string tenant_;
  uint64_t bytes_max_;
  std::shared_ptr<AuditNotes> notes_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_ARRAYS_ARRAY_STORE_H_
