// The values of a group of floating-point elements are written here where they are certain
// (numerics/statistics/bounded_moments.h).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_BOUNDED_VALUES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_BOUNDED_VALUES_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

// Writes what is asked for of a group with so many elements that are not zero, and returns whether
// all of it is certain; where it is not, values that were written are to be written again. Nothing
// is certain where a statistic is asked for that is never (ParametersOf).
template <class Extremes>
__device__ inline bool WriteBoundedValues(const ReductionParameters& parameters, uint64_t group,
                                          const BoundedMoments& moments, const Extremes& extremes,
                                          uint64_t nonzero) {
  const auto slot_of = [&](Statistic statistic, uint64_t& slot) {
    double value = 0;
    const bool is_moment = moments.Value(statistic, parameters.divisors, value);
    slot = Slot(value);
    if (is_moment) return true;
    if (statistic == Statistic::kCount) {
      slot = parameters.group_size;
    } else if (statistic == Statistic::kMin || statistic == Statistic::kMax) {
      const bool is_min = statistic == Statistic::kMin;
      slot = Slot(static_cast<double>(is_min ? extremes.min.value : extremes.max.value));
    } else if (statistic == Statistic::kArgmin || statistic == Statistic::kArgmax) {
      slot = statistic == Statistic::kArgmin ? extremes.min.index : extremes.max.index;
    } else if (statistic == Statistic::kRange) {
      slot =
          Slot(static_cast<double>(extremes.max.value) - static_cast<double>(extremes.min.value));
    } else if (statistic == Statistic::kNonzeroCount) {
      slot = nonzero;
    } else {
      return false;
    }
    return true;
  };
  if (!parameters.divisors.are_known) return false;
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    uint64_t* const slots = parameters.slots + parameters.rows[i] * parameters.group_count;
    if (!slot_of(parameters.statistics[i], slots[group])) return false;
  }
  return true;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_BOUNDED_VALUES_CUH_
