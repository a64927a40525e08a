// Elements that a mask selects, against loops over them: every unit, sizes around tiles, groups of
// all kinds, initial elements, and the way back to places.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/conformance/engine_test.h"
#include "kernels/contract/segments.h"

namespace gridfold::kernels::conformance {
namespace {

using Bytes = std::vector<std::byte>;

Bytes RandomBytes(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Each element counts with this probability.
Bytes RandomMask(uint64_t count, double probability, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution counts(probability);
  Bytes mask(count);
  for (std::byte& byte : mask) byte = counts(random) ? std::byte{1} : std::byte{0};
  return mask;
}

struct Expected {
  Bytes selected;
  std::vector<uint64_t> offsets;
  std::vector<uint64_t> indices;  // Of the selected elements.
};

Expected SelectByHand(const SelectionPlan& plan, const Bytes& input, const Bytes& mask) {
  Expected expected;
  const uint64_t unit = plan.element_bytes;
  for (uint64_t g = 0; g < plan.grouping.group_count; ++g) {
    expected.offsets.push_back(expected.selected.size() / unit);
    if (plan.initial) {
      expected.selected.insert(expected.selected.end(), plan.initial->begin(),
                               plan.initial->begin() + static_cast<ptrdiff_t>(unit));
    }
    for (uint64_t i = plan.GroupBegin(g); i < plan.GroupBegin(g + 1); ++i) {
      if (!mask.empty() && mask[i] == std::byte{0}) continue;
      expected.indices.push_back(i);
      const auto element = input.begin() + static_cast<ptrdiff_t>(i * unit);
      expected.selected.insert(expected.selected.end(), element,
                               element + static_cast<ptrdiff_t>(unit));
    }
  }
  expected.offsets.push_back(expected.selected.size() / unit);
  return expected;
}

class SelectionTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (IsSkipped()) return;
    auto pool = engine().engine().CreateResidentPool(uint64_t{64} << 20);
    ASSERT_TRUE(pool.ok()) << pool.status();
    pool_ = *std::move(pool);
  }

  std::unique_ptr<ResidentMemory> Allocate(uint64_t size_bytes) {
    auto memory = pool_->Allocate(size_bytes);
    EXPECT_TRUE(memory.ok()) << memory.status();
    return *std::move(memory);
  }

  // Resident bytes, `shift` past an aligned address.
  std::unique_ptr<ResidentMemory> Keep(const Bytes& bytes, uint64_t shift) {
    auto memory = Allocate(bytes.size() + shift);
    MutableResidentSpan span = memory->span();
    span.data += shift;
    span.size_bytes = bytes.size();
    EXPECT_TRUE(engine().lane().Copy(HostSpan{bytes.data(), bytes.size()}, span, {}).ok());
    return memory;
  }

  Bytes Fetch(MutableResidentSpan span, uint64_t size_bytes) {
    Bytes bytes(size_bytes);
    span.size_bytes = size_bytes;
    EXPECT_TRUE(engine()
                    .lane()
                    .Copy(ResidentSpan(span), MutableHostSpan{bytes.data(), size_bytes}, {})
                    .ok());
    return bytes;
  }

  void Check(const SelectionPlan& plan, const Bytes& mask, uint64_t shift) {
    SCOPED_TRACE(std::to_string(plan.element_count) + " elements of " +
                 std::to_string(plan.element_bytes) + " bytes, " +
                 std::to_string(plan.grouping.group_count) + " groups");
    const Bytes input = RandomBytes(plan.element_count * plan.element_bytes, plan.element_count);
    const auto kept_mask = Keep(mask, shift);
    const ResidentSpan mask_span{mask.empty() ? nullptr : kept_mask->span().data + shift,
                                 mask.size()};
    const auto scratch = Allocate(plan.scratch_bytes());
    const auto selected = Allocate(plan.selected_bytes_max());
    const Expected expected = SelectByHand(plan, input, mask);
    RunStatistics run;
    const auto offsets =
        engine().lane().Select(plan, HostSpan{input.data(), input.size()}, mask_span,
                               scratch->span(), selected->span(), {}, run);
    ASSERT_TRUE(offsets.ok()) << offsets.status();
    EXPECT_EQ(*offsets, expected.offsets);
    EXPECT_EQ(Fetch(selected->span(), expected.selected.size()), expected.selected);
    if (!mask.empty()) CheckPlaces(mask_span, scratch->span(), expected.indices);
  }

  void CheckPlaces(ResidentSpan mask, ResidentSpan scratch, const std::vector<uint64_t>& indices) {
    std::vector<uint64_t> places;
    std::vector<uint64_t> expected;
    for (uint64_t rank = 0; rank < indices.size(); rank += rank % 50 == 0 ? 1 : 49) {
      places.push_back(rank);
      expected.push_back(indices[rank]);
    }
    RunStatistics run;
    ASSERT_TRUE(engine().lane().FindSelected(mask, scratch, places, {}, run).ok());
    EXPECT_EQ(places, expected);
  }

  std::unique_ptr<ResidentPool> pool_;
};

constexpr ElementBytes kInitial = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                   std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};

SelectionPlan PlanOf(uint64_t element_bytes, Grouping grouping) {
  SelectionPlan plan;
  plan.element_bytes = element_bytes;
  plan.grouping = std::move(grouping);
  plan.element_count = plan.GroupBegin(plan.grouping.group_count);
  return plan;
}

Grouping Rows(uint64_t count, uint64_t size) {
  return {.kind = GroupingKind::kAxis1, .group_count = count, .group_size = size, .offsets = {}};
}
Grouping Whole(uint64_t size) {
  return {.kind = GroupingKind::kWhole, .group_count = 1, .group_size = size, .offsets = {}};
}

TEST_P(SelectionTest, WholeArraysAroundTiles) {
  for (const uint64_t size : {0, 1, 15, 16, 17, 4095, 4096, 4097, 8192, 100'000}) {
    for (const uint64_t unit : {1, 2, 4, 8}) {
      for (const double probability : {0.0, 0.3, 1.0}) {
        const SelectionPlan plan = PlanOf(unit, Whole(size));
        Check(plan, RandomMask(size, probability, size), size % 3);
      }
    }
  }
}

TEST_P(SelectionTest, GroupsWithAndWithoutAnInitialElement) {
  const std::vector<Grouping> groupings = {
      Rows(1, 5000),
      Rows(5000, 1),
      Rows(3, 4096),
      Rows(700, 33),
      Rows(7, 0),
      Rows(0, 7),
      SegmentsAt({0, 0, 1, 1, 4095, 4096, 4096, 4096, 9000, 9000}),
      SegmentsAt({0, 0, 0})};
  for (const Grouping& grouping : groupings) {
    for (const uint64_t unit : {1, 2, 4, 8}) {
      SelectionPlan plan = PlanOf(unit, grouping);
      const Bytes mask = RandomMask(plan.element_count, 0.6, unit);
      Check(plan, mask, 0);
      plan.initial = kInitial;
      Check(plan, mask, 1);
      Check(plan, {}, 0);
    }
  }
}

TEST_P(SelectionTest, MoreTilesThanAreAddedUpAtOnce) {
  const SelectionPlan plan = PlanOf(1, Whole(1025 * kSelectionTile + 5));
  Check(plan, RandomMask(plan.element_count, 0.9, 4), 0);
}

TEST_P(SelectionTest, Replacement) {
  for (const uint64_t size : {0, 1, 4096, 10'001}) {
    for (const uint64_t unit : {1, 2, 4, 8}) {
      const Bytes input = RandomBytes(size * unit, 11);
      const Bytes mask = RandomMask(size, 0.5, 12);
      const auto kept = Keep(mask, 3);
      const auto output = Allocate(size * unit);
      Bytes expected = input;
      for (uint64_t i = 0; i < size; ++i) {
        if (mask[i] != std::byte{0}) continue;
        std::memcpy(expected.data() + i * unit, kInitial.data(), unit);
      }
      RunStatistics run;
      const absl::Status status = engine().lane().Replace(
          unit, kInitial, HostSpan{input.data(), input.size()},
          ResidentSpan{kept->span().data + 3, mask.size()}, output->span(), {}, run);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(Fetch(output->span(), expected.size()), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, SelectionTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, SelectionTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
