// Room that owners share (places, or bytes), so that none of them shuts the others out.
//
// All but the last kQueueReservePart of the room is open to every owner. That part is for owners
// that hold nothing, or less than their share of it by weight. The shares count one owner more than
// those that hold something: whoever fills the room, another owner still finds some. The queue of
// jobs, streams, and what is on its way to readers are all shared by this one rule.
#ifndef GRIDFOLD_SERVER_BASE_SHARED_ROOM_H_
#define GRIDFOLD_SERVER_BASE_SHARED_ROOM_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "server/base/fixed_limits.h"
#include "server/base/limits.h"

namespace gridfold::server {

enum class RoomRefusal {
  kFull,       // All owners together leave too little.
  kOverShare,  // What is left is for other owners.
};

// What an owner holds, and its part among all that hold something, itself included.
struct RoomClaim {
  uint64_t held = 0;
  uint64_t weight = kTenantWeightDefault;
  uint64_t weights = kTenantWeightDefault;
};

// Why the owner may not hold `more` in a room of `max`, of which all owners hold `taken`; none
// where it may. Pure.
std::optional<RoomRefusal> FindRoomRefusal(uint64_t max, uint64_t taken, uint64_t more,
                                           const RoomClaim& claim);

// Counts what owners hold. Memory in proportion to the owners that hold something. Thread-safe.
//
//   SharedRoom answers(limits.queued_bytes_max, weights);
//   if (answers.Take(caller.tenant, bytes)) return QueueFull(...);
//   ...
//   answers.GiveBack(caller.tenant, bytes);
class SharedRoom {
 public:
  explicit SharedRoom(uint64_t max, TenantWeights weights = {})
      : max_(max), weights_(std::move(weights)) {}

  // Takes all of `amount` or nothing; why not, or none where it is taken.
  std::optional<RoomRefusal> Take(std::string_view owner, uint64_t amount);
  // Takes what is there already, whether there is room for it or not.
  void TakeAnyway(std::string_view owner, uint64_t amount);
  // Requires that the owner has taken as much.
  void GiveBack(std::string_view owner, uint64_t amount);

  // What Take would return now.
  std::optional<RoomRefusal> Check(std::string_view owner, uint64_t amount) const;

  uint64_t taken() const;
  uint64_t held(std::string_view owner) const;

 private:
  struct Owner {
    uint64_t held = 0;
    uint64_t weight = kTenantWeightDefault;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  // These require `mutex_`.
  std::optional<RoomRefusal> Find(std::string_view owner, uint64_t amount) const;
  void Add(std::string_view owner, uint64_t amount);
  uint64_t WeightOf(std::string_view owner) const;

  const uint64_t max_;
  const TenantWeights weights_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  uint64_t taken_ = 0;
  uint64_t holding_weights_ = 0;
  std::unordered_map<std::string, Owner, Hash, std::equal_to<>> owners_;  // That hold something.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_SHARED_ROOM_H_
