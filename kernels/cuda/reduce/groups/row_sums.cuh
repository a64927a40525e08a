// A warp sums very many rows of 1 to 32 vectors, a power of two: its lanes read neighbouring
// vectors, whole lines of memory in each load, and what each lane has of several rows is dealt out
// over the lanes of a row while it is joined.
//
// Example, rows of two vectors, two lanes, two rows a lane (a and b are the lane's vectors of rows
// 0 and 1):
//
//   lane 0 has a0 b0, lane 1 has a1 b1
//   lane 0 gives b0 and gets a1; lane 1 gives a1 and gets b0
//   lane 0 has row 0 = a0 + a1, lane 1 has row 1 = b0 + b1: one exchange joined two rows
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_SUMS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/groups/words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Turns of a warp: kVectors loads of a vector by each lane, of rows that follow one another.
template <class T>
struct RowTurns {
  static constexpr uint32_t kVectors = PairTuning::kRowVectorsInFlight;
  static constexpr uint32_t kTurnVectors = kVectors * ReduceTuning::kWarpThreads;

  const uint4* lane_vectors;  // From the lane's first on.
  uint64_t left;              // Vectors of all rows from there on.
  uint32_t row_vectors;
  uint32_t rows;  // Of a turn.

  __device__ RowTurns(const ReductionParameters& parameters, uint32_t lane)
      : lane_vectors(static_cast<const uint4*>(parameters.elements) + lane),
        row_vectors(static_cast<uint32_t>(parameters.group_size) / kVectorSize<T>),
        rows(kTurnVectors / row_vectors) {
    const uint64_t vectors = parameters.group_count * row_vectors;
    left = vectors > lane ? vectors - lane : 0;
  }

  // Turns of which all vectors exist: equally many for all lanes.
  __device__ uint32_t FullTurns(const ReductionParameters& parameters) const {
    return static_cast<uint32_t>(parameters.group_count / rows);
  }
  __device__ const uint4* Of(uint32_t turn) const {
    return lane_vectors + uint64_t{turn} * kTurnVectors;
  }
  // The lane's vector of a load; what there is not becomes elements that add nothing.
  __device__ uint4 Load(uint32_t turn, uint32_t k) const {
    const uint32_t place = k * ReduceTuning::kWarpThreads;
    return uint64_t{turn} * kTurnVectors + place < left ? Of(turn)[place] : NegativeZeros<T>();
  }
  __device__ void Load(uint32_t turn, uint4 (&raw)[kVectors]) const {
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) raw[k] = Load(turn, k);
  }
};

// What lanes have of a row: a double of floats and smaller elements, which holds it where
// DoubleHoldsAll.
template <class T>
using RowSum = std::conditional_t<sizeof(T) == sizeof(double), LanePair, double>;

template <uint32_t kSize>
__device__ inline double RowSumOf(const Batch<float, kSize>& batch) {
  return SumOfVector(batch.values);
}
__device__ inline LanePair RowSumOf(const Batch<double, 2>& batch) {
  const SumAndError sum = SumAndError::Of(batch.values[0], batch.values[1]);
  return {{sum.sum, sum.error, 0}};
}

__device__ inline void JoinWithLane(const Warp& warp, double given, uint32_t distance,
                                    double& sum) {
  sum += warp.shfl_xor(given, distance);
}
__device__ inline void JoinWithLane(const Warp& warp, const LanePair& given, uint32_t distance,
                                    LanePair& sum) {
  sum.MergeLane(warp, given, distance);
}

// Values are chosen field by field: chosen as a whole, they would have to be in memory.
__device__ inline double Chosen(bool first, double a, double b) { return first ? a : b; }
__device__ inline LanePair Chosen(bool first, const LanePair& a, const LanePair& b) {
  return {{first ? a.high : b.high, first ? a.low : b.low, first ? a.lost : b.lost}};
}

__device__ inline CheckedPair AsChecked(double sum) { return {sum, 0, 0}; }
__device__ inline CheckedPair AsChecked(const LanePair& sum) { return sum; }

// Joins kCount sums of each lane over each 2 * `distance` neighbours, which then have the joined
// ones from lane to lane, kCount / (2 * distance) each, or one that several have. Lanes exchange
// halves of what they have.
template <uint32_t kCount, class Sum, uint32_t kSize>
__device__ inline void DealOut(const Warp& warp, uint32_t distance, Sum (&sums)[kSize]) {
  if (distance == 0) return;
  if constexpr (kCount == 1) {
#pragma unroll 1
    for (; distance > 0; distance /= 2) JoinWithLane(warp, sums[0], distance, sums[0]);
  } else {
    constexpr uint32_t kHalf = kCount / 2;
    const bool is_upper = (warp.thread_rank() & distance) != 0;
#pragma unroll
    for (uint32_t k = 0; k < kHalf; ++k) {
      const Sum given = Chosen(is_upper, sums[k], sums[k + kHalf]);
      sums[k] = Chosen(is_upper, sums[k + kHalf], sums[k]);
      JoinWithLane(warp, given, distance, sums[k]);
    }
    DealOut<kHalf>(warp, distance / 2, sums);
  }
}

// The rows of a turn whose sums a lane has once they are dealt out, of `width` vectors each.
struct RowsOfLane {
  uint32_t first;
  uint32_t step;
  uint32_t count;

  // The lane that has a row of the turn.
  template <uint32_t kCount>
  __device__ static uint32_t LaneOf(uint32_t row, uint32_t width) {
    const uint32_t step = ReduceTuning::kWarpThreads / width;
    const uint32_t count = max(kCount / width, 1u);
    const uint32_t sharers = max(width / kCount, 1u);
    return row % step * width + row / step / count * sharers;
  }

  template <uint32_t kCount>
  __device__ static RowsOfLane Of(uint32_t lane, uint32_t width) {
    const uint32_t step = ReduceTuning::kWarpThreads / width;
    const uint32_t count = max(kCount / width, 1u);
    const uint32_t sharers = max(width / kCount, 1u);  // Lanes with the same sum.
    const uint32_t first = lane % width / sharers * count * step + lane / width;
    return {first, step, lane % sharers == 0 ? count : 0};
  }
};

// Writes what is asked for of a lane's rows of a turn that begins with `row`, if it is certain;
// returns whether it is.
template <class Sum, uint32_t kCount>
__device__ inline bool TryFinishRows(const ReductionParameters& parameters,
                                     const MeanDivisor& divisor, uint64_t row,
                                     const RowsOfLane& rows, Sum (&sums)[kCount]) {
  row += rows.first;
  bool is_certain = true;
  if (double* const sums_of_rows = OnlySums(parameters); sums_of_rows != nullptr) {
#pragma unroll
    for (uint32_t k = 0; k < kCount; ++k, row += rows.step) {
      if (k >= rows.count || row >= parameters.group_count) break;
      const CheckedPair sum = AsChecked(sums[k]);
      double rounded;
      is_certain = sum.Round(sum.Error(), rounded) && is_certain;
      sums_of_rows[row] = rounded;
    }
    return is_certain;
  }
#pragma unroll 1
  for (uint32_t k = 0; k < rows.count && row < parameters.group_count; ++k, row += rows.step) {
    is_certain =
        TryFinishValues(parameters, row, divisor, parameters.group_size, AsChecked(sums[0])) &&
        is_certain;
    // Registers have no index.
#pragma unroll
    for (uint32_t i = 0; i + 1 < kCount; ++i) sums[i] = sums[i + 1];
  }
  return is_certain;
}

// A turn of which something is not certain, and lanes that have the rows concerned.
struct LeftTurn {
  uint32_t turn;
  uint32_t lanes;
};

// Turns from `turn` on, every step-th, up to the first of which something is not certain, which is
// returned; else one behind the last.
template <class T>
__device__ inline LeftTurn SumTurnsOfRows(const Warp& warp, const ReductionParameters& parameters,
                                          const RowTurns<T>& turns, uint32_t turn, uint32_t step) {
  using Turns = RowTurns<T>;
  constexpr bool kHasRange = std::is_same_v<RowSum<T>, double>;
  const uint32_t size = static_cast<uint32_t>(parameters.group_size);
  const MeanDivisor divisor(size);
  const uint32_t full_turns = turns.FullTurns(parameters);
  const RowsOfLane rows = RowsOfLane::Of<Turns::kVectors>(warp.thread_rank(), turns.row_vectors);

  uint4 raw[Turns::kVectors];
  turns.Load(turn, raw);
#pragma unroll 1
  for (; uint64_t{turn} * turns.rows < parameters.group_count; turn += step) {
    const bool next_is_full = turn + step < full_turns;
    const uint4* const next = turns.Of(turn + step);
    [[maybe_unused]] VectorMagnitudes<T> magnitudes;
    RowSum<T> sums[Turns::kVectors];
#pragma unroll
    for (uint32_t k = 0; k < Turns::kVectors; ++k) {
      const auto batch = BatchOf<T>(raw[k]);
      if constexpr (kHasRange) magnitudes.Add(raw[k]);
      sums[k] = RowSumOf(batch);
      if (next_is_full) raw[k] = next[k * ReduceTuning::kWarpThreads];
    }
    if (!next_is_full) turns.Load(turn + step, raw);
    if constexpr (kHasRange) {
      if (!DoubleHoldsAll(RangeOfWarp(magnitudes.Range()), size)) return {turn, ~uint32_t{0}};
    }
    DealOut<Turns::kVectors>(warp, turns.row_vectors / 2, sums);
    const bool is_certain =
        TryFinishRows(parameters, divisor, uint64_t{turn} * turns.rows, rows, sums);
    if (const uint32_t left = warp.ballot(!is_certain); left != 0) return {turn, left};
  }
  return {turn, 0};
}

// Sums those rows of a turn, whatever their elements are, that some lanes have.
template <class T>
__device__ inline void SumRowsInWords(const Warp& warp, const ReductionParameters& parameters,
                                      const RowTurns<T>& turns, const LeftTurn& left) {
  const uint64_t first = uint64_t{left.turn} * turns.rows;
  const uint32_t rows =
      static_cast<uint32_t>(min(uint64_t{turns.rows}, parameters.group_count - first));
#pragma unroll 1
  for (uint32_t begin = 0; begin < rows; begin += ReduceTuning::kWarpThreads) {
    const uint32_t row = begin + warp.thread_rank();
    const uint32_t lane = RowsOfLane::LaneOf<RowTurns<T>::kVectors>(row, turns.row_vectors);
    const uint32_t of_words = warp.ballot(row < rows && (left.lanes >> lane & 1) != 0);
    if (of_words == 0) continue;
    SumGroupsInWords<T>(parameters, WarpWords<T>::Of(warp), first + begin, of_words, 0);
  }
}

// Requires aligned elements, rows of no more vectors than a warp has lanes, a power of two, and
// that no states are asked for. Turns of which something is not certain are loaded again, outside
// of the loop over turns: registers that calls keep are few.
template <class T>
__global__ void __launch_bounds__(PairTuning::kGroupThreads, GroupResidentBlocks(sizeof(T)))
    ReduceRowSums(const __grid_constant__ ReductionParameters parameters) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const RowTurns<T> turns(parameters, warp.thread_rank());
  const uint32_t step = gridDim.x * warp.meta_group_size();
  uint32_t turn = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
#pragma unroll 1
  for (;;) {
    const LeftTurn left = SumTurnsOfRows(warp, parameters, turns, turn, step);
    if (left.lanes == 0) return;
    SumRowsInWords(warp, parameters, turns, left);
    turn = left.turn + step;
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_SUMS_CUH_
