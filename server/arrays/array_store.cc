#include "server/arrays/array_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error_reason.h"

namespace gridfold::server {

namespace {

absl::Status NotFound(absl::string_view name) {
  return WithReason(absl::NotFoundError(absl::StrCat("there is no array \"", name, "\"")),
                    kReasonArrayNotFound);
}

absl::Status AlreadyExists(absl::string_view name) {
  return WithReason(absl::AlreadyExistsError(absl::StrCat("there is an array \"", name, "\"")),
                    kReasonArrayExists);
}

// Waiting helps against what is full, and not against what is too small.
absl::Status NoRoom(absl::string_view message) {
  return WithReason(absl::ResourceExhaustedError(message), kReasonArrayQuota);
}
absl::Status NoRoomNow(absl::string_view message) {
  return WithRetryDelay(NoRoom(message), kRetryDelay);
}

// The only element of a vector that cannot be written as a list, because it cannot be copied.
std::vector<std::unique_ptr<kernels::ResidentPool>> VectorOf(
    std::unique_ptr<kernels::ResidentPool> pool) {
  std::vector<std::unique_ptr<kernels::ResidentPool>> pools;
  pools.push_back(std::move(pool));
  return pools;
}

}  // namespace

StoredArray::StoredArray(ArrayStore& store, std::string tenant,
                         const kernels::ShapedArray& description)
    : store_(store),
      tenant_(std::move(tenant)),
      description_(description),
      last_used_(store.now_()) {}

StoredArray::~StoredArray() {
  // In this order: room that is counted as free is free.
  memory_.clear();
  for (const ArrayShard& shard : shards_) {
    store_.GiveBackRoom(tenant_, shard.engine, shard.span.size_bytes);
  }
}

void StoredArray::MarkUsed() const { last_used_ = store_.now_(); }

ArrayStore::ArrayStore(std::vector<std::unique_ptr<kernels::ResidentPool>> pools,
                       const Limits& limits, std::function<JobClock::time_point()> now)
    : resident_bytes_max_(limits.resident_bytes_max),
      tenant_bytes_max_(limits.tenant_bytes_max()),
      array_count_max_(limits.array_count_max),
      now_(std::move(now)) {
  for (std::unique_ptr<kernels::ResidentPool>& pool : pools) {
    pools_.push_back({.memory = std::move(pool)});
  }
}

ArrayStore::ArrayStore(std::unique_ptr<kernels::ResidentPool> pool, const Limits& limits,
                       std::function<JobClock::time_point()> now)
    : ArrayStore(VectorOf(std::move(pool)), limits, std::move(now)) {}

ArrayStore::~ArrayStore() {
  // Arrays give their room back when they go: to tenants that must not be half destroyed then.
  std::map<std::string, Tenant> leaving;
  leaving.swap(tenants_);
}

absl::Status ArrayDeleted() {
  return WithReason(absl::NotFoundError("the array was deleted meanwhile"), kReasonArrayNotFound);
}

absl::StatusOr<ArrayLease> ArrayStore::Allocate(const std::string& tenant,
                                                const kernels::ShapedArray& description,
                                                std::optional<uint32_t> engine,
                                                uint64_t tenant_bytes_max) {
  return Allocate(tenant, description, tenant_bytes_max, [&] {
    return std::vector<ArrayShard>{{.engine = engine ? *engine : EngineWithMostRoom(),
                                    .element_count = description.element_count()}};
  });
}

absl::StatusOr<ArrayLease> ArrayStore::AllocateSharded(const std::string& tenant,
                                                       const kernels::ShapedArray& description,
                                                       uint64_t tenant_bytes_max) {
  return Allocate(tenant, description, tenant_bytes_max, [&] { return ShardsOnAll(description); });
}

absl::StatusOr<ArrayLease> ArrayStore::AllocateLike(const std::string& tenant,
                                                    const kernels::ShapedArray& description,
                                                    const std::vector<ArrayShard>& shards,
                                                    uint64_t tenant_bytes_max) {
  return Allocate(tenant, description, tenant_bytes_max, [&] { return shards; });
}

absl::StatusOr<ArrayLease> ArrayStore::Allocate(const std::string& tenant,
                                                const kernels::ShapedArray& description,
                                                uint64_t tenant_bytes_max, PlaceShards place) {
  const uint64_t bytes_max =
      tenant_bytes_max == 0 ? tenant_bytes_max_ : std::min(tenant_bytes_max, tenant_bytes_max_);
  std::vector<ArrayShard> shards = place();
  uint64_t most_taken_bytes = 0;
  uint64_t taken_bytes = 0;
  for (const ArrayShard& shard : shards) {
    const uint64_t shard_bytes = kernels::ResidentBytesTaken(
        shard.element_count * kernels::ElementSize(description.element_type));
    most_taken_bytes = std::max(most_taken_bytes, shard_bytes);
    taken_bytes += shard_bytes;
  }
  if (most_taken_bytes > resident_bytes_max_ || taken_bytes > bytes_max) {
    const bool is_one_device = taken_bytes <= bytes_max;
    return NoRoom(absl::StrCat(
        "an array of ", description.size_bytes(), " bytes takes ",
        is_one_device ? most_taken_bytes : taken_bytes, ", more than the ",
        is_one_device ? resident_bytes_max_ : bytes_max,
        is_one_device ? " that a device has room for" : " that a tenant may have on this server"));
  }
  absl::StatusOr<ArrayLease> array = TryAllocate(tenant, description, std::move(shards), bytes_max);
  if (array.ok()) return array;
  // Expired arrays are not to stand in the way of new ones.
  RemoveExpired();
  return TryAllocate(tenant, description, place(), bytes_max);
}

absl::StatusOr<ArrayLease> ArrayStore::TryAllocate(const std::string& tenant,
                                                   const kernels::ShapedArray& description,
                                                   std::vector<ArrayShard> shards,
                                                   uint64_t tenant_bytes_max) {
  // Gives back, when it goes, what it has got.
  const auto array = std::make_shared<StoredArray>(*this, tenant, description);
  array->shards_.reserve(shards.size());
  array->memory_.reserve(shards.size());
  for (ArrayShard& shard : shards) {
    absl::Status status = AddShard(shard, tenant_bytes_max, *array);
    if (!status.ok()) return status;
  }
  return array;
}

absl::Status ArrayStore::AddShard(ArrayShard shard, uint64_t tenant_bytes_max, StoredArray& array) {
  const uint64_t size_bytes =
      shard.element_count * kernels::ElementSize(array.description_.element_type);
  absl::Status status = TakeRoom(array.tenant_, shard.engine, size_bytes, tenant_bytes_max);
  if (!status.ok()) return status;
  shard.span = {nullptr, size_bytes};
  array.shards_.push_back(shard);
  absl::StatusOr<std::unique_ptr<kernels::ResidentMemory>> memory =
      pools_[shard.engine].memory->Allocate(size_bytes);
  if (!memory.ok()) return NoRoomNow(memory.status().message());
  array.shards_.back().span = (*memory)->span();
  array.memory_.push_back(*std::move(memory));
  return absl::OkStatus();
}

std::vector<ArrayShard> ArrayStore::ShardsOnAll(const kernels::ShapedArray& description) const {
  std::vector<uint32_t> engines;
  {
    const std::lock_guard lock(mutex_);
    for (uint32_t engine = 0; engine < pools_.size(); ++engine) {
      if (!pools_[engine].closed) engines.push_back(engine);
    }
  }
  if (engines.empty()) engines.push_back(0);
  const kernels::Shape& shape = description.shape;
  const uint64_t unit = shape.dimension_count() < 2
                            ? kShardUnitElements
                            : kernels::Shape(shape.extents().subspan(1)).element_count();
  const uint64_t count = description.element_count();
  const uint64_t units = unit == 0 ? 0 : (count + unit - 1) / unit;
  const uint64_t units_each = (units + engines.size() - 1) / engines.size();
  std::vector<ArrayShard> shards;
  for (const uint32_t engine : engines) {
    const uint64_t first =
        shards.empty() ? 0 : shards.back().first_element + shards.back().element_count;
    if (first == count && !shards.empty()) break;
    shards.push_back({.engine = engine,
                      .first_element = first,
                      .element_count = std::min(units_each * unit, count - first)});
  }
  return shards;
}

uint32_t ArrayStore::EngineWithMostRoom() const {
  const std::lock_guard lock(mutex_);
  const auto most =
      std::min_element(pools_.begin(), pools_.end(), [](const Pool& a, const Pool& b) {
        return std::pair(a.closed, a.taken_bytes) < std::pair(b.closed, b.taken_bytes);
      });
  return static_cast<uint32_t>(most - pools_.begin());
}

void ArrayStore::CloseEngine(uint32_t engine) {
  const std::lock_guard lock(mutex_);
  pools_[engine].closed = true;
}

absl::StatusOr<ArrayInfo> ArrayStore::Insert(const std::string& tenant, std::string name,
                                             std::chrono::nanoseconds idle_expiry,
                                             ArrayLease array) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  if (absl::Status status = VacancyStatus(tenant, name, removed); !status.ok()) return status;
  if (name.empty()) name = ChooseName(tenant);
  array->MarkUsed();
  // A copy: where this throws, the array must not go while the mutex is held.
  const auto entry =
      tenants_[tenant].arrays.emplace(std::move(name), Entry{idle_expiry, array}).first;
  ++array_count_;
  return Describe(entry->first, entry->second);
}

absl::Status ArrayStore::CheckVacant(const std::string& tenant, const std::string& name) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  return VacancyStatus(tenant, name, removed);
}

absl::StatusOr<FoundArray> ArrayStore::Find(const std::string& tenant, const std::string& name) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  const Entry* const entry = FindEntry(tenant, name, removed);
  if (entry == nullptr) return NotFound(name);
  entry->array->MarkUsed();
  return FoundArray{Describe(name, *entry), entry->array};
}

absl::StatusOr<ArrayInfo> ArrayStore::Get(const std::string& tenant, const std::string& name) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  const Entry* const entry = FindEntry(tenant, name, removed);
  if (entry == nullptr) return NotFound(name);
  return Describe(name, *entry);
}

ArrayPage ArrayStore::List(const std::string& tenant, const std::string& after,
                           uint64_t count_max) {
  const std::lock_guard lock(mutex_);
  ArrayPage page;
  const auto found = tenants_.find(tenant);
  if (found == tenants_.end()) return page;
  const std::map<std::string, Entry>& arrays = found->second.arrays;
  for (auto entry = arrays.upper_bound(after); entry != arrays.end(); ++entry) {
    if (IsExpired(entry->second)) continue;
    if (page.arrays.size() == count_max) {
      page.is_last = false;
      break;
    }
    page.arrays.push_back(Describe(entry->first, entry->second));
  }
  return page;
}

absl::Status ArrayStore::Remove(const std::string& tenant, const std::string& name) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  if (FindEntry(tenant, name, removed) == nullptr) return NotFound(name);
  Tenant& owner = tenants_.find(tenant)->second;
  Erase(owner, owner.arrays.find(name), removed);
  return absl::OkStatus();
}

ArrayStoreStatistics ArrayStore::GetStatistics() const {
  const std::lock_guard lock(mutex_);
  ArrayStoreStatistics statistics{
      .array_count = array_count_, .taken_bytes = taken_bytes_, .taken_bytes_by_engine = {}};
  for (const Pool& pool : pools_) statistics.taken_bytes_by_engine.push_back(pool.taken_bytes);
  return statistics;
}

void ArrayStore::RemoveExpired() {
  Removed removed;
  const std::lock_guard lock(mutex_);
  EraseExpired(removed);
}

void ArrayStore::EraseExpired(Removed& removed) {
  for (auto& [name, tenant] : tenants_) {
    for (auto entry = tenant.arrays.begin(); entry != tenant.arrays.end();) {
      const auto next = std::next(entry);
      if (IsLeased(entry->second)) entry->second.array->MarkUsed();
      if (IsExpired(entry->second)) Erase(tenant, entry, removed);
      entry = next;
    }
  }
}

absl::Status ArrayStore::TakeRoom(const std::string& tenant, uint32_t engine, uint64_t size_bytes,
                                  uint64_t tenant_bytes_max) {
  const uint64_t taken_bytes = kernels::ResidentBytesTaken(size_bytes);
  const std::lock_guard lock(mutex_);
  Tenant& owner = tenants_[tenant];
  // More may be taken than the bound where it was lowered since.
  if (owner.taken_bytes <= tenant_bytes_max &&
      taken_bytes <= tenant_bytes_max - owner.taken_bytes) {
    owner.taken_bytes += taken_bytes;
    pools_[engine].taken_bytes += taken_bytes;
    taken_bytes_ += taken_bytes;
    return absl::OkStatus();
  }
  return NoRoomNow(absl::StrCat("of ", tenant_bytes_max, " bytes that a tenant may have, ",
                                owner.taken_bytes, " are taken"));
}

void ArrayStore::GiveBackRoom(const std::string& tenant, uint32_t engine, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const auto owner = tenants_.find(tenant);
  if (owner == tenants_.end()) return;
  const uint64_t taken_bytes = kernels::ResidentBytesTaken(size_bytes);
  owner->second.taken_bytes -= taken_bytes;
  pools_[engine].taken_bytes -= taken_bytes;
  taken_bytes_ -= taken_bytes;
  if (owner->second.is_idle()) tenants_.erase(owner);
}

// Null where there is none, or none any more.
ArrayStore::Entry* ArrayStore::FindEntry(const std::string& tenant, const std::string& name,
                                         Removed& removed) {
  const auto owner = tenants_.find(tenant);
  if (owner == tenants_.end()) return nullptr;
  const auto entry = owner->second.arrays.find(name);
  if (entry == owner->second.arrays.end()) return nullptr;
  if (!IsExpired(entry->second)) return &entry->second;
  Erase(owner->second, entry, removed);
  return nullptr;
}

absl::Status ArrayStore::VacancyStatus(const std::string& tenant, const std::string& name,
                                       Removed& removed) {
  if (FindEntry(tenant, name, removed) != nullptr) return AlreadyExists(name);
  if (array_count_ == array_count_max_) EraseExpired(removed);
  if (array_count_ < array_count_max_) return absl::OkStatus();
  return NoRoomNow(absl::StrCat("there are ", array_count_max_, " arrays, as many as are allowed"));
}

void ArrayStore::Erase(Tenant& tenant, std::map<std::string, Entry>::iterator entry,
                       Removed& removed) {
  removed.push_back(std::move(entry->second.array));
  tenant.arrays.erase(entry);
  --array_count_;
}

// By anybody but the store: a job is at work on it, or waits to be.
bool ArrayStore::IsLeased(const Entry& entry) { return entry.array.use_count() > 1; }

bool ArrayStore::IsExpired(const Entry& entry) const {
  return !IsLeased(entry) && now_() - entry.array->last_used_.load() >= entry.idle_expiry;
}

ArrayInfo ArrayStore::Describe(const std::string& name, const Entry& entry) const {
  return {.name = name,
          .description = entry.array->description(),
          .engine = entry.array->engine(),
          .shards = entry.array->is_sharded() ? entry.array->shards() : std::vector<ArrayShard>(),
          .idle_expiry = entry.idle_expiry,
          .idle_time = now_() - entry.array->last_used_.load()};
}

std::string ArrayStore::ChooseName(const std::string& tenant) {
  const std::map<std::string, Entry>& taken = tenants_[tenant].arrays;
  std::string name;
  do {
    name = absl::StrCat("array-", absl::Hex(random_(), absl::kZeroPad8),
                        absl::Hex(random_(), absl::kZeroPad8));
  } while (taken.contains(name));
  return name;
}

}  // namespace gridfold::server
