// This file says which kernels reduce short groups and columns, for elements of type T and a set of
// parts as VisitPartSet gives it: here a new kernel takes what it is for from the general ones.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_KERNEL_CHOICE_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_KERNEL_CHOICE_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/types/host_device.h"
#include "kernels/types/statistic_set.h"

namespace gridfold::kernels::cuda {

// What kernels of sums alone, and of extremes of groups alone, answer: they write values of their
// own, and not those of StatisticValue. ReductionParts leaves other statistics of these parts to
// kernels of kCorePartSet.
GRIDFOLD_HD constexpr StatisticSet AnswersOfSums() {
  return {Statistic::kCount, Statistic::kSum, Statistic::kMean};
}
GRIDFOLD_HD constexpr StatisticSet AnswersOfExtremes() {
  return {Statistic::kCount, Statistic::kMin, Statistic::kMax, Statistic::kArgmin,
          Statistic::kArgmax};
}

// The kernel for groups that lanes of a warp take.
enum class GroupKernel : uint8_t {
  kStates,         // Whatever is asked for: reduce/groups/tiles.cuh.
  kPairs,          // Sums of floating-point elements: sums.cuh, row_sums.cuh.
  kIntegerStrips,  // Sums and several statistics of integers: reduce/groups/integer_strips.cuh.
  kFixedPoint,     // Several statistics of floats and smaller: reduce/groups/fixed_point_tiles.cuh.
  kMomentPairs,    // Several statistics of float64: reduce/groups/pair_tiles.cuh.
  kExtremes,       // Nothing but extremes: reduce/groups/row_extremes.cuh.
};
template <class T>
constexpr GroupKernel GroupKernelOf(uint32_t parts) {
  if (parts == kExtremesPart) return GroupKernel::kExtremes;
  if (parts != kSumPart && parts != kCorePartSet) return GroupKernel::kStates;
  if (IntegerElement<T>) return GroupKernel::kIntegerStrips;
  if (parts == kSumPart) return GroupKernel::kPairs;
  return sizeof(T) <= sizeof(float) ? GroupKernel::kFixedPoint : GroupKernel::kMomentPairs;
}

enum class ColumnKernel : uint8_t {
  kStates,        // Whatever is asked for: reduce/columns/columns.cuh.
  kPairs,         // Sums of floats and smaller: sums.cuh, whole_columns.cuh.
  kVectors,       // Integers, and extremes of all types: reduce/columns/kernels.cuh.
  kDoublesFirst,  // Sums of float64: double_columns.cuh, and kStates what that leaves.
  // Several statistics of floating-point elements: reduce/columns/moment_columns.cuh, and of
  // float64 reduce/columns/double_moment_columns.cuh; kStates takes what these leave.
  kMomentsFirst,
};
template <class T>
constexpr ColumnKernel ColumnKernelOf(uint32_t parts) {
  if (parts == kExtremesPart) return ColumnKernel::kVectors;
  if (parts != kSumPart && parts != kCorePartSet) return ColumnKernel::kStates;
  if (IntegerElement<T>) return ColumnKernel::kVectors;
  constexpr bool kIsSmall = sizeof(T) <= sizeof(float);
  if (parts == kSumPart) return kIsSmall ? ColumnKernel::kPairs : ColumnKernel::kDoublesFirst;
  return ColumnKernel::kMomentsFirst;
}

// Whether sums are kept in pairs everywhere: of elements that are floats, or smaller, and of
// nothing else.
template <class T>
constexpr bool SumsInPairs(uint32_t parts) {
  return ColumnKernelOf<T>(parts) == ColumnKernel::kPairs;
}

// Whether any kernel takes columns before ReduceColumns.
template <class T>
constexpr bool HasFirstColumns(uint32_t parts) {
  const ColumnKernel kernel = ColumnKernelOf<T>(parts);
  return kernel == ColumnKernel::kDoublesFirst || kernel == ColumnKernel::kMomentsFirst;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_KERNEL_CHOICE_H_
