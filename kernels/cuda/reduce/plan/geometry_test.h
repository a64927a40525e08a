// Plans and devices for tests of the layout of reductions.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_TEST_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_TEST_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/reduce.h"

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

inline ReductionGeometry SumsOfMatrix(uint64_t rows, uint64_t columns, GroupingKind kind) {
  return PlanReductionGeometry(
      Plan(ArrayDescription::Matrix(ElementType::kFloat32, rows, columns), {kind, {}}),
      Properties(132));
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_TEST_H_
