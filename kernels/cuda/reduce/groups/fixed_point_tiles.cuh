// Lanes of a warp make several statistics of short groups of elements of up to 32 bits: each group
// is summed by 1 to 32 lanes in fixed point (fixed_point_lanes.cuh), and the values of a strip's
// groups are made by a lane each.
//
// Few groups have elements that are not finite, or too far apart for fixed point: the warp sums
// those in words (fixed_point_words.cuh).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_TILES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_TILES_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/finish_joined.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/fixed_point_lanes.cuh"
#include "kernels/cuda/reduce/groups/fixed_point_words.cuh"
#include "kernels/cuda/reduce/groups/group_strips.cuh"
#include "kernels/cuda/reduce/groups/tiles.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/fixed_point_state.h"

namespace gridfold::kernels::cuda {

// What the lanes of a warp leave for the lanes that finish groups: word i of all of them side by
// side.
template <class T>
class FixedPointStates {
 public:
  using State = FixedPointState<T>;
  static constexpr uint32_t kWords = sizeof(State) / sizeof(uint32_t);
  struct Words {
    uint32_t words[kWords];
  };

  // The states' memory, as room for what finishes a group.
  __device__ int64_t* Room() {
    using Finish = FinishRoom<T, kCorePartSet>;
    static_assert(sizeof(words_) >=
                  3 * Finish::kWords * sizeof(int64_t) + sizeof(typename Finish::Group));
    return reinterpret_cast<int64_t*>(words_);
  }

  __device__ void Store(uint32_t i, const State& state) {
    const Words words = std::bit_cast<Words>(state);
#pragma unroll
    for (uint32_t k = 0; k < kWords; ++k) words_[k][i] = words.words[k];
  }
  __device__ State Load(uint32_t i) const {
    Words words;
#pragma unroll
    for (uint32_t k = 0; k < kWords; ++k) words.words[k] = words_[k][i];
    return std::bit_cast<State>(words);
  }

 private:
  alignas(int64_t) uint32_t words_[kWords][ReduceTuning::kWarpThreads];
};

// Whether the lanes' sums are those of a group of `count` elements.
template <class T>
__device__ inline bool Holds(const FixedPointLane<T>& lane, uint32_t count, bool ignore_nan) {
  return lane.largest < lane.kInfinity && (lane.nan == 0 || ignore_nan) &&
         FixedPointState<T>::Holds(lane.Bits(), count);
}

template <class T>
__device__ inline FixedPointState<T> StateOf(const FixedPointLane<T>& lane) {
  FixedPointState<T> state;
  state.squares = static_cast<Uint128>(lane.squares);
  state.sum = lane.sum;
  state.exponent = lane.exponent;
  state.min = lane.min;
  state.max = lane.max;
  // Indices that are not asked for only say that there is something.
  const bool has_any = !IsNan(lane.min);
  state.min_index = has_any ? min(lane.min_index, lane.kNone - 1) : lane.kNone;
  state.max_index = has_any ? min(lane.max_index, lane.kNone - 1) : lane.kNone;
  state.nonzero = lane.nonzero;
  state.nan = lane.nan;
  state.sums_negative_zeros = !lane.has_other && lane.nonzero == 0;
  return state;
}

// Not inlined: it is long and seldom asked for.
template <class T>
__device__ __noinline__ void StoreExpanded(void* states, uint64_t group,
                                           const FixedPointState<T>& state) {
  static_cast<ReductionState<T, kCorePartSet>*>(states)[group] = state.Expanded();
}

// Leaves the states of the strip's groups. Returns those that fixed point does not hold, or that
// are for the queue.
template <class T>
__device__ inline uint32_t TakeStrip(const Warp& warp, const ReductionParameters& parameters,
                                     const TileWork& work, const GroupStrip& strip,
                                     bool asks_places, FixedPointStates<T>& states) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint32_t kShareMax = FixedPointTuning::kLaneVectorsMax * kVectorSize<T>;
  const uint32_t groups = strip.groups;
  uint32_t wide = 0;  // Groups that are left to all lanes together,
  uint32_t left = 0;  // and to words.
  uint32_t begin = 0;
  for (;;) {
    uint32_t width_log2 = work.width_log2;
    uint32_t place = begin + (warp.thread_rank() >> width_log2);
    const bool is_wide = begin >= groups;
    if (is_wide) {
      if (wide == 0) return left;
      place = static_cast<uint32_t>(__ffs(static_cast<int>(wide))) - 1;
      wide &= wide - 1;
      width_log2 = ReduceTuning::kWarpThreadsLog2;
    }
    const uint32_t width = 1u << width_log2;
    begin += kLanes >> width_log2;
    const uint32_t rank = warp.thread_rank() & (width - 1);
    const GroupRange range =
        place < groups ? RangeOf(parameters, strip.first + place) : GroupRange{0, 0};
    const bool is_long = range.size > work.group_elements_max;
    const bool is_later =
        is_long || (width < kLanes && range.size > uint64_t{kShareMax} << width_log2);
    const uint32_t count = is_later ? 0 : static_cast<uint32_t>(range.size);
    FixedPointLane<T> lane =
        TakeShare<T>(warp, static_cast<const T*>(parameters.elements) + range.begin, count, rank,
                     width_log2, asks_places);
    JoinShares(warp, width, lane);
    const bool holds = Holds(lane, count, parameters.rules.ignore_nan);
    if (rank == 0 && place < groups && holds) states.Store(place, StateOf(lane));
    const auto places = [&](bool is_in) {
      return __reduce_or_sync(~0u, is_in && place < groups ? 1u << place : 0);
    };
    if (!is_wide) wide |= places(is_later && !is_long);
    left |= places(!holds);
    // Where all are left, the others are not tried.
    if (!is_wide && begin >= FixedPointTuning::kTriesMin && begin < groups &&
        static_cast<uint32_t>(__popc(left)) >= begin) {
      left |= ~uint32_t{0} << begin & ~uint32_t{0} >> (kLanes - groups);
      begin = groups;
    }
  }
}

// Writes the values of the strip's groups, but for those that are left, of which long ones are
// queued. Returns the others.
template <class T>
__device__ inline uint32_t FinishStrip(const Warp& warp, const ReductionParameters& parameters,
                                       const TileWork& work, const GroupStrip& strip,
                                       const FixedPointStates<T>& states, uint32_t left) {
  const uint32_t rank = warp.thread_rank();
  if (rank < strip.groups) {
    const uint64_t group = strip.first + rank;
    const uint64_t size = RangeOf(parameters, group).size;
    if (size > work.group_elements_max) {
      QueueSegment(work, group, size);
      left &= ~(1u << rank);
    } else if ((left >> rank & 1) == 0) {
      const FixedPointState<T> state = states.Load(rank);
      WriteValues(parameters, group, size, state);
      if (parameters.states != nullptr) StoreExpanded(parameters.states, group, state);
    }
  }
  warp.sync();
  return __reduce_and_sync(~0u, left);
}

template <class T>
__global__ void __launch_bounds__(FixedPointTuning::kThreads, FixedPointTuning::kResidentBlocks)
    ReduceFixedPointTiles(const __grid_constant__ ReductionParameters parameters,
                          const __grid_constant__ TileWork work) {
  constexpr uint32_t kWarps = FixedPointTuning::kThreads / ReduceTuning::kWarpThreads;
  __shared__ FixedPointStates<T> states_of_warps[kWarps];
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  FixedPointStates<T>& states = states_of_warps[warp.meta_group_rank()];
  const bool asks_places = AsksForPlaces(parameters);
  const uint64_t warp_index =
      static_cast<uint64_t>(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank();
  const uint64_t step =
      static_cast<uint64_t>(gridDim.x) * warp.meta_group_size() * work.strip_groups;
#pragma unroll 1
  for (uint64_t first = warp_index * work.strip_groups; first < parameters.group_count;
       first += step) {
    const GroupStrip strip(parameters, work, first);
    uint32_t left = TakeStrip<T>(warp, parameters, work, strip, asks_places, states);
    warp.sync();
    left = FinishStrip<T>(warp, parameters, work, strip, states, left);
    if (left == 0) continue;
    const uint32_t rank = warp.thread_rank();
    const uint64_t size = rank < strip.groups ? RangeOf(parameters, first + rank).size : 0;
    ReduceLeftGroups<T>(parameters, first, left, warp.all(IsShortGroup<T>(size)), states.Room());
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_TILES_CUH_
