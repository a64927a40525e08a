// Plans and devices for tests of the layout of reductions.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_TEST_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_TEST_H_

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/plan/geometry.h"

namespace gridfold::kernels::cuda {

inline DeviceProperties Properties(int multiprocessors) {
  DeviceProperties properties;
  properties.multiprocessor_count = multiprocessors;
  properties.shared_bytes_per_block_max = 227 * 1024;
  return properties;
}

inline ReductionPlan Plan(const ArrayDescription& array, GroupingSpec grouping,
                          std::vector<Statistic> statistics = {Statistic::kSum}) {
  absl::StatusOr<ReductionPlan> plan =
      PlanReduction(array, {.statistics = std::move(statistics), .grouping = std::move(grouping)});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

inline ReductionPlan SegmentPlan(ElementType type, const std::vector<uint64_t>& sizes,
                                 std::vector<Statistic> statistics = {Statistic::kSum}) {
  std::vector<uint64_t> offsets = {0};
  for (const uint64_t size : sizes) offsets.push_back(offsets.back() + size);
  const ArrayDescription array = ArrayDescription::Vector(type, offsets.back());
  return Plan(array, {GroupingKind::kSegments, std::move(offsets)}, std::move(statistics));
}

// Random plans of all forms.
class RandomPlans {
 public:
  ReductionPlan Next() {
    const ElementType type = static_cast<ElementType>(Pick(kElementTypeCount - 1));
    const std::vector<Statistic> sets[] = {
        {Statistic::kSum},
        {Statistic::kSum, Statistic::kL2Norm, Statistic::kNonzeroCount},
        {Statistic::kSum, Statistic::kProduct, Statistic::kL1Norm, Statistic::kNonzeroCount}};
    const std::vector<Statistic>& statistics = sets[Pick(2)];
    switch (Pick(3)) {
      case 0: return Plan(ArrayDescription::Vector(type, Size(40)), {}, statistics);
      case 1: {
        std::vector<uint64_t> sizes(1 + Pick(2000));
        for (uint64_t& size : sizes) size = Pick(9) == 0 ? Size(25) : Size(8);
        return SegmentPlan(type, sizes, statistics);
      }
      default:
        return Plan(ArrayDescription::Matrix(type, 1 + Size(20), 1 + Size(20)),
                    {Pick(1) == 0 ? GroupingKind::kAxis0 : GroupingKind::kAxis1, {}}, statistics);
    }
  }

 private:
  uint64_t Pick(uint64_t last) { return std::uniform_int_distribution<uint64_t>(0, last)(random_); }
  // Of all magnitudes alike.
  uint64_t Size(uint64_t bits_max) { return Pick((uint64_t{1} << Pick(bits_max)) - 1); }

  std::mt19937_64 random_{20261120};
};

inline ReductionGeometry SumsOfMatrix(uint64_t rows, uint64_t columns, GroupingKind kind) {
  return PlanReductionGeometry(
      Plan(ArrayDescription::Matrix(ElementType::kFloat32, rows, columns), {kind, {}}),
      Properties(132));
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_TEST_H_
