// This kernel makes several statistics of rows of integers (row_moment_lanes.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENTS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/groups/row_moment_lanes.cuh"
#include "kernels/cuda/reduce/groups/row_moment_sums.cuh"
#include "kernels/cuda/reduce/groups/row_window.cuh"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

// The slot of a standard deviation. Not inlined: it is long.
__device__ __noinline__ uint64_t DeviationSlot(Uint128 sum, const Uint192& squares, uint64_t size,
                                               const ValueRules& rules) {
  ReductionState<uint64_t, kCorePartSet> state;
  state.Part<kSumPart>().sum = static_cast<Int128>(sum);
  state.Part<kSquaresPart>().sum = squares;
  uint64_t slot = 0;
  StatisticValue(Statistic::kStandardDeviation, state, size, rules, &slot);
  return slot;
}

// Values of rows of elements that RowMomentWork makes unsigned ones, U.
template <class U>
class IntegerRowValues {
 public:
  __device__ explicit IntegerRowValues(const RowMomentWork& work) : work_(work) {}

  // Finishes the row `place` after `first`, if it exists.
  __device__ void Finish(uint64_t first, uint32_t place, bool exists,
                         const RowTotals<U>& totals) const {
    if (exists) Write(first + place, totals);
  }

 private:
  // Writes what is asked for of a row.
  __device__ void Write(uint64_t row, const RowTotals<U>& totals) const {
    const RowMomentSlots& slots = work_.slots;
    using Sum = std::conditional_t<sizeof(U) == sizeof(uint64_t), Int128, int64_t>;
    const Sum sum = static_cast<Sum>(totals.Sum()) - static_cast<Sum>(work_.sum_bias);
    if (slots.count != nullptr) slots.count[row] = work_.row_size;
    if (slots.sum != nullptr) slots.sum[row] = static_cast<uint64_t>(sum);
    if (slots.min != nullptr) slots.min[row] = totals.Least() - work_.bias;
    if (slots.max != nullptr) slots.max[row] = totals.Greatest() - work_.bias;
    if (slots.mean != nullptr) slots.mean[row] = Bits(Mean(sum));
    if (slots.variance != nullptr) {
      slots.variance[row] = Bits(totals.Variance(work_.row_size, work_.variance_divisor));
    }
    if (slots.standard_deviation != nullptr) {
      slots.standard_deviation[row] =
          DeviationSlot(totals.Sum(), totals.Squares(), work_.row_size, work_.rules);
    }
    if constexpr (sizeof(U) == sizeof(uint64_t)) {
      if (slots.sum_failure == nullptr) return;
      if (work_.is_signed ? Fits<int64_t>(sum) : Fits<uint64_t>(sum)) return;
      auto* const failure = reinterpret_cast<unsigned long long*>(slots.sum_failure);
      if (row < __ldcg(failure)) atomicMin(failure, static_cast<unsigned long long>(row));
    }
  }

  __device__ static uint64_t Bits(double number) {
    return static_cast<uint64_t>(__double_as_longlong(number));
  }
  __device__ double Mean(int64_t sum) const {
    return work_.mean_divisor.QuotientOfDouble(static_cast<double>(sum));
  }
  __device__ double Mean(const Int128& sum) const { return work_.mean_divisor.Quotient(sum); }

  const RowMomentWork& work_;
};

template <class U>
__global__ void __launch_bounds__(RowMomentTuning::kThreads,
                                  RowMomentTuning::ResidentBlocks(sizeof(U)))
    ReduceRowMoments(const __grid_constant__ RowMomentWork work) {
  constexpr uint32_t kWarps = RowMomentTuning::kThreads / ReduceTuning::kWarpThreads;
  __shared__ typename RowWindow<U>::Memory windows[kWarps][2];
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  TakeRowMoments<U>(warp, work, IntegerRowValues<U>(work), windows[warp.meta_group_rank()]);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENTS_CUH_
