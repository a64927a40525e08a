// Sums of very many rows of 8, 16 or 32 vectors: a warp's lanes read neighbouring vectors, whole
// lines of memory in each load, and what each lane has of several rows is dealt out over the lanes
// of a row while it is joined.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_ROW_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_ROW_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_group_words.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/cuda/reduce_windows.cuh"

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

  // Of which all vectors are there: the same for all lanes.
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

// Of kCount values of each lane, the sum of one over `lanes` neighbours, where doubles do: value k
// of those from lane k * lanes / kCount on. Lanes exchange halves of what they have.
template <uint32_t kCount>
__device__ inline double SumDealtOut(const Warp& warp, uint32_t lanes, double (&values)[kCount]) {
  uint32_t distance = lanes / 2;
#pragma unroll
  for (uint32_t half = kCount / 2; half > 0; half /= 2) {
    const bool is_upper = (warp.thread_rank() & distance) != 0;
#pragma unroll
    for (uint32_t k = 0; k < half; ++k) {
      const double given = is_upper ? values[k] : values[k + half];
      const double kept = is_upper ? values[k + half] : values[k];
      values[k] = kept + warp.shfl_xor(given, distance);
    }
    distance /= 2;
  }
  double sum = values[0];
#pragma unroll 1
  for (; distance > 0; distance /= 2) sum += warp.shfl_xor(sum, distance);
  return sum;
}

// Turns from `turn` on, every step-th, up to the first of which some sum may be rounded, which is
// returned; else one behind the last.
template <class T>
__device__ inline uint32_t SumTurnsOfRows(const Warp& warp, const ReductionParameters& parameters,
                                          const RowTurns<T>& turns, uint32_t turn, uint32_t step) {
  using Turns = RowTurns<T>;
  static_assert(PairTuning::kRowVectorsMin == Turns::kVectors);
  static_assert(Turns::kTurnVectors / PairTuning::kRowVectorsMin <=
                ReduceTuning::kWarpThreads);  // Rows of a turn.
  const uint32_t size = static_cast<uint32_t>(parameters.group_size);
  const uint32_t full_turns = turns.FullTurns(parameters);
  // The lanes of a row, and those of them that have the same sum.
  const uint32_t width = turns.row_vectors;
  const uint32_t sharers = width / Turns::kVectors;
  const uint32_t place = warp.thread_rank() % width / sharers;  // Of the loads.
  const uint32_t row_of_lane =
      place * (ReduceTuning::kWarpThreads / width) + warp.thread_rank() / width;
  const bool writes = warp.thread_rank() % sharers == 0;
  double* const sums_of_rows = OnlySums(parameters);

  uint4 raw[Turns::kVectors];
  turns.Load(turn, raw);
#pragma unroll 1
  for (; uint64_t{turn} * turns.rows < parameters.group_count; turn += step) {
    const bool next_is_full = turn + step < full_turns;
    const uint4* const next = turns.Of(turn + step);
    MagnitudeRange range;
    double sums[Turns::kVectors];
#pragma unroll
    for (uint32_t k = 0; k < Turns::kVectors; ++k) {
      const auto batch = BatchOf<T>(raw[k]);
#pragma unroll
      for (const float x : batch.values) range.Add(MagnitudeBits(x));
      sums[k] = SumOfVector(batch.values);
      if (next_is_full) raw[k] = next[k * ReduceTuning::kWarpThreads];
    }
    if (!next_is_full) turns.Load(turn + step, raw);
    if (!DoubleHoldsAll(RangeOfWarp(range), size)) return turn;
    const double sum = SumDealtOut(warp, width, sums);
    const uint64_t row = uint64_t{turn} * turns.rows + row_of_lane;
    if (writes && row < parameters.group_count) sums_of_rows[row] = sum;
  }
  return turn;
}

// Requires aligned elements, rows of kRowVectorsMin to as many vectors as a warp has lanes, a power
// of two, and that nothing but their sums is asked for. Turns whose sums may be rounded are loaded
// again, outside of the loop over turns: registers that calls keep are few.
template <class T>
__global__ void __launch_bounds__(PairTuning::kGroupThreads, PairTuning::kGroupResidentBlocks)
    ReduceRowSums(const __grid_constant__ ReductionParameters parameters) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const RowTurns<T> turns(parameters, warp.thread_rank());
  const uint32_t step = gridDim.x * warp.meta_group_size();
  uint32_t turn = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
#pragma unroll 1
  for (;;) {
    turn = SumTurnsOfRows(warp, parameters, turns, turn, step);
    const uint64_t first = uint64_t{turn} * turns.rows;
    if (first >= parameters.group_count) return;
    const uint64_t rows = min(uint64_t{turns.rows}, parameters.group_count - first);
    SumGroupsInWords<T>(parameters, WarpWords::Of(warp), first,
                        ~uint32_t{0} >> (ReduceTuning::kWarpThreads - rows), 0);
    turn += step;
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_ROW_SUMS_CUH_
