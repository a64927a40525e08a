// Whose turn it is to have room, against the rule of shared_room.h told once more: in fractions
// that nothing rounds, over a plain list of what every owner holds.
#include "server/base/shared_room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>

namespace gridfold::server {
namespace {

const TenantWeights kWeights = {{"b", 3}, {"c", 10}};

class RoomOracle {
 public:
  explicit RoomOracle(uint64_t max) : max_(max) {}

  std::optional<RoomRefusal> Find(const std::string& owner, uint64_t more) const {
    uint64_t taken = 0;
    uint64_t weights = 0;
    for (const auto& [name, amount] : held_) {
      taken += amount;
      if (amount > 0) weights += WeightOf(name);
    }
    const auto found = held_.find(owner);
    const uint64_t own = found == held_.end() ? 0 : found->second;
    if (taken + more > max_) return RoomRefusal::kFull;
    const uint64_t reserve = max_ / 4;
    if (own == 0 || taken + more + reserve <= max_) return std::nullopt;
    if ((own + more) * (weights + 1) <= reserve * WeightOf(owner)) return std::nullopt;
    return RoomRefusal::kOverShare;
  }

  std::map<std::string, uint64_t> held_;

 private:
  static uint64_t WeightOf(const std::string& name) {
    const auto found = kWeights.find(name);
    return found == kWeights.end() ? 1 : found->second;
  }

  const uint64_t max_;
};

TEST(SharedRoomTest, FollowsTheRuleWhateverComesAndGoes) {
  std::mt19937_64 random(1);
  for (const uint64_t max : {1, 2, 3, 4, 5, 20, 100, 1000}) {
    SharedRoom room(max, kWeights);
    RoomOracle oracle(max);
    for (int i = 0; i < 3000; ++i) {
      const std::string owner(1, static_cast<char>('a' + random() % 5));
      uint64_t& held = oracle.held_[owner];
      const uint64_t amount = random() % (max / 4 + 2);
      if (random() % 5 < 3) {
        const auto expected = oracle.Find(owner, amount);
        ASSERT_EQ(room.Check(owner, amount), expected);
        ASSERT_EQ(room.Take(owner, amount), expected) << max << " " << owner << " " << amount;
        if (!expected) held += amount;
      } else {
        const uint64_t back = std::min(amount, held);
        room.GiveBack(owner, back);
        held -= back;
      }
      ASSERT_EQ(room.held(owner), held);
    }
  }
}

TEST(SharedRoomTest, AlwaysLeavesAPlaceToWhoHasNone) {
  SharedRoom room(256);
  uint64_t greedy = 0;
  while (!room.Take("greedy", 1)) ++greedy;
  // Three quarters: half of the rest would be its share only if it held no more than that in all.
  EXPECT_EQ(greedy, 192u);
  EXPECT_EQ(room.Check("greedy", 1), RoomRefusal::kOverShare);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(room.Take("tenant" + std::to_string(i), 1), std::nullopt);
}

TEST(SharedRoomTest, WhoHasLittleFindsMoreInTheReserve) {
  SharedRoom room(256);
  while (!room.Take("greedy", 1)) {
  }
  uint64_t modest = 0;
  while (!room.Take("modest", 1)) ++modest;
  // A third of the 64 of the reserve: of two owners and one who may come.
  EXPECT_EQ(modest, 21u);
}

TEST(SharedRoomTest, WhatIsThereAlreadyCountsEvenBeyondTheRoom) {
  SharedRoom room(10);
  room.TakeAnyway("a", 25);
  EXPECT_EQ(room.taken(), 25u);
  EXPECT_EQ(room.Take("b", 1), RoomRefusal::kFull);
  room.GiveBack("a", 25);
  EXPECT_EQ(room.taken(), 0u);
  EXPECT_EQ(room.Take("b", 10), std::nullopt);
}

TEST(SharedRoomTest, AFullRoomIsFullForEverybody) {
  SharedRoom room(3);
  EXPECT_EQ(room.Take("a", 1), std::nullopt);
  EXPECT_EQ(room.Take("b", 1), std::nullopt);
  EXPECT_EQ(room.Take("c", 1), std::nullopt);
  EXPECT_EQ(room.Take("d", 1), RoomRefusal::kFull);
  EXPECT_EQ(room.Take("a", 0), std::nullopt);
}

}  // namespace
}  // namespace gridfold::server
