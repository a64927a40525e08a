// The bits of a reduction do not depend on the instructions that the processor has.
#include "kernels/cpu/base/instruction_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/contract/engine.h"

namespace gridfold::kernels::cpu {
namespace {

constexpr uint64_t kRows = 700;
constexpr uint64_t kColumns = 150;
constexpr uint64_t kElements = kRows * kColumns;

// Takes back what a test has limited.
class InstructionSetTest : public testing::Test {
 protected:
  ~InstructionSetTest() override { LimitInstructionSet(InstructionSet::kAvx512); }
};

// Random bytes, so every kind of number: also NaN, infinities and subnormals.
std::vector<std::byte> RandomBytes(uint64_t count) {
  std::vector<std::byte> bytes(count);
  std::minstd_rand random(7);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() >> 8);
  return bytes;
}

std::vector<Statistic> StatisticsOf(ElementType type) {
  std::vector<Statistic> statistics;
  for (int s = 0; s < kStatisticCount; ++s) {
    const Statistic statistic = static_cast<Statistic>(s);
    if (IsDefinedFor(statistic, type)) statistics.push_back(statistic);
  }
  return statistics;
}

GroupingSpec GroupingOf(GroupingKind kind) {
  if (kind != GroupingKind::kSegments) return {kind, {}};
  return {kind, {0, 1, 40, 300, 9000, kElements}};
}

ArrayDescription ArrayOf(ElementType type, GroupingKind kind) {
  return kind == GroupingKind::kSegments ? ArrayDescription::Vector(type, kElements)
                                         : ArrayDescription::Matrix(type, kRows, kColumns);
}

ReductionResult Reduce(Lane& lane, ElementType type, GroupingKind kind, NanPolicy nan_policy,
                       const std::vector<std::byte>& bytes) {
  const ReductionPlan plan =
      PlanReduction(ArrayOf(type, kind), {.statistics = StatisticsOf(type),
                                          .grouping = GroupingOf(kind),
                                          .nan_policy = nan_policy,
                                          .overflow_policy = OverflowPolicy::kWrap})
          .value();
  RunStatistics run;
  return lane.RunReduction(plan, HostSpan{bytes.data(), plan.array.size_bytes()}, {}, run).value();
}

TEST_F(InstructionSetTest, IsNeverBetterThanTheLimit) {
  for (const InstructionSet most :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    LimitInstructionSet(most);
    EXPECT_LE(ActiveInstructionSet(), most);
  }
}

TEST_F(InstructionSetTest, DoesNotChangeReductions) {
  const auto engine = CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = 2}).value();
  const auto lane = engine->CreateLane({1 << 24, 1 << 24, 1 << 20, 1 << 20}).value();
  const std::vector<std::byte> bytes = RandomBytes(kElements * sizeof(double));
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = static_cast<ElementType>(t);
    for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0,
                                    GroupingKind::kAxis1, GroupingKind::kSegments}) {
      for (const NanPolicy nan_policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        SCOPED_TRACE(std::string(ElementTypeName(type)) + ", grouping " +
                     std::to_string(static_cast<int>(kind)));
        LimitInstructionSet(InstructionSet::kBaseline);
        const ReductionResult expected = Reduce(*lane, type, kind, nan_policy, bytes);
        for (const InstructionSet most : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
          LimitInstructionSet(most);
          const ReductionResult result = Reduce(*lane, type, kind, nan_policy, bytes);
          for (size_t s = 0; s < expected.columns.size(); ++s) {
            EXPECT_EQ(result.columns[s].slots, expected.columns[s].slots)
                << StatisticName(expected.columns[s].statistic);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cpu
