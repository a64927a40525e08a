// The allocator against a map of every unit, and what must hold after every step.
#include "kernels/memory/block_allocator.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kUnit = 256;

TEST(BlockAllocatorTest, ServesTheWholeRangeToTheLastUnit) {
  BlockAllocator allocator(10 * kUnit, kUnit);
  EXPECT_EQ(allocator.free_bytes(), 10 * kUnit);
  EXPECT_EQ(allocator.Allocate(10 * kUnit + 1), std::nullopt);
  EXPECT_EQ(allocator.Allocate(10 * kUnit), 0u);
  EXPECT_EQ(allocator.free_bytes(), 0u);
  EXPECT_EQ(allocator.largest_free_bytes(), 0u);
  EXPECT_EQ(allocator.Allocate(1), std::nullopt);
  allocator.Free(0);
  EXPECT_EQ(allocator.largest_free_bytes(), 10 * kUnit);
}

TEST(BlockAllocatorTest, RoundsUpToUnitsAndLeavesOutTheRestOfTheRange) {
  BlockAllocator allocator(3 * kUnit + 255, kUnit);
  EXPECT_EQ(allocator.free_bytes(), 3 * kUnit);
  EXPECT_EQ(allocator.Allocate(1), 0u);
  EXPECT_EQ(allocator.Allocate(kUnit + 1), kUnit);
  EXPECT_EQ(allocator.Allocate(1), std::nullopt);
}

TEST(BlockAllocatorTest, ARangeWithoutAUnitServesNothing) {
  BlockAllocator allocator(kUnit - 1, kUnit);
  EXPECT_EQ(allocator.free_bytes(), 0u);
  EXPECT_EQ(allocator.Allocate(1), std::nullopt);
}

TEST(BlockAllocatorTest, SizesNearTheEndOf64BitsAreRefused) {
  BlockAllocator allocator(4 * kUnit, kUnit);
  for (const uint64_t size : {~uint64_t{0}, ~uint64_t{0} - 254, uint64_t{1} << 63}) {
    EXPECT_EQ(allocator.Allocate(size), std::nullopt);
  }
  EXPECT_EQ(allocator.free_bytes(), 4 * kUnit);
}

TEST(BlockAllocatorTest, TakesTheSmallestThatFitsAndTheFirstOfEqualOnes) {
  BlockAllocator allocator(20 * kUnit, kUnit);
  // Free: 3 units at 0, 2 at 4, 2 at 7, and the 10 from 10 on.
  for (const uint64_t units : {3, 1, 2, 1, 2, 1}) ASSERT_TRUE(allocator.Allocate(units * kUnit));
  for (const uint64_t at : {0, 4, 7}) allocator.Free(at * kUnit);
  EXPECT_EQ(allocator.Allocate(2 * kUnit), 4 * kUnit);
  EXPECT_EQ(allocator.Allocate(2 * kUnit), 7 * kUnit);
  EXPECT_EQ(allocator.Allocate(2 * kUnit), 0u);
  EXPECT_EQ(allocator.Allocate(2 * kUnit), 10 * kUnit);
}

TEST(BlockAllocatorTest, JoinsNeighboursOnEitherSide) {
  for (const std::vector<uint64_t>& order : std::vector<std::vector<uint64_t>>{
           {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    BlockAllocator allocator(3 * kUnit, kUnit);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(allocator.Allocate(kUnit));
    for (const uint64_t at : order) allocator.Free(at * kUnit);
    EXPECT_EQ(allocator.largest_free_bytes(), 3 * kUnit);
    EXPECT_EQ(allocator.Allocate(3 * kUnit), 0u);
  }
}

// A second allocator that looks at every unit.
class UnitMap {
 public:
  explicit UnitMap(size_t units) : taken_(units, false) {}

  // Where best fit puts so many units; nothing where there is no room.
  std::optional<size_t> Find(size_t units) const {
    std::optional<size_t> best;
    size_t best_length = 0;
    for (size_t begin = 0; begin < taken_.size();) {
      size_t end = begin;
      while (end < taken_.size() && taken_[end] == taken_[begin]) ++end;
      if (!taken_[begin] && end - begin >= units && (!best || end - begin < best_length)) {
        best = begin;
        best_length = end - begin;
      }
      begin = end;
    }
    return best;
  }
  void Set(size_t begin, size_t units, bool taken) {
    std::fill_n(taken_.begin() + static_cast<ptrdiff_t>(begin), units, taken);
  }
  size_t free_units() const {
    return static_cast<size_t>(std::count(taken_.begin(), taken_.end(), false));
  }

 private:
  std::vector<bool> taken_;
};

TEST(BlockAllocatorTest, DoesWhatAMapOfAllUnitsSays) {
  constexpr size_t kUnits = 300;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    BlockAllocator allocator(kUnits * kUnit, kUnit);
    UnitMap map(kUnits);
    std::vector<std::pair<size_t, size_t>> held;  // First unit and number.
    for (int step = 0; step < 3000; ++step) {
      // Mostly small blocks, some large ones; now more, now fewer of them are held.
      const bool grow = (step / 200) % 2 == 0 ? random() % 3 != 0 : random() % 3 == 0;
      if (grow || held.empty()) {
        const size_t size_bytes = 1 + random() % (random() % 10 == 0 ? 60 * kUnit : 5 * kUnit);
        const size_t units = (size_bytes + kUnit - 1) / kUnit;
        const std::optional<size_t> expected = map.Find(units);
        const std::optional<uint64_t> offset = allocator.Allocate(size_bytes);
        ASSERT_EQ(offset.has_value(), expected.has_value());
        if (!offset) continue;
        ASSERT_EQ(*offset, *expected * kUnit);
        map.Set(*expected, units, true);
        held.emplace_back(*expected, units);
      } else {
        std::swap(held[random() % held.size()], held.back());
        allocator.Free(held.back().first * kUnit);
        map.Set(held.back().first, held.back().second, false);
        held.pop_back();
      }
      ASSERT_EQ(allocator.free_bytes(), map.free_units() * kUnit);
      ASSERT_FALSE(map.Find(allocator.largest_free_bytes() / kUnit + 1).has_value());
    }
    for (const auto& [first, units] : held) allocator.Free(first * kUnit);
    EXPECT_EQ(allocator.Allocate(kUnits * kUnit), 0u) << "what was given back is one block again";
  }
}

}  // namespace
}  // namespace gridfold::kernels
