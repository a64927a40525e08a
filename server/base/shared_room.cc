#include "server/base/shared_room.h"

namespace gridfold::server {

// In whole numbers: a fraction that is rounded down costs a place.
std::optional<RoomRefusal> FindRoomRefusal(uint64_t max, uint64_t taken, uint64_t more,
                                           const RoomClaim& claim) {
  if (taken > max || more > max - taken) return RoomRefusal::kFull;
  if (claim.held == 0) return std::nullopt;
  const uint64_t reserve = max / kQueueReservePart;
  if (taken + more <= max - reserve) return std::nullopt;
  const uint64_t share = reserve * claim.weight / (claim.weights + kTenantWeightDefault);
  if (claim.held + more <= share) return std::nullopt;
  return RoomRefusal::kOverShare;
}

std::optional<RoomRefusal> SharedRoom::Take(std::string_view owner, uint64_t amount) {
  const std::lock_guard lock(mutex_);
  const std::optional<RoomRefusal> refusal = Find(owner, amount);
  if (!refusal) Add(owner, amount);
  return refusal;
}

void SharedRoom::TakeAnyway(std::string_view owner, uint64_t amount) {
  const std::lock_guard lock(mutex_);
  Add(owner, amount);
}

void SharedRoom::GiveBack(std::string_view owner, uint64_t amount) {
  if (amount == 0) return;
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  taken_ -= amount;
  found->second.held -= amount;
  if (found->second.held > 0) return;
  holding_weights_ -= found->second.weight;
  owners_.erase(found);
}

std::optional<RoomRefusal> SharedRoom::Check(std::string_view owner, uint64_t amount) const {
  const std::lock_guard lock(mutex_);
  return Find(owner, amount);
}

uint64_t SharedRoom::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

uint64_t SharedRoom::held(std::string_view owner) const {
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  return found == owners_.end() ? 0 : found->second.held;
}

std::optional<RoomRefusal> SharedRoom::Find(std::string_view owner, uint64_t amount) const {
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return FindRoomRefusal(max_, taken_, amount, {});
  return FindRoomRefusal(
      max_, taken_, amount,
      {.held = found->second.held, .weight = found->second.weight, .weights = holding_weights_});
}

void SharedRoom::Add(std::string_view owner, uint64_t amount) {
  if (amount == 0) return;
  auto found = owners_.find(owner);
  if (found == owners_.end()) {
    found = owners_.emplace(owner, Owner{.weight = WeightOf(owner)}).first;
    holding_weights_ += found->second.weight;
  }
  found->second.held += amount;
  taken_ += amount;
}

uint64_t SharedRoom::WeightOf(std::string_view owner) const {
  const auto found = weights_.find(std::string(owner));
  return found == weights_.end() ? kTenantWeightDefault : found->second;
}

}  // namespace gridfold::server
