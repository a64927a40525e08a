// The slots of a group's statistics are written here, from the group's state.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_FINISH_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_FINISH_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

// Writes statistics of a group: every `step`-th from `first` on.
template <class State>
__device__ inline void WriteValues(const ReductionParameters& parameters, uint64_t group,
                                   uint64_t size, const State& state, uint32_t first = 0,
                                   uint32_t step = 1) {
#pragma unroll 1
  for (uint32_t i = first; i < parameters.statistic_count; i += step) {
    const uint32_t row = parameters.rows[i];
    uint64_t* const slot = &parameters.slots[row * parameters.group_count + group];
    const ValueOutcome outcome =
        StatisticValue(parameters.statistics[i], state, size, parameters.rules, slot);
    if (outcome == ValueOutcome::kOk || parameters.failures == nullptr) continue;
    // Most groups that fail come after one that has: they need not meet at the atomic operation.
    unsigned long long* const failure =
        reinterpret_cast<unsigned long long*>(&parameters.failures[row]);
    if (group < __ldcg(failure)) atomicMin(failure, static_cast<unsigned long long>(group));
  }
}

// Writes all statistics of a group, and its state where it is asked for. One thread calls it for
// each group, or `step` threads, each for every step-th statistic from its own `first`. Not
// inlined: it is long, and every kernel of a type and part set ends with it.
template <class T, uint32_t kParts>
__device__ __noinline__ void FinishGroup(const ReductionParameters& parameters, uint64_t group,
                                         uint64_t size, const ReductionState<T, kParts>& state,
                                         uint32_t first = 0, uint32_t step = 1) {
  WriteValues(parameters, group, size, state, first, step);
  if (first == 0 && parameters.states != nullptr) {
    static_cast<ReductionState<T, kParts>*>(parameters.states)[group] = state;
  }
}

// Whether it is asked where extremes are.
__device__ inline bool AsksForPlaces(const ReductionParameters& parameters) {
  bool asks = parameters.states != nullptr;
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    asks = asks || NeedsPlaces(parameters.statistics[i]);
  }
  return asks;
}

struct GroupRange {
  uint64_t begin;
  uint64_t size;
};

// Where a group of contiguous elements stands.
__device__ inline GroupRange RangeOf(const ReductionParameters& parameters, uint64_t group) {
  if (parameters.offsets == nullptr) {
    return {parameters.FirstOfRow(group), parameters.group_size};
  }
  const uint64_t begin = parameters.offsets[group];
  return {begin, parameters.offsets[group + 1] - begin};
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_FINISH_CUH_
