// Reductions of arrays as they stand: what they need, and when they are left to a copy. That their
// bits are those of the array in another order is for conformance tests to show.
#include "kernels/folds/in_place_reduction.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

class InPlaceReductionTest : public FoldTest {
 protected:
  // The reduction, and the array that it is of in the engine's memory.
  InPlaceReduction Plan(const Shape& shape, AxisSet axes, ReductionSpec spec) {
    const AxesPlan groups = PlanAxes({ElementType::kFloat32, shape}, axes);
    spec.grouping = {groups.grouping, {}};
    plan_ = PlanReduction(groups.array, std::move(spec)).value();
    input_ = pool_->Allocate(plan_.array.size_bytes()).value();
    std::vector<float> elements(shape.element_count());
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i % 7);
    EXPECT_TRUE(lane_->Copy(SpanOf(BytesOf(elements)), input_->span(), {}).ok());
    return InPlaceReduction(plan_, *groups.in_place);
  }

  std::optional<uint64_t> RoomBytes(const Shape& shape, AxisSet axes, ReductionSpec spec) {
    return Plan(shape, axes, std::move(spec)).RoomBytes(ResidentSpan(input_->span()), *lane_);
  }

  static ReductionSpec Of(std::vector<Statistic> statistics) {
    ReductionSpec spec;
    spec.statistics = std::move(statistics);
    return spec;
  }

  std::unique_ptr<ResidentPool> pool_ = engine_->CreateResidentPool(8 << 20).value();
  ReductionPlan plan_;
  std::unique_ptr<ResidentMemory> input_;
};

TEST_F(InPlaceReductionTest, AStackNeedsNoRoomAndStatesOfPartsDo) {
  EXPECT_EQ(RoomBytes({3, 40, 32}, 0b010, Of({Statistic::kSum})), 0u);
  const std::optional<uint64_t> room_bytes = RoomBytes({3, 2, 5'000}, 0b101, Of({Statistic::kSum}));
  ASSERT_TRUE(room_bytes.has_value());
  EXPECT_EQ(*room_bytes, 3 * 2 * lane_->ResidentStateBytes(plan_));
  // With outer groups.
  EXPECT_EQ(RoomBytes({2, 3, 2, 5'000}, 0b1010, Of({Statistic::kSum})),
            2 * 3 * 2 * lane_->ResidentStateBytes(plan_));
}

TEST_F(InPlaceReductionTest, StatesThatTakeMoreThanHalfOfTheArrayAreLeftToACopy) {
  Plan({2, 2, 8}, 0b101, Of({Statistic::kSum}));
  const uint64_t elements = 2 * lane_->ResidentStateBytes(plan_) / sizeof(float);
  EXPECT_TRUE(RoomBytes({2, 2, elements}, 0b101, Of({Statistic::kSum})).has_value());
  EXPECT_FALSE(RoomBytes({2, 2, elements - 1}, 0b101, Of({Statistic::kSum})).has_value());
}

TEST_F(InPlaceReductionTest, WhatIsLeftToACopy) {
  const Shape stack = {3, 40, 32};
  const Shape around = {3, 2, 5'000};
  ReductionSpec named = Of({Statistic::kSum});
  named.strategy = "reduce/columns/strips";
  EXPECT_FALSE(RoomBytes(stack, 0b010, named).has_value());
  EXPECT_FALSE(RoomBytes(stack, 0b010, Of({Statistic::kSum, Statistic::kProduct})).has_value());
  ReductionSpec states = Of({Statistic::kSum});
  states.return_states = true;
  EXPECT_TRUE(RoomBytes(stack, 0b010, states).has_value());
  EXPECT_FALSE(RoomBytes(around, 0b101, states).has_value());
  // Narrower than strips are worth.
  EXPECT_TRUE(RoomBytes({3, 40, 16}, 0b010, Of({Statistic::kSum})).has_value());
  EXPECT_FALSE(RoomBytes({3, 40, 15}, 0b010, Of({Statistic::kSum})).has_value());
}

// A lane takes so many groups, of parts too.
TEST_F(InPlaceReductionTest, MorePartsThanALaneTakesAreLeftToACopy) {
  LaneOptions few = kRoomyLane;
  few.group_count_max = 6;
  lane_ = engine_->CreateLane(few).value();
  EXPECT_TRUE(RoomBytes({3, 2, 5'000}, 0b101, Of({Statistic::kSum})).has_value());
  EXPECT_FALSE(RoomBytes({4, 2, 5'000}, 0b101, Of({Statistic::kSum})).has_value());
}

TEST_F(InPlaceReductionTest, TimesAreOfBothSteps) {
  const InPlaceReduction reduction = Plan({3, 2, 5'000}, 0b101, Of({Statistic::kSum}));
  const ResidentSpan input(input_->span());
  const auto room = pool_->Allocate(*reduction.RoomBytes(input, *lane_)).value();
  RunStatistics run;
  const auto result = reduction.Run(input, room->span(), *lane_, {}, run);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(run.bytes_read, input.size_bytes);
  EXPECT_EQ(run.strategy, "reduce/groups/contiguous");
  EXPECT_GT(run.kernel_time.count(), 0);
}

// States of a stack's columns are those of the columns of the array in another order.
TEST_F(InPlaceReductionTest, StatesOfAStackAreHandedOut) {
  ReductionSpec spec = Of({Statistic::kMax, Statistic::kMean});
  spec.return_states = true;
  const InPlaceReduction reduction = Plan({3, 40, 32}, 0b010, spec);
  const ResidentSpan input(input_->span());
  RunStatistics run;
  const auto result = reduction.Run(input, {}, *lane_, {}, run);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto& states = std::get<GroupStates<float>>(result->states);
  ASSERT_EQ(states.size(), 3u * 32u);
  for (size_t m = 0; m < 3; ++m) {
    for (size_t c = 0; c < 32; ++c) {
      double sum = 0;
      for (size_t r = 0; r < 40; ++r) sum += static_cast<double>(((m * 40 + r) * 32 + c) % 7);
      EXPECT_EQ(states[m * 32 + c].Part<kSumPart>().sum.Rounded(), sum);
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels
