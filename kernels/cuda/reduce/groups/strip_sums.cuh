// A warp sums a strip of very many short segments, as many at a time as it has lanes. It adds up
// their elements turn by turn (strip_prefixes.cuh) from where the strip's window (strip_window.cuh)
// has them.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/groups/strip_prefixes.cuh"
#include "kernels/cuda/reduce/groups/strip_window.cuh"
#include "kernels/cuda/reduce/groups/sums.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Whether an element is a negative zero. Not inlined: seldom needed.
template <class T>
__device__ __noinline__ bool IsNegativeZero(const void* elements, uint64_t at) {
  const float x = ToCompute(static_cast<const T*>(elements)[at]);
  return BitsOtherThanOfNegativeZero(static_cast<double>(x)) == 0;
}

// What turns so far have of a lane's segment.
struct SegmentSum {
  PairSum sum;
  MagnitudeRange range;  // Of those turns' elements.
  bool holds = true;     // All of them.
};

// The sum of a turn's elements [begin, end) alone, and whether it is exact.
template <class T>
__device__ inline SegmentSum SumInWindow(const StripWindow<T>& window, uint32_t begin,
                                         uint32_t end) {
  RangedPair sum;
#pragma unroll 1
  for (uint32_t i = begin; i < end; ++i) {
    const float x = ToCompute(*reinterpret_cast<const T*>(window.At(i)));
    sum.range.Add(MagnitudeBits(x));
    sum.pair.Add(static_cast<double>(x));
  }
  return {sum.pair, {}, sum.Holds(end - begin, end - begin)};
}

// Sums as many segments as a warp has lanes, one by each: the lane's from place `begin` to `end`.
// They follow one another and those of the call before, or begin where the window does.
template <class T>
__device__ inline SegmentSum SumLanesSegments(const Warp& warp, uint32_t begin, uint32_t end,
                                              const StripWindow<T>& window,
                                              StripPrefixes<T>& turn) {
  SegmentSum segment;
  const uint32_t last = warp.shfl(end, ReduceTuning::kWarpThreads - 1);
#pragma unroll 1
  for (;;) {
    const uint32_t first = turn.first();
    const uint32_t limit = turn.limit();
    const bool has_some = begin < limit && end > first;
    if (turn.holds()) {
      turn.AddTo(segment.sum, end);
      segment.range.Merge(has_some ? turn.range() : MagnitudeRange());
    } else {
      // Something special is in one of many.
      const bool has_all = begin >= first && end <= limit;
      const uint32_t lanes = warp.ballot(has_all);
      if (has_all && __popc(lanes) >= static_cast<int>(StripTuning::kSegmentsByLanesMin)) {
        segment = SumInWindow(window, begin - first, end - first);
      } else if (has_some) {
        segment.holds = false;
      }
    }
    if (last <= limit) return segment;
    turn.Next();
  }
}

// Segments that follow one another.
struct Strip {
  uint64_t first;
  uint32_t count;
};

// Segments that are left to others.
struct LeftSegments {
  uint32_t lanes;   // That have them.
  uint32_t unheld;  // Those of them that pairs do not hold, and that are no longer than others.
};

// Sums a strip's segments from `base` on, as many at a time as a warp has lanes, until some are
// left to others: those that pairs do not hold, or beside which one has more elements than
// `size_max`. Returns them; `base` is what comes after all lanes' then. Nothing that is kept in
// registers has to outlast their being summed.
template <class T>
__device__ inline LeftSegments SumSegments(const Warp& warp, const ReductionParameters& parameters,
                                           const Strip& strip, uint32_t size_max, uint32_t& base,
                                           typename StripWindow<T>::Memory& window_memory,
                                           typename StripPrefixes<T>::Memory& prefix_memory) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  const uint32_t lane = warp.thread_rank();
  const auto offset_of = [&](uint32_t segment) {
    return parameters.offsets[strip.first + min(segment, strip.count)];
  };
  // Lower halves, which do for elements fewer than 2^32, and as they are loaded: what is made of
  // them would be waited for.
  struct Ends {
    uint32_t begin;
    uint32_t end;
  };
  const auto ends_of = [&](uint32_t segment) {
    return Ends{static_cast<uint32_t>(offset_of(segment)),
                static_cast<uint32_t>(offset_of(segment + 1))};
  };
  Ends next = ends_of(base + lane);
  const uint64_t begin = offset_of(base);
  const uint64_t end = offset_of(strip.count);
  if (end - begin >= StripWindow<T>::kElementsMax) {
    const uint32_t lanes = warp.ballot(base + lane < strip.count);
    base += kLanes;
    return {lanes, 0};
  }
  StripWindow<T> window(warp, window_memory, static_cast<const T*>(parameters.elements), begin,
                        end);
  StripPrefixes<T> turn(warp, window, prefix_memory);
  double* const only_sums = OnlySums(parameters);
  LeftSegments left = {};
#pragma unroll 1
  while (base < strip.count && left.lanes == 0) {
    const bool exists = base + lane < strip.count;
    const uint64_t group = strip.first + base + lane;
    const uint32_t size = next.end - next.begin;
    const uint32_t place = window.Place(next.begin);
    const bool are_short = !warp.any(size > size_max);
    base += kLanes;
    next = ends_of(base + lane);
    bool is_left = exists;
    if (are_short) {
      SegmentSum segment = SumLanesSegments(warp, place, place + size, window, turn);
      is_left = exists && !(segment.holds && StripPrefixes<T>::SumsHold(segment.range));
      PairSum& sum = segment.sum;
      // Whether a zero is the sum of nothing but negative ones, differences do not show.
      if (exists && sum.high == 0 && sum.low == 0) {
        sum = size > 0 ? PairSum{0.0, 0} : PairSum();
        is_left = is_left ||
                  (size > 0 && IsNegativeZero<T>(parameters.elements, parameters.offsets[group]));
      }
      if (!exists || is_left) {
        // Written by others, or nobody.
      } else if (only_sums != nullptr) {
        only_sums[group] = sum.high + sum.low;
      } else {
        FinishPair<T, MeanApart<T>>(parameters, group, size, sum);
      }
    }
    left.lanes = warp.ballot(is_left);
    left.unheld = warp.ballot(is_left && are_short);
  }
  return left;
}

// Segments in strips of work.strip_groups. Those that are left are summed by the whole warp, and
// the longest by blocks.
template <class T>
__global__ void __launch_bounds__(StripTuning::kThreads, StripTuning::kResidentBlocks)
    ReduceStripSums(const __grid_constant__ ReductionParameters parameters,
                    const __grid_constant__ TileWork work) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint32_t kWarps = StripTuning::kThreads / kLanes;
  // Words of what is left take a window's place when none is needed.
  static_assert(sizeof(typename StripWindow<T>::Memory) >= WarpWords<T>::kBytes);
  alignas(ReduceTuning::kVectorBytes) __shared__ typename StripWindow<T>::Memory windows[kWarps];
  __shared__ typename StripPrefixes<T>::Memory prefixes[kWarps];
  const Warp warp = cg::tiled_partition<kLanes>(cg::this_thread_block());
  const uint64_t first =
      (uint64_t{blockIdx.x} * warp.meta_group_size() + warp.meta_group_rank()) * work.strip_groups;
  if (first >= parameters.group_count) return;
  const Strip strip{first, static_cast<uint32_t>(
                               min(uint64_t{work.strip_groups}, parameters.group_count - first))};
  const uint32_t size_max = static_cast<uint32_t>(
      min(work.group_elements_max, uint64_t{StripTuning::kSegmentElementsMax}));
  auto& window = windows[warp.meta_group_rank()];
  uint32_t base = 0;
#pragma unroll 1
  while (base < strip.count) {
    const LeftSegments left = SumSegments<T>(warp, parameters, strip, size_max, base, window,
                                             prefixes[warp.meta_group_rank()]);
    if (left.lanes != 0) {
      StripWindow<T>::Clear(warp);
      QueueOrSumByWarp<T>(parameters, work, WarpWords<T>{SharedAddress(window)},
                          first + base - kLanes, left.lanes, left.unheld, 0);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_SUMS_CUH_
