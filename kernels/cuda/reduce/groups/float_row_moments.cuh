// This kernel makes several statistics of rows of floating-point elements (row_moment_lanes.cuh).
// The values of a few rows are not certain: of rows with elements that are not finite or too far
// apart, or with zeros of both signs. Such rows are left to the kernel that follows, which sums
// them in words (fixed_point_words.cuh), or float64 in pairs that know more (pair_strips.cuh).
// Calling these from here would cost this kernel most of its registers.
//
// Example: rows of float32, 32 of which share a word of bits:
//
//   row 0: 1.5 2 4         all values certain: written
//   row 1: 1.5 inf 4       not certain: bit 1 of the word is set
//   the kernel that follows reads the word, and reduces row 1
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_ROW_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_ROW_MOMENTS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/groups/fixed_point_words.cuh"
#include "kernels/cuda/reduce/groups/float_row_sums.cuh"
#include "kernels/cuda/reduce/groups/group_strips.cuh"
#include "kernels/cuda/reduce/groups/pair_strips.cuh"
#include "kernels/cuda/reduce/groups/row_moment_lanes.cuh"
#include "kernels/cuda/reduce/groups/row_window.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

// Writes the values of rows that are certain, and sets bits of the others. kHasOthers: what
// RowMomentSlots::HaveOthers says; a kernel that only looks for it keeps registers for it, and rows
// of four floats take 1.06 times as long.
template <class T, bool kHasOthers>
class FloatRowValues {
 public:
  __device__ explicit FloatRowValues(const RowMomentWork& work) : work_(work) {}

  // Finishes the row `place` after `first`, if `exists`: writes its values, or leaves it. Called by
  // all lanes.
  __device__ void Finish(uint64_t first, uint32_t place, bool exists,
                         const RowTotals<T>& totals) const {
    const bool is_left = exists && !Write(first + place, totals);
    const uint32_t left = __reduce_or_sync(~0u, is_left ? 1u << place : 0);
    if (left == 0) return;
    const bool are_all = __all_sync(~0u, is_left == exists);
    if (threadIdx.x % ReduceTuning::kWarpThreads != 0) return;
    // The rows of a batch share one word of bits.
    LeaveRows(first, left);
    if (are_all) atomicAdd(work_.left_batches, 1u);
  }

  // Whether this kernel should leave all further rows untried. It does so for float64 once all rows
  // of kLeftBatchesMax batches were left. Floats and halves are always tried: their left rows go to
  // words, which take longer than a try.
  __device__ bool GivesUp() const {
    return sizeof(T) == sizeof(double) &&
           __ldcg(work_.left_batches) >= RowMomentTuning::kLeftBatchesMax;
  }
  // Leaves all rows that the warp `warp` of `warps` would take. Called by all lanes.
  __device__ void LeaveAll(uint64_t warp, uint64_t warps, uint32_t lane) const {
#pragma unroll 1
    for (uint64_t unit = warp * work_.unit_rows; unit < work_.row_count;
         unit += warps * work_.unit_rows) {
      const uint64_t end = min(unit + work_.unit_rows, work_.row_count);
      // A unit has the rows of a part of a word of bits, or of several words.
#pragma unroll 1
      for (uint64_t row = unit + lane * kLeftWordRows; row < end;
           row += ReduceTuning::kWarpThreads * kLeftWordRows) {
        const uint32_t rows = static_cast<uint32_t>(min(end - row, uint64_t{kLeftWordRows}));
        LeaveRows(row, ~uint32_t{0} >> (kLeftWordRows - rows));
      }
    }
  }

 private:
  // Leaves the rows from `first` on whose bits in `rows` are set; all belong to one word.
  __device__ void LeaveRows(uint64_t first, uint32_t rows) const {
    atomicOr(&work_.left_rows[first / kLeftWordRows],
             rows << static_cast<uint32_t>(first % kLeftWordRows));
  }

  // Writes the values that are asked for of a row, and returns whether all are certain.
  __device__ bool Write(uint64_t row, const RowTotals<T>& totals) const {
    const RowMomentSlots& slots = work_.slots;
    const FloatRowMoments moments = FloatRowMoments::Of(totals, work_.row_size);
    if (!moments.is_known || totals.HasOtherZero()) return false;
    const BoundedMoments bounded{moments.sum, moments.squares, totals.min == totals.max};
    if (slots.count != nullptr) slots.count[row] = work_.row_size;
    if (slots.min != nullptr) slots.min[row] = Slot(totals.min);
    if (slots.max != nullptr) slots.max[row] = Slot(totals.max);
    bool is_certain = WriteNumber(slots.sum, row, bounded.sum);
    if (slots.mean != nullptr) {
      is_certain = WriteNumber(slots.mean, row, bounded.Mean(work_.divisors)) && is_certain;
    }
    if constexpr (kHasOthers) is_certain = WriteOthers(row, bounded, totals) && is_certain;
    if (slots.variance == nullptr && slots.standard_deviation == nullptr) return is_certain;
    const BoundedNumber variance = bounded.Variance(work_.divisors);
    is_certain = WriteNumber(slots.variance, row, variance) && is_certain;
    if (slots.standard_deviation != nullptr) {
      is_certain = WriteNumber(slots.standard_deviation, row, variance.Root()) && is_certain;
    }
    return is_certain;
  }
  // The same of what is seldom asked for.
  __device__ bool WriteOthers(uint64_t row, const BoundedMoments& bounded,
                              const RowTotals<T>& totals) const {
    const RowMomentSlots& slots = work_.slots;
    if (slots.range != nullptr) slots.range[row] = Slot(double{totals.max} - double{totals.min});
    bool is_certain = true;
    if (slots.l2_norm != nullptr) {
      is_certain = WriteNumber(slots.l2_norm, row, bounded.squares.Root());
    }
    if (slots.root_mean_square != nullptr) {
      const BoundedNumber root = bounded.RootMeanSquare(work_.divisors);
      is_certain = WriteNumber(slots.root_mean_square, row, root) && is_certain;
    }
    if (slots.standard_error != nullptr) {
      const BoundedNumber error = bounded.StandardError(work_.divisors);
      is_certain = WriteNumber(slots.standard_error, row, error) && is_certain;
    }
    return is_certain;
  }
  __device__ static bool WriteNumber(uint64_t* slots, uint64_t row, const BoundedNumber& number) {
    if (slots == nullptr) return true;
    double value;
    const bool is_certain = number.Round(value);
    slots[row] = Slot(value);
    return is_certain;
  }

  const RowMomentWork& work_;
};

template <class T, bool kHasOthers>
__global__ void __launch_bounds__(RowMomentTuning::kThreads,
                                  RowMomentTuning::FloatResidentBlocks(sizeof(T)))
    ReduceFloatRowMoments(const __grid_constant__ RowMomentWork work) {
  constexpr uint32_t kWarps = RowMomentTuning::kThreads / ReduceTuning::kWarpThreads;
  __shared__ typename RowWindow<T>::Memory windows[kWarps][2];
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const FloatRowValues<T, kHasOthers> values(work);
  if (values.GivesUp()) {
    values.LeaveAll(uint64_t{blockIdx.x} * kWarps + warp.meta_group_rank(),
                    uint64_t{gridDim.x} * kWarps, warp.thread_rank());
  } else {
    TakeRowMoments<T>(warp, work, values, windows[warp.meta_group_rank()]);
  }
}

// Reduces the rows that ReduceFloatRowMoments left; Room is the memory that a warp needs for that.
template <class T>
struct LeftRows {
  using Finish = FinishRoom<T, kCorePartSet>;
  struct Room {
    int64_t words[3 * Finish::kWords + sizeof(typename Finish::Group) / sizeof(int64_t) + 1];
  };
  // Reduces the rows from `first` on whose bits in `left` are set. Called by all lanes.
  __device__ static void Reduce(const Warp&, const ReductionParameters& parameters,
                                const LeftRowWork&, uint64_t first, uint32_t left, Room& room) {
    ReduceLeftGroups<T>(parameters, first, left, IsShortGroup<T>(parameters.group_size),
                        room.words);
  }
};
template <>
struct LeftRows<double> {
  using Room = PairRoom<double>;
  __device__ static void Reduce(const Warp& warp, const ReductionParameters& parameters,
                                const LeftRowWork& work, uint64_t first, uint32_t left,
                                Room& room) {
    TileWork tile = {};
    tile.width_log2 = work.width_log2;
    tile.strip_groups = kLeftWordRows;
    const GroupStrip strip(parameters, tile, first);
    ReduceStripInPairs<double>(warp, parameters, tile, strip, left, false, room);
  }
};

template <class T>
__global__ void __launch_bounds__(LeftRowTuning::kThreads)
    ReduceLeftRows(const __grid_constant__ ReductionParameters parameters,
                   const __grid_constant__ LeftRowWork work) {
  constexpr uint32_t kWarps = LeftRowTuning::kThreads / ReduceTuning::kWarpThreads;
  __shared__ typename LeftRows<T>::Room rooms[kWarps];
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const uint32_t lane = warp.thread_rank();
  const uint64_t step = uint64_t{gridDim.x} * kWarps * work.words_together;
#pragma unroll 1
  for (uint64_t i = (uint64_t{blockIdx.x} * kWarps + warp.meta_group_rank()) * work.words_together;
       i < work.word_count; i += step) {
    const bool exists = lane < work.words_together && i + lane < work.word_count;
    const uint32_t left = exists ? work.left_rows[i + lane] : 0;
#pragma unroll 1
    for (uint32_t lanes = warp.ballot(left != 0); lanes != 0; lanes &= lanes - 1) {
      const uint32_t word = static_cast<uint32_t>(__ffs(static_cast<int>(lanes))) - 1;
      LeftRows<T>::Reduce(warp, parameters, work, (i + word) * kLeftWordRows, warp.shfl(left, word),
                          rooms[warp.meta_group_rank()]);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FLOAT_ROW_MOMENTS_CUH_
