#include "kernels/cpu/lane/work_cost.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace gridfold::kernels::cpu {
namespace {

constexpr int kThreads = 16;

int ThreadsFor(const ArrayDescription& array, std::vector<Statistic> statistics,
               GroupingKind grouping) {
  ReductionSpec spec;
  spec.statistics = std::move(statistics);
  spec.grouping.kind = grouping;
  return ThreadsWorthWaking(WorkNanoseconds(PlanReduction(array, std::move(spec)).value()),
                            kThreads);
}

TEST(WorkCostTest, OneThreadDoesWhatIsDoneBeforeAnotherWakes) {
  EXPECT_EQ(ThreadsFor(ArrayDescription::Matrix(ElementType::kFloat64, 4, 678),
                       {Statistic::kL2Norm}, GroupingKind::kAxis0),
            1);
  EXPECT_EQ(ThreadsFor(ArrayDescription::Matrix(ElementType::kFloat64, 176, 58), {Statistic::kSum},
                       GroupingKind::kAxis1),
            1);
  ScanSpec scan;
  scan.grouping.kind = GroupingKind::kAxis0;
  const ScanPlan plan =
      PlanScan(ArrayDescription::Matrix(ElementType::kInt64, 10407, 2), std::move(scan)).value();
  EXPECT_EQ(ThreadsWorthWaking(WorkNanoseconds(plan), kThreads), 1);
}

TEST(WorkCostTest, LongWorkIsSharedByAll) {
  EXPECT_EQ(ThreadsFor(ArrayDescription::Vector(ElementType::kFloat32, 1 << 24), {Statistic::kSum},
                       GroupingKind::kWhole),
            kThreads);
  EXPECT_EQ(ThreadsFor(ArrayDescription::Matrix(ElementType::kInt8, 1 << 20, 4), {Statistic::kMin},
                       GroupingKind::kAxis1),
            kThreads);
}

TEST(WorkCostTest, ThreadsGrowWithTheWork) {
  int before = 1;
  for (uint64_t nanoseconds = 1; nanoseconds < 1'000'000'000; nanoseconds *= 2) {
    const int threads = ThreadsWorthWaking(nanoseconds, kThreads);
    EXPECT_GE(threads, before);
    EXPECT_LE(threads, 2 * before);
    before = threads;
  }
  EXPECT_EQ(before, kThreads);
}

TEST(WorkCostTest, HistogramsCostByWhatTheirBinsAre) {
  const ArrayDescription array = ArrayDescription::Vector(ElementType::kFloat32, 70'000);
  const auto nanoseconds = [&](HistogramSpec spec) {
    return WorkNanoseconds(PlanHistogram(array, std::move(spec), 1 << 20).value());
  };
  HistogramSpec even;
  even.bins = {EvenBinsSpec{1000, 0, 1}};
  HistogramSpec logarithmic;
  logarithmic.bins = {LogarithmicBinsSpec{1000, 0.5, 1}};
  EXPECT_EQ(ThreadsWorthWaking(nanoseconds(even), kThreads), 1);
  EXPECT_GT(nanoseconds(logarithmic), nanoseconds(even));
  EXPECT_GT(ThreadsWorthWaking(nanoseconds(logarithmic), kThreads), 1);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
