// The states of threads are joined here: within a warp by shuffles, within a block through shared
// memory, and between the blocks of a group by a ticket, of which the last to draw joins what all
// have left.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_CUH_

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

namespace cg = cooperative_groups;

using Warp = cg::thread_block_tile<ReduceTuning::kWarpThreads, cg::thread_block>;

// A barrier of the block. The lanes of a warp meet first: after code in which they part for long,
// as for elements of very different magnitudes, a barrier alone let warps pass some of whose lanes
// had not come (nvcc 13.0, capability 9.0; seen in sums of columns of float64).
__device__ inline void SyncBlock(const cg::thread_block& block) {
  __syncwarp();
  block.sync();
}

// Joins the states of each `width` neighbouring lanes; the first of them gets the result. All lanes
// of the warp take part; `width` is a power of two and the same in all of them.
//
// A loop over shuffles and not cg::reduce, so that one kernel serves every width, and not unrolled:
// the code of a step is long and its time is not felt.
template <class State>
__device__ inline void MergeLanes(const Warp& warp, uint32_t width, State& state) {
#pragma unroll 1
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
    state.ForEachPart([&](auto& part) { part.Merge(warp.shfl_xor(part, distance)); });
  }
}

// Joins the states of lanes that are multiples of `distance` apart; all of these lanes get the
// result.
template <class State>
__device__ inline void MergeDistantLanes(const Warp& warp, uint32_t distance, State& state) {
#pragma unroll 1
  for (; distance < ReduceTuning::kWarpThreads; distance *= 2) {
    state.ForEachPart([&](auto& part) { part.Merge(warp.shfl_xor(part, distance)); });
  }
}

// Bits that are ordered as the numbers are, with -0.0 before 0.0.
__device__ inline uint32_t OrderedBits(float x) {
  const uint32_t bits = __float_as_uint(x);
  return (bits >> 31) != 0 ? ~bits : bits | 0x8000'0000u;
}
__device__ inline float FromOrderedBits(uint32_t ordered) {
  return __uint_as_float((ordered >> 31) != 0 ? ordered ^ 0x8000'0000u : ~ordered);
}

__device__ inline uint64_t OrderedBits(double x) {
  const uint64_t bits = static_cast<uint64_t>(__double_as_longlong(x));
  return (bits >> 63) != 0 ? ~bits : bits | uint64_t{1} << 63;
}

// The sum over all lanes, in all of them, modulo 2^64. In three pieces, of which 32 bits hold 32.
__device__ inline uint64_t SumOfWarp(uint64_t x) {
  constexpr uint32_t kBits = 27;
  constexpr uint32_t kMask = (1u << kBits) - 1;
  const auto piece = [&](uint32_t shift) {
    const uint32_t sum = __reduce_add_sync(~0u, static_cast<uint32_t>(x >> shift) & kMask);
    return uint64_t{sum} << shift;
  };
  return piece(0) + piece(kBits) + piece(2 * kBits);
}

// Joins a part of the states of all lanes of a warp; all of them get the result.
template <class Part>
__device__ inline void MergeOverWarp(const Warp& warp, Part& part) {
#pragma unroll 1
  for (uint32_t distance = ReduceTuning::kWarpThreads / 2; distance > 0; distance /= 2) {
    part.Merge(warp.shfl_xor(part, distance));
  }
}
template <class T>
__device__ inline void MergeOverWarp(const Warp&, TallyState<T>& tally) {
  tally = {SumOfWarp(tally.nonzero), SumOfWarp(tally.nan), SumOfWarp(tally.infinite)};
}

// The least over the lanes of a warp, or the greatest, in all of them.
template <bool kIsGreatest>
__device__ inline uint32_t ExtremeOfWarp(uint32_t x) {
  return kIsGreatest ? __reduce_max_sync(~0u, x) : __reduce_min_sync(~0u, x);
}
template <bool kIsGreatest>
__device__ inline uint64_t ExtremeOfWarp(uint64_t x) {
  const uint32_t upper = static_cast<uint32_t>(x >> 32);
  const uint32_t best = ExtremeOfWarp<kIsGreatest>(upper);
  const uint32_t none = kIsGreatest ? 0 : ~uint32_t{0};
  const uint32_t lower = upper == best ? static_cast<uint32_t>(x) : none;
  return uint64_t{best} << 32 | ExtremeOfWarp<kIsGreatest>(lower);
}

// An unsigned integer that is ordered as values are. All zeros are 0.0 when 0.0 is added.
template <class S>
__device__ inline auto RankOf(S x) {
  if constexpr (std::is_floating_point_v<S>) {
    return OrderedBits(x + S{0});
  } else {
    using Rank = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
    constexpr Rank kSignBit = std::is_signed_v<S> ? Rank{1} << (8 * sizeof(Rank) - 1) : 0;
    return static_cast<Rank>(x) ^ kSignBit;
  }
}

// Joins an extreme over a warp by the hardware's reductions of integers: of the value that is
// before all others, of zeros and of NaNs any, then of its indices, of which a lane without a value
// has the greatest.
template <class T, bool kIsMax>
__device__ inline void MergeOverWarp(const Warp& warp, ExtremeState<T, kIsMax>& extreme) {
  auto rank = RankOf(extreme.value);
  using Rank = decltype(rank);
  constexpr Rank kMostExtreme = kIsMax ? static_cast<Rank>(~Rank{0}) : Rank{0};
  if constexpr (FloatingElement<T>) {
    if (IsNan(extreme.value)) rank = kMostExtreme;
  }
  if (extreme.index == kNoIndex) rank = static_cast<Rank>(~kMostExtreme);
  const bool is_best = rank == ExtremeOfWarp<kIsMax>(rank);
  const uint64_t index = ExtremeOfWarp<false>(is_best ? extreme.index : kNoIndex);
  const uint32_t lanes = warp.ballot(is_best && extreme.index == index);
  const uint32_t lane = static_cast<uint32_t>(__ffs(static_cast<int>(lanes))) - 1;
  extreme = {warp.shfl(extreme.value, lane), index};
}
template <class T>
__device__ inline void MergeOverWarp(const Warp& warp, ExtremesState<T>& extremes) {
  MergeOverWarp(warp, extremes.min);
  MergeOverWarp(warp, extremes.max);
}

// Joins whole states over a warp, by those reductions where they can.
template <class State>
__device__ inline void MergeStatesOverWarp(const Warp& warp, State& state) {
  state.ForEachPart([&](auto& part) { MergeOverWarp(warp, part); });
}

// `kCount` states in shared memory, an odd number of alignments apart: then neighbouring threads'
// accesses fall in different banks.
template <class State, uint32_t kCount>
class SharedStates {
 public:
  __device__ State& operator[](uint32_t i) {
    return *reinterpret_cast<State*>(bytes_ + static_cast<size_t>(i) * kStrideBytes);
  }

 private:
  static constexpr size_t kStrideBytes = (sizeof(State) / alignof(State) | 1) * alignof(State);

  // Bytes, since shared memory cannot have constructors.
  alignas(State) std::byte bytes_[kCount * kStrideBytes];
};

template <class State>
using WarpStates = SharedStates<State, ReduceTuning::kWarpsMax>;

// Joins the states of a block; thread 0 gets the result. Called by all threads.
template <class State>
__device__ inline void MergeBlock(const cg::thread_block& block, WarpStates<State>& warp_states,
                                  State& state) {
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(block);
  MergeStatesOverWarp(warp, state);
  if (warp.thread_rank() == 0) warp_states[warp.meta_group_rank()] = state;
  SyncBlock(block);
  if (warp.meta_group_rank() == 0) {
    const uint32_t warps = block.size() / ReduceTuning::kWarpThreads;
    state = warp.thread_rank() < warps ? warp_states[warp.thread_rank()] : State();
    MergeStatesOverWarp(warp, state);
  }
  SyncBlock(block);  // Before warp_states is used again.
}

// Draws a number, counted from 0. Who draws a later one sees what was written before this.
__device__ inline uint32_t DrawTicket(uint32_t* ticket) {
  uint32_t drawn;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], 1;" : "=r"(drawn) : "l"(ticket) : "memory");
  return drawn;
}

// What is in a counter in shared memory, to which one is added. By one thread of a warp: an
// addition would be made for as many as there may be, in three times as many instructions.
__device__ inline uint32_t DrawNumber(uint32_t* counter) {
  constexpr uint32_t kNeverReached = ~uint32_t{1};  // After which it would be 0.
  uint32_t drawn;
  asm volatile("atom.shared.inc.u32 %0, [%1], %2;"
               : "=r"(drawn)
               : "r"(SharedAddress(counter)), "r"(kNeverReached)
               : "memory");
  return drawn;
}

// Whether this block is the last of `count` that come here with the same ticket. What the others
// wrote before they came can then be read by every thread of this one. Called by all threads of
// each block; `drawn` is shared memory, and then holds how many came before.
__device__ inline bool IsLastBlock(const cg::thread_block& block, uint32_t* ticket, uint32_t count,
                                   uint32_t& drawn) {
  SyncBlock(block);
  if (block.thread_rank() == 0) {
    drawn = DrawTicket(ticket);           // For all threads, between the barriers.
    if (drawn == count - 1) *ticket = 0;  // For the next launch.
  }
  SyncBlock(block);
  return drawn == count - 1;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MERGE_CUH_
