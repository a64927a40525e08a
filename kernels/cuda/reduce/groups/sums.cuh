// These kernels sum many groups of contiguous floating-point elements: a group by lanes of a warp,
// by a thread that loads it at once, or by a block.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_SUMS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/groups/shares.cuh"
#include "kernels/cuda/reduce/groups/tiles.cuh"
#include "kernels/cuda/reduce/groups/words.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/sums/expansion_sum.h"

namespace gridfold::kernels::cuda {

// Sums a group with all lanes of a warp, whatever its elements are, or leaves it to blocks where it
// is long. Called by all lanes.
template <class T>
__device__ inline void QueueOrSumByWarp(const ReductionParameters& parameters, const TileWork& work,
                                        WarpWords<T> words, uint64_t group) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const GroupRange range = RangeOf(parameters, group);
  if (range.size > work.group_elements_max) {
    if (warp.thread_rank() == 0) QueueSegment(work, group, range.size);
    return;
  }
  const T* const elements = static_cast<const T*>(parameters.elements) + range.begin;
  const uint32_t rank = warp.thread_rank();
  const uint32_t size = static_cast<uint32_t>(range.size);
  GroupSum<T> sum = SumOfThread<PairTuning::kVectorsInFlight, 2>(elements, size, rank, warp.size());
  const bool holds = sum.JoinLanes(warp, warp.size(), size);
  // The first lane is asked; all lanes have its sum.
  const bool is_finished =
      rank == 0 && TryFinish<T>(parameters, group, size, sum, holds, ChainOf(size, warp.size()));
  if (!warp.any(is_finished)) SumGroupsInWords<T>(parameters, words, group, 1, 0);
}

// Groups by 2^width_log2 lanes each, of which group `first` is the first: sums those of which the
// first lane's bit is set, or leaves them to blocks. Those of `unheld` are not too long for a warp,
// and pairs do not hold their sums. Not inlined: it is long and seldom needed.
template <class T>
__device__ __noinline__ void QueueOrSumByWarp(const ReductionParameters& parameters,
                                              const TileWork& work, WarpWords<T> words,
                                              uint64_t first, uint32_t lanes, uint32_t unheld,
                                              uint32_t width_log2) {
  const uint32_t lane = threadIdx.x % ReduceTuning::kWarpThreads;
  const bool is_unheld = (unheld >> lane & 1) != 0;
  const uint64_t size = is_unheld ? RangeOf(parameters, first + (lane >> width_log2)).size : 0;
  const uint32_t brief =
      __ballot_sync(~0u, is_unheld && size <= PairTuning::kBriefGroupElementsMax);
  if (brief != 0) SumGroupsInWords<T>(parameters, words, first, brief, width_log2);
#pragma unroll 1
  for (uint32_t rest = unheld & ~brief; rest != 0; rest &= rest - 1) {
    SumGroupsInWords<T>(parameters, words, first, rest & (0 - rest), width_log2);
  }
#pragma unroll 1
  for (uint32_t rest = lanes & ~unheld; rest != 0; rest &= rest - 1) {
    const uint32_t next = static_cast<uint32_t>(__ffs(static_cast<int>(rest))) - 1;
    QueueOrSumByWarp<T>(parameters, work, words, first + (next >> width_log2));
  }
}

// Groups by `width` lanes each. Those that are much longer than others, or that pairs do not hold,
// are left to the whole warp.
template <class T>
__global__ void __launch_bounds__(PairTuning::kGroupThreads, GroupResidentBlocks(sizeof(T)))
    ReduceGroupSums(const __grid_constant__ ReductionParameters parameters,
                    const __grid_constant__ TileWork work) {
  using Share = GroupShare<T, PairTuning::kGroupVectorsInFlight>;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const uint32_t width = 1u << work.width_log2;
  const uint32_t tiles = ReduceTuning::kWarpThreads >> work.width_log2;
  const uint32_t tile = warp.thread_rank() >> work.width_log2;
  const uint32_t rank = warp.thread_rank() & (width - 1);
  const uint32_t size_max =
      width == ReduceTuning::kWarpThreads ? ~0u - 1 : width * PairTuning::kLaneElementsMax;
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * warp.meta_group_size() * tiles;
  const auto range_of = [&](uint64_t group) {
    return group < parameters.group_count ? RangeOf(parameters, group) : GroupRange{0, 0};
  };
  const uint64_t taken_max = min(work.group_elements_max, uint64_t{size_max});
  // A group that is left to others has kLeft elements here, of which none are loaded.
  constexpr uint32_t kLeft = ~uint32_t{0};
  const auto count_of = [&](const GroupRange& range) {
    return range.size > taken_max ? kLeft : static_cast<uint32_t>(range.size);
  };
  const auto share_of = [&](uint64_t begin, uint32_t count) {
    return Share{static_cast<const T*>(parameters.elements) + begin, count == kLeft ? 0 : count};
  };

  uint64_t first =
      (static_cast<uint64_t>(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank()) * tiles;
  GroupRange next = range_of(first + tile);
  uint64_t begin = next.begin;
  uint32_t count = count_of(next);
  next = range_of(first + step + tile);
  uint4 raw[PairTuning::kGroupVectorsInFlight];
  share_of(begin, count).Vectors(rank, width).Load(raw);
  // All lanes make the same number of turns, so that they meet in JoinLanes. While a batch is added
  // the next one's loads are under way, and while sums are joined the offsets of the turn after the
  // next.
#pragma unroll 1
  for (; first < parameters.group_count; first += step) {
    const uint64_t group = first + tile;
    const Share share = share_of(begin, count);
    const uint64_t next_begin = next.begin;
    const uint32_t next_count = count_of(next);
    GroupSum<T> sum;
    auto vectors = share.Vectors(rank, width);
    for (bool is_last = false; !is_last;) {
      const auto rest = vectors.Rest();
      is_last = rest.left == 0;
      const auto following = is_last ? share_of(next_begin, next_count).Vectors(rank, width) : rest;
      vectors.AddTo(sum, raw, following);
      vectors = following;
    }
    next = range_of(group + 2 * step);
    share.AddEdges(rank, width, sum);
    const bool is_plain = sum.JoinLanes(warp, width, share.count);
    const bool is_first = rank == 0 && group < parameters.group_count;
    const bool holds = is_first && count != kLeft &&
                       TryFinish<T>(parameters, group, count, sum, is_plain, ChainOf(count, width));
    const bool is_unheld = count != kLeft;
    begin = next_begin;
    count = next_count;
    if (const uint32_t rest = warp.ballot(is_first && !holds); rest != 0) {
      const uint32_t unheld = rest & warp.ballot(is_unheld);
      QueueOrSumByWarp<T>(parameters, work, WarpWords<T>::Of(warp), first, rest, unheld,
                          work.width_log2);
      // Loaded again: registers that calls keep are few.
      const GroupRange range = range_of(group + step);
      begin = range.begin;
      count = count_of(range);
      next = range_of(group + 2 * step);
      share_of(begin, count).Vectors(rank, width).Load(raw);
    }
  }
}

// The sum of a few floats where it is certain that it is exact; returns whether it is.
template <uint32_t kCount>
__device__ inline bool SumExactly(const float (&values)[kCount], double& sum) {
  MagnitudeRange range;
  sum = -0.0;
#pragma unroll
  for (const float x : values) {
    range.Add(MagnitudeBits(x));
    sum += static_cast<double>(x);
  }
  // A double that is not finite is the sum of elements that are not.
  return DoubleHolds<kCount>(range) && IsFinite(sum);
}

// Writes what is asked for of the groups of a vector, of kSize elements each, with exact sums.
template <class T, uint32_t kSize, uint32_t kGroups>
__device__ inline void FinishVector(const ReductionParameters& parameters, uint64_t vector,
                                    const double (&sums)[kGroups]) {
  static_assert(std::has_single_bit(kSize));  // Means are exact, too.
#pragma unroll 1
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    const Statistic statistic = parameters.statistics[i];
    struct alignas(sizeof(uint64_t) * kGroups) Values {
      uint64_t values[kGroups];
    } of_vector;
#pragma unroll
    for (uint32_t g = 0; g < kGroups; ++g) {
      const double value = statistic == Statistic::kMean ? sums[g] * (1.0 / kSize) : sums[g];
      of_vector.values[g] = statistic == Statistic::kCount
                                ? kSize
                                : static_cast<uint64_t>(__double_as_longlong(value));
    }
    uint64_t* const slots = &parameters.slots[parameters.rows[i] * parameters.group_count];
    if (reinterpret_cast<uintptr_t>(slots) % alignof(Values) == 0) {
      reinterpret_cast<Values*>(slots)[vector] = of_vector;
    } else {
#pragma unroll
      for (uint32_t g = 0; g < kGroups; ++g) slots[vector * kGroups + g] = of_vector.values[g];
    }
  }
  if (parameters.states == nullptr) return;
#pragma unroll
  for (uint32_t g = 0; g < kGroups; ++g) {
    StorePairState<T>(parameters.states, vector * kGroups + g, sums[g], 0);
  }
}

// Groups of kSize elements, a vector's or a few that divide it: a thread takes kVectorsInFlight
// vectors at a time. Requires aligned elements, and vectors that are full.
template <class T, uint32_t kSize>
__global__ void __launch_bounds__(PairTuning::kGroupThreads,
                                  VectorResidentBlocks(kVectorSize<T> / kSize))
    ReduceVectorSums(const __grid_constant__ ReductionParameters parameters) {
  constexpr uint32_t kVectors = PairTuning::kVectorsInFlight;
  constexpr uint32_t kGroups = kVectorSize<T> / kSize;  // Of a vector.
  const uint64_t vector_count = parameters.group_count / kGroups;
  const uint64_t step = uint64_t{gridDim.x} * PairTuning::kGroupThreads * kVectors;
  const auto* const vectors = static_cast<const uint4*>(parameters.elements);
  double* const only_sums = OnlySums(parameters);
#pragma unroll 1
  for (uint64_t first = uint64_t{blockIdx.x} * PairTuning::kGroupThreads * kVectors + threadIdx.x;
       first < vector_count; first += step) {
    uint4 raw[kVectors] = {};
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      const uint64_t vector = first + k * PairTuning::kGroupThreads;
      if (vector < vector_count) raw[k] = vectors[vector];
    }
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      const uint64_t vector = first + k * PairTuning::kGroupThreads;
      if (vector >= vector_count) break;
      struct Parts {
        float values[kGroups][kSize];
      };
      const Parts parts = std::bit_cast<Parts>(BatchOf<T>(raw[k]));
      double sums[kGroups];
      bool are_exact = true;
#pragma unroll
      for (uint32_t g = 0; g < kGroups; ++g) {
        are_exact = SumExactly(parts.values[g], sums[g]) && are_exact;
      }
      if (are_exact) {
        FinishVector<T, kSize>(parameters, vector, sums);
        continue;
      }
#pragma unroll
      for (uint32_t g = 0; g < kGroups; ++g) {
        const uint64_t group = vector * kGroups + g;
        if (only_sums != nullptr) {
          only_sums[group] = Answered(RoundedSum(parts.values[g]));
        } else {
          const SumOnlyState<T> state =
              SumInWords(static_cast<const T*>(parameters.elements) + group * kSize, 1, kSize);
          FinishGroup(parameters, group, kSize, state);
        }
      }
    }
  }
}

// Groups by a block each: few of them, or one that is short; or one that is longer by some blocks,
// as many as chunks_per_group says, the last of which joins what they leave.
template <class T>
__global__ void __launch_bounds__(PairTuning::kBlockThreads)
    ReduceBlockSums(const __grid_constant__ ReductionParameters parameters,
                    const __grid_constant__ BlockWork work) {
  static_assert(sizeof(RangedPair) == PairTuning::kBlockPartialBytes);
  __shared__ uint32_t drawn;
  __shared__ SharedStates<SumOnlyState<T>, ReduceTuning::kWarpsMax> states;
  __shared__ SharedStates<RangedPair, ReduceTuning::kWarpsMax> sums;
  const cg::thread_block block = cg::this_thread_block();
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  const uint32_t rank = block.thread_rank();
  const uint32_t threads = static_cast<uint32_t>(block.size());
  const uint32_t size = static_cast<uint32_t>(parameters.group_size);
  const uint32_t chunks = work.chunks_per_group;
  const bool is_shared = chunks > 1;
  const uint32_t rank_in_group = is_shared ? blockIdx.x * threads + rank : rank;
#pragma unroll 1
  for (uint64_t group = is_shared ? 0 : blockIdx.x; group < parameters.group_count;
       group += gridDim.x) {
    const T* const elements =
        static_cast<const T*>(parameters.elements) + parameters.FirstOfRow(group);
    RangedPair sum = SumOfThread<PairTuning::kBlockVectorsInFlight, PairTuning::kBlockPieces>(
        elements, size, rank_in_group, chunks * threads);
    sum.JoinLanes(warp, warp.size(), size);
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
    SyncBlock(block);
    // All warps do so: then all know, without meeting again.
    sum = warp.thread_rank() < warp.meta_group_size() ? sums[warp.thread_rank()] : RangedPair();
    bool is_plain = sum.JoinLanes(warp, warp.size(), size);
    if (is_shared) {
      RangedPair* const partials = static_cast<RangedPair*>(work.block_registers);
      if (rank == 0) partials[blockIdx.x] = sum;
      if (!IsLastBlock(block, static_cast<uint32_t*>(work.totals), chunks, drawn)) return;
      sum = warp.thread_rank() < chunks ? partials[warp.thread_rank()] : RangedPair();
      is_plain = sum.JoinLanes(warp, warp.size(), size);
    }
    if (is_plain || sum.Holds(size, ChainOf(size, threads))) {
      if (rank == 0) FinishPair<T>(parameters, group, size, sum.pair);
    } else {
      const uint32_t count = size > rank ? (size - rank - 1) / threads + 1 : 0;
      SumOnlyState<T> state = SumInWords(elements + rank, threads, count);
      MergeStates<T>(warp, 1, state);
      if (warp.thread_rank() == 0) states[warp.meta_group_rank()] = state;
      SyncBlock(block);
      if (rank == 0) {
        for (uint32_t w = 1; w < warp.meta_group_size(); ++w) state.Merge(states[w]);
        FinishGroup(parameters, group, size, state);
      }
    }
    SyncBlock(block);  // Before `sums` is used again.
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_SUMS_CUH_
