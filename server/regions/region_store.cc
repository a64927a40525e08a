#include "server/regions/region_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error_reason.h"

namespace gridfold::server {

namespace {

absl::Status NotFound(absl::string_view name) {
  return WithReason(absl::NotFoundError(absl::StrCat("there is no region \"", name, "\"")),
                    kReasonRegionNotFound);
}

absl::Status AlreadyExists(absl::string_view name) {
  return WithReason(absl::AlreadyExistsError(absl::StrCat("there is a region \"", name, "\"")),
                    kReasonRegionExists);
}

absl::Status NoRoom(absl::string_view message) {
  return WithReason(absl::ResourceExhaustedError(message), kReasonRegionQuota);
}

bool Intersect(uint64_t first, uint64_t size, uint64_t other_first, uint64_t other_size) {
  return size > 0 && other_size > 0 && first < other_first + other_size &&
         other_first < first + size;
}

// By anybody but the store.
bool IsLeased(const RegionLease& region) { return region.use_count() > 1; }

// What the engine says where it does not take the memory, with a reason that callers know.
absl::Status EngineRefusal(absl::Status status) {
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
      return WithReason(std::move(status), kReasonRegionUnsupported);
    case absl::StatusCode::kResourceExhausted:
      return WithReason(std::move(status), kReasonRegionQuota);
    default: return status;
  }
}

}  // namespace

StoredRegion::Room::~Room() { store_.GiveBackRoom(size_bytes_); }

StoredRegion::StoredRegion(RegionStore& store, const NewRegion& region, std::unique_ptr<Room> room)
    : store_(store),
      idle_expiry_(region.idle_expiry),
      owner_(region.owner),
      room_(std::move(room)),
      last_used_(store.now_()) {}

absl::Status StoredRegion::Open(const std::vector<kernels::Engine*>& engines,
                                const NewRegion& region) {
  absl::StatusOr<std::unique_ptr<kernels::ExternalMemory>> memory;
  if (const auto* const object_name = std::get_if<std::string>(&region.source)) {
    absl::StatusOr<std::unique_ptr<SharedMapping>> mapping =
        SharedMapping::Open(*object_name, region.size_bytes);
    if (!mapping.ok()) return mapping.status();
    mapping_ = *std::move(mapping);
    // For one, and so for all: engines of one kind share what they register.
    memory = engines.front()->RegisterHostMemory(mapping_->span());
  } else {
    memory = engines[region.device]->OpenIpcMemory(std::get<kernels::IpcHandle>(region.source),
                                                   region.size_bytes);
    engine_ = region.device;
  }
  if (!memory.ok()) return EngineRefusal(memory.status());
  memory_ = *std::move(memory);
  return absl::OkStatus();
}

absl::Status StoredRegion::Check() const {
  if (mapping_ == nullptr || mapping_->IsIntact()) return absl::OkStatus();
  return WithReason(
      absl::FailedPreconditionError(
          "a region has lost memory: its object was made smaller, or pages were taken out of it"),
      kReasonRegionBroken);
}

absl::Status StoredRegion::EndUse() const {
  last_used_ = store_.now_();
  return Check();
}

bool StoredRegion::Overlaps(const kernels::ResidentSpan& span, const StoredRegion& other,
                            const kernels::ResidentSpan& other_span) const {
  const auto address = [](const std::byte* data) { return reinterpret_cast<uintptr_t>(data); };
  // One object may be registered twice, in two places.
  const bool same_object =
      mapping_ != nullptr && other.mapping_ != nullptr && mapping_->IsOfSameObject(*other.mapping_);
  const uintptr_t base = same_object ? address(this->span().data) : 0;
  const uintptr_t other_base = same_object ? address(other.span().data) : 0;
  return Intersect(address(span.data) - base, span.size_bytes,
                   address(other_span.data) - other_base, other_span.size_bytes);
}

RegionStore::RegionStore(std::vector<kernels::Engine*> engines, const Limits& limits,
                         std::function<JobClock::time_point()> now)
    : engines_(std::move(engines)),
      region_count_max_(limits.region_count_max),
      region_bytes_max_(limits.region_bytes_max),
      now_(std::move(now)),
      sweeper_([this] { Sweep(); }, kSweepInterval) {}

RegionStore::~RegionStore() = default;

absl::StatusOr<RegionInfo> RegionStore::Register(const std::string& tenant, NewRegion region) {
  // What is gone is not to stand in the way of what comes.
  Sweep();
  absl::StatusOr<std::unique_ptr<StoredRegion::Room>> room = TakeRoom(region.size_bytes);
  if (!room.ok()) return room.status();
  auto stored = std::make_shared<StoredRegion>(*this, region, *std::move(room));
  if (absl::Status status = stored->Open(engines_, region); !status.ok()) return status;
  const std::lock_guard lock(mutex_);
  if (region.name.empty()) region.name = ChooseName(tenant);
  const auto [entry, is_new] = regions_.try_emplace(Key(tenant, region.name), stored);
  if (!is_new) return AlreadyExists(region.name);
  return Describe(region.name, *stored);
}

absl::Status RegionStore::CheckVacant(const std::string& tenant, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return FindRegion({tenant, name}) == nullptr ? absl::OkStatus() : AlreadyExists(name);
}

absl::StatusOr<RegionLease> RegionStore::Find(const std::string& tenant,
                                              const std::string& name) const {
  RegionLease region;
  {
    const std::lock_guard lock(mutex_);
    const RegionLease* const found = FindRegion({tenant, name});
    if (found == nullptr) return NotFound(name);
    region = *found;
    region->last_used_ = now_();
  }
  if (absl::Status status = region->Check(); !status.ok()) return status;
  return region;
}

RegionPage RegionStore::List(const std::string& tenant, const std::string& after,
                             uint64_t count_max) const {
  const std::lock_guard lock(mutex_);
  RegionPage page;
  for (auto entry = regions_.upper_bound({tenant, after});
       entry != regions_.end() && entry->first.first == tenant; ++entry) {
    if (IsGone(entry->second)) continue;
    if (page.regions.size() == count_max) {
      page.is_last = false;
      break;
    }
    page.regions.push_back(Describe(entry->first.second, *entry->second));
  }
  return page;
}

absl::Status RegionStore::Remove(const std::string& tenant, const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    if (FindRegion({tenant, name}) == nullptr) return NotFound(name);
    const auto entry = regions_.find({tenant, name});
    leaving_.push_back(std::move(entry->second));
    regions_.erase(entry);
  }
  sweeper_.Wake();
  return absl::OkStatus();
}

RegionStoreStatistics RegionStore::GetStatistics() const {
  const std::lock_guard lock(mutex_);
  return {.region_count = regions_.size(), .taken_bytes = taken_bytes_};
}

void RegionStore::Sweep() {
  const std::lock_guard sweep_lock(sweep_mutex_);
  FindAbandoned();
  // Behind the mutex, which rooms take, and where it is in nobody's way.
  std::vector<RegionLease> going;
  const std::lock_guard lock(mutex_);
  RemoveGone();
  const auto unused = std::partition(leaving_.begin(), leaving_.end(), IsLeased);
  going.assign(std::make_move_iterator(unused), std::make_move_iterator(leaving_.end()));
  leaving_.erase(unused, leaving_.end());
}

// Asks the system without holding the mutex.
void RegionStore::FindAbandoned() {
  std::vector<RegionLease> owned;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, region] : regions_) {
      if (region->owner_) owned.push_back(region);
    }
  }
  for (const RegionLease& region : owned) {
    if (!region->owner_->IsAlive()) region->is_abandoned_ = true;
  }
}

void RegionStore::RemoveGone() {
  for (auto entry = regions_.begin(); entry != regions_.end();) {
    const auto next = std::next(entry);
    if (IsLeased(entry->second)) entry->second->last_used_ = now_();
    if (IsGone(entry->second)) {
      leaving_.push_back(std::move(entry->second));
      regions_.erase(entry);
    }
    entry = next;
  }
}

absl::StatusOr<std::unique_ptr<StoredRegion::Room>> RegionStore::TakeRoom(uint64_t size_bytes) {
  if (size_bytes > region_bytes_max_) {
    return NoRoom(absl::StrCat("a region of ", size_bytes, " bytes is more than the ",
                               region_bytes_max_, " that this server allows"));
  }
  const std::lock_guard lock(mutex_);
  if (taken_count_ == region_count_max_) {
    return WithRetryDelay(
        NoRoom(absl::StrCat("there are ", region_count_max_, " regions, as many as are allowed")),
        kRetryDelay);
  }
  if (size_bytes > region_bytes_max_ - taken_bytes_) {
    return WithRetryDelay(
        NoRoom(absl::StrCat("of ", region_bytes_max_, " bytes that regions may have, ",
                            taken_bytes_, " are taken")),
        kRetryDelay);
  }
  auto room = std::make_unique<StoredRegion::Room>(*this, size_bytes);
  ++taken_count_;
  taken_bytes_ += size_bytes;
  return room;
}

void RegionStore::GiveBackRoom(uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  --taken_count_;
  taken_bytes_ -= size_bytes;
}

// Null where there is none, or none any more.
const RegionLease* RegionStore::FindRegion(const Key& key) const {
  const auto entry = regions_.find(key);
  if (entry == regions_.end() || IsGone(entry->second)) return nullptr;
  return &entry->second;
}

bool RegionStore::IsGone(const RegionLease& region) const {
  if (region->is_abandoned_) return true;
  return !IsLeased(region) && now_() - region->last_used_.load() >= region->idle_expiry_;
}

std::string RegionStore::ChooseName(const std::string& tenant) {
  std::string name;
  do {
    name = absl::StrCat("region-", absl::Hex(random_(), absl::kZeroPad8),
                        absl::Hex(random_(), absl::kZeroPad8));
  } while (regions_.contains({tenant, name}));
  return name;
}

RegionInfo RegionStore::Describe(const std::string& name, const StoredRegion& region) const {
  return {.name = name,
          .size_bytes = region.room_->size_bytes(),
          .idle_expiry = region.idle_expiry_,
          .idle_time = now_() - region.last_used_.load(),
          .owner_process_id = region.owner_ ? region.owner_->process_id() : 0};
}

absl::Status TenantRegions::CheckAllowed() const {
  if (store_ != nullptr) return absl::OkStatus();
  return WithReason(absl::FailedPreconditionError("this server takes no shared-memory regions; "
                                                  "gridfold_server --allow-regions makes it do so"),
                    kReasonRegionsDisabled);
}

absl::StatusOr<RegionInfo> TenantRegions::Register(NewRegion region) const {
  if (absl::Status status = CheckAllowed(); !status.ok()) return status;
  absl::StatusOr<RegionInfo> info = store_->Register(tenant_, std::move(region));
  if (info.ok()) Note(info->name);
  return info;
}

absl::Status TenantRegions::CheckVacant(const std::string& name) const {
  if (!name.empty()) Note(name);
  absl::Status status = CheckAllowed();
  return status.ok() ? store_->CheckVacant(tenant_, name) : status;
}

absl::StatusOr<RegionLease> TenantRegions::Find(const std::string& name) const {
  Note(name);
  if (absl::Status status = CheckAllowed(); !status.ok()) return status;
  return store_->Find(tenant_, name);
}

absl::StatusOr<RegionPage> TenantRegions::List(const std::string& after, uint64_t count_max) const {
  if (absl::Status status = CheckAllowed(); !status.ok()) return status;
  return store_->List(tenant_, after, count_max);
}

absl::Status TenantRegions::Remove(const std::string& name) const {
  Note(name);
  absl::Status status = CheckAllowed();
  return status.ok() ? store_->Remove(tenant_, name) : status;
}

}  // namespace gridfold::server
