// Sums of many groups of contiguous floating-point elements: each by lanes of a warp, by a thread
// that loads it at once, or by a block.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUP_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUP_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_tiles.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// The share of thread `rank` of `threads` in the elements of a group, of which it has kInFlight
// vectors under way.
template <uint32_t kInFlight, class T>
__device__ inline RangedPair SumOfThread(const T* elements, uint32_t count, uint32_t rank,
                                         uint32_t threads) {
  constexpr uint32_t kSize = kVectorSize<T>;
  constexpr uint32_t kEdges = kSize - 1;  // Elements before the vectors, and after them.
  const uint32_t misaligned =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) / sizeof(T)) % kSize;
  const uint32_t head = min((kSize - misaligned) % kSize, count);
  const uint32_t vector_count = (count - head) / kSize;
  const uint32_t tail = head + vector_count * kSize;
  const auto* const vectors = reinterpret_cast<const uint4*>(elements + head);
  RangedPair sum;
  const bool has_edges = head != 0 || tail != count;
  float edges[2 * kEdges];
  if (has_edges) {
#pragma unroll
    for (uint32_t i = 0; i < kEdges; ++i) {
      const uint32_t at = rank + i * threads;
      edges[i] = at < head ? ToCompute(elements[at]) : -0.0f;
      edges[kEdges + i] = tail + at < count ? ToCompute(elements[tail + at]) : -0.0f;
    }
  }
#pragma unroll 1
  for (uint32_t first = rank; first < vector_count; first += kInFlight * threads) {
    uint4 raw[kInFlight];
    if (first + (kInFlight - 1) * threads < vector_count) {
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) raw[k] = vectors[first + k * threads];
    } else {
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        raw[k] = NegativeZeros<T>();
        if (first + k * threads < vector_count) raw[k] = vectors[first + k * threads];
      }
    }
    float values[kInFlight * kSize];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      const auto batch = BatchOf<T>(raw[k]);
#pragma unroll
      for (uint32_t i = 0; i < kSize; ++i) values[k * kSize + i] = batch.values[i];
    }
    sum.Add(values);
  }
  if (has_edges) sum.Add(edges);
  return sum;
}

// What a warp's lanes add up at most times on the way of an element to the sum of a group.
__device__ inline uint32_t ChainOf(uint32_t count, uint32_t threads) {
  return count / threads + 64;
}

// Sums a group with all lanes of a warp, whatever its elements are. Called by all lanes. Not
// inlined: it is long and seldom needed.
template <class T>
__device__ __noinline__ void SumByWarp(const ReductionParameters& parameters, uint64_t group) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const GroupRange range = RangeOf(parameters, group);
  const T* const elements = static_cast<const T*>(parameters.elements) + range.begin;
  const uint32_t rank = warp.thread_rank();
  const uint32_t size = static_cast<uint32_t>(range.size);
  RangedPair sum = SumOfThread<PairTuning::kVectorsInFlight>(elements, size, rank, warp.size());
  sum.JoinLanes(warp, warp.size());
  if (sum.Holds(size, ChainOf(size, warp.size()))) {
    if (rank == 0) FinishPair<T>(parameters, group, size, sum.pair);
    return;
  }
  const uint32_t count = size > rank ? (size - rank - 1) / warp.size() + 1 : 0;
  SumOnlyState<T> state = SumInWords(elements + rank, warp.size(), count);
  MergeStates<T>(warp, 1, state);
  if (rank == 0) FinishGroup(parameters, group, size, state);
}

// Groups by `width` lanes each. Those that are much longer than others, or that pairs do not hold,
// are left to the whole warp.
template <class T>
__global__ void __launch_bounds__(PairTuning::kThreads, PairTuning::kResidentBlocks)
    ReduceGroupSums(const __grid_constant__ ReductionParameters parameters,
                    const __grid_constant__ TileWork work) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const uint32_t width = 1u << work.width_log2;
  const uint32_t tiles = ReduceTuning::kWarpThreads >> work.width_log2;
  const uint32_t tile = warp.thread_rank() >> work.width_log2;
  const uint32_t rank = warp.thread_rank() & (width - 1);
  const uint32_t size_max =
      width == ReduceTuning::kWarpThreads ? ~0u : width * PairTuning::kLaneElementsMax;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * warp.meta_group_size() * tiles;
  const auto range_of = [&](uint64_t group) {
    return group < parameters.group_count ? RangeOf(parameters, group) : GroupRange{0, 0};
  };

  uint64_t first =
      (static_cast<uint64_t>(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank()) * tiles;
  GroupRange next = range_of(first + tile);
  // All lanes make the same number of turns, so that they meet in JoinLanes.
#pragma unroll 1
  for (; first < parameters.group_count; first += step) {
    const uint64_t group = first + tile;
    const GroupRange range = next;
    next = range_of(group + step);  // Offsets of the next turn arrive meanwhile.
    const bool is_first = rank == 0 && group < parameters.group_count;
    const bool is_long = range.size > work.group_elements_max;
    const bool is_wide = !is_long && range.size > size_max;
    const uint32_t size = is_long || is_wide ? 0 : static_cast<uint32_t>(range.size);
    RangedPair sum = SumOfThread<PairTuning::kVectorsInFlight>(
        static_cast<const T*>(parameters.elements) + range.begin, size, rank, width);
    sum.JoinLanes(warp, width);
    const bool holds = !is_wide && sum.Holds(size, ChainOf(size, width));
    if (is_first && is_long) QueueSegment(work, group, range.size);
    if (is_first && !is_long && holds) FinishPair<T>(parameters, group, size, sum.pair);
    for (uint32_t rest = warp.ballot(is_first && !holds); rest != 0; rest &= rest - 1) {
      const uint32_t lane = static_cast<uint32_t>(__ffs(static_cast<int>(rest))) - 1;
      SumByWarp<T>(parameters, first + (lane >> work.width_log2));
    }
  }
}

// Groups of one vector each: a thread takes kTileVectorsInFlight of them at a time. Requires
// aligned elements.
template <class T>
__global__ void __launch_bounds__(PairTuning::kThreads, PairTuning::kResidentBlocks)
    ReduceVectorSums(const __grid_constant__ ReductionParameters parameters) {
  constexpr uint32_t kGroups = PairTuning::kVectorsInFlight;
  constexpr uint32_t kSize = kVectorSize<T>;
  const uint64_t step = uint64_t{gridDim.x} * PairTuning::kThreads * kGroups;
  const auto* const vectors = static_cast<const uint4*>(parameters.elements);
#pragma unroll 1
  for (uint64_t first = uint64_t{blockIdx.x} * PairTuning::kThreads * kGroups + threadIdx.x;
       first < parameters.group_count; first += step) {
    uint4 raw[kGroups] = {};
#pragma unroll
    for (uint32_t k = 0; k < kGroups; ++k) {
      const uint64_t group = first + k * PairTuning::kThreads;
      if (group < parameters.group_count) raw[k] = vectors[group];
    }
#pragma unroll
    for (uint32_t k = 0; k < kGroups; ++k) {
      const uint64_t group = first + k * PairTuning::kThreads;
      if (group >= parameters.group_count) break;
      const auto batch = BatchOf<T>(raw[k]);
      MagnitudeRange range;
      double sum = -0.0;
#pragma unroll
      for (uint32_t i = 0; i < kSize; ++i) {
        range.Add(MagnitudeBits(batch.values[i]));
        sum += static_cast<double>(batch.values[i]);
      }
      // A double that is not finite is the sum of elements that are not.
      if (DoubleHolds<kSize>(range) && IsFinite(sum)) {
        FinishPair<T>(parameters, group, kSize, {sum, 0});
      } else {
        const SumOnlyState<T> state =
            SumInWords(static_cast<const T*>(parameters.elements) + group * kSize, 1, kSize);
        FinishGroup(parameters, group, kSize, state);
      }
    }
  }
}

// Groups by a block each: few of them, or one that is short.
template <class T>
__global__ void __launch_bounds__(PairTuning::kBlockThreads)
    ReduceBlockSums(const __grid_constant__ ReductionParameters parameters) {
  __shared__ SharedStates<SumOnlyState<T>, ReduceTuning::kWarpsMax> states;
  __shared__ SharedStates<RangedPair, ReduceTuning::kWarpsMax> sums;
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const uint32_t rank = block.thread_rank();
  const uint32_t threads = static_cast<uint32_t>(block.size());
  const uint32_t size = static_cast<uint32_t>(parameters.group_size);
#pragma unroll 1
  for (uint64_t group = blockIdx.x; group < parameters.group_count; group += gridDim.x) {
    const T* const elements = static_cast<const T*>(parameters.elements) + group * size;
    RangedPair sum = SumOfThread<PairTuning::kBlockVectorsInFlight>(elements, size, rank, threads);
    sum.JoinLanes(warp, warp.size());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
    block.sync();
    // All warps do so: then all know, without meeting again.
    sum = warp.thread_rank() < warp.meta_group_size() ? sums[warp.thread_rank()] : RangedPair();
    sum.JoinLanes(warp, warp.size());
    if (sum.Holds(size, ChainOf(size, threads))) {
      if (rank == 0) FinishPair<T>(parameters, group, size, sum.pair);
    } else {
      const uint32_t count = size > rank ? (size - rank - 1) / threads + 1 : 0;
      SumOnlyState<T> state = SumInWords(elements + rank, threads, count);
      MergeStates<T>(warp, 1, state);
      if (warp.thread_rank() == 0) states[warp.meta_group_rank()] = state;
      block.sync();
      if (rank == 0) {
        for (uint32_t w = 1; w < warp.meta_group_size(); ++w) state.Merge(states[w]);
        FinishGroup(parameters, group, size, state);
      }
    }
    block.sync();  // Before `sums` is used again.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUP_SUMS_CUH_
