// Sums of very many short segments: a warp takes a strip of them, as many at a time as it has
// lanes, whose elements it adds up turn by turn (reduce_strip_prefixes.cuh) from where the strip's
// window (reduce_strip_window.cuh) has them.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_group_sums.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_strip_prefixes.cuh"
#include "kernels/cuda/reduce_strip_window.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// What turns before have of a segment that no turn has seen the end of. Add to it the sum of a turn
// up to that end.
template <class T>
struct OpenSegment {
  PairSum sum;
  MagnitudeRange range;
  uint32_t turns = 0;
  bool holds = true;

  // Whether doubles do, with all sums of the turn.
  __device__ bool IsPlainWith(const StripPrefixes<T>& turn) const {
    constexpr uint32_t kTurns = 4;
    if (turns == 0) return turn.is_plain();
    return turn.is_plain() && holds && turns < kTurns &&
           DoubleHolds<kTurns * StripPrefixes<T>::kElements>(RangeWith(turn));
  }
  // Whether its sum is exact if the turn has its end.
  __device__ bool HoldsWith(const StripPrefixes<T>& turn) const {
    return holds && turn.holds() && StripPrefixes<T>::SumsHold(RangeWith(turn));
  }
  // Takes what a turn has of it. If it begins there, `begin` is the sum up to its first element.
  __device__ void Close(const StripPrefixes<T>& turn, bool begins, const PairSum& begin) {
    if (begins) *this = {{-begin.high, -begin.low}, {}, 0, true};
    const PairSum total = turn.Total();
    if (IsPlainWith(turn)) {
      sum.high += total.high;
    } else {
      sum.Merge(total);
    }
    range = RangeWith(turn);
    ++turns;
    holds = holds && turn.holds();
  }

 private:
  __device__ MagnitudeRange RangeWith(const StripPrefixes<T>& turn) const {
    MagnitudeRange both = turn.range();
    both.Merge(range);
    return both;
  }
};

// Whether an element is a negative zero. Not inlined: seldom needed.
template <class T>
__device__ __noinline__ bool IsNegativeZero(const void* elements, uint64_t at) {
  const float x = ToCompute(static_cast<const T*>(elements)[at]);
  return BitsOtherThanOfNegativeZero(static_cast<double>(x)) == 0;
}

// As many segments of a strip as a warp has lanes, one by each. They follow one another.
struct LanesSegments {
  uint32_t begin;  // Of its offset the lower half.
  uint32_t size;
  uint64_t group;
  bool exists;  // If not, it is empty.
};

// What is known of a lane's segment after a turn that has its end.
struct SegmentSum {
  PairSum sum;
  bool holds;
};

// That of elements from place `begin` to `end` alone.
template <class T>
__device__ inline SegmentSum SumInWindow(const StripWindow<T>& window, uint32_t begin,
                                         uint32_t end) {
  RangedPair sum;
#pragma unroll 1
  for (uint32_t place = begin; place < end; ++place) {
    const float x = ToCompute(*reinterpret_cast<const T*>(window.At(place)));
    sum.range.Add(MagnitudeBits(x));
    sum.pair.Add(static_cast<double>(x));
  }
  return {sum.pair, sum.Holds(end - begin, end - begin)};
}

// Writes all that is asked for of a segment.
template <class T>
__device__ inline void WriteSum(const ReductionParameters& parameters, uint64_t group,
                                uint32_t size, const PairSum& sum) {
  if (double* const only_sums = OnlySums(parameters); only_sums != nullptr) {
    only_sums[group] = sum.high + sum.low;
  } else {
    FinishPair<T>(parameters, group, size, sum);
  }
}

// Sums them, the window being where the first begins, or further on with nothing of it free.
// `begin`: the place of the lane's. Returns whether that is left to others.
template <class T>
__device__ inline bool SumLanesSegments(const Warp& warp, const ReductionParameters& parameters,
                                        const LanesSegments& segments, uint32_t begin,
                                        StripWindow<T>& window, StripPrefixes<T>& turn) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  const uint32_t size = segments.size;
  const uint32_t lane = warp.thread_rank();
  const uint32_t end = begin + size;
  OpenSegment<T> open;
  bool is_left = false;
  uint32_t at = warp.shfl(begin, 0);
  uint32_t done = 0;
#pragma unroll 1
  for (;;) {
    const uint32_t first = at - at % StripPrefixes<T>::kSize;
    window.FreeTo(first);
    window.WaitTo(first + StripPrefixes<T>::kElements);
    turn.Begin(first, at, window.end_place(), window);
    at = turn.limit();
    // Places grow from lane to lane.
    const uint32_t ended = static_cast<uint32_t>(__popc(warp.ballot(end < at)));
    const bool is_open = lane == done;
    const bool ends = lane >= done && lane < ended;
    const PairSum to_end = turn.To(ends && turn.holds() ? end : first);
    const PairSum to_begin = turn.OfLane(to_end, lane - 1);
    SegmentSum segment{{to_end.high - (is_open ? -open.sum.high : to_begin.high), 0}, true};
    if (!open.IsPlainWith(turn)) {
      segment.sum = is_open ? open.sum : PairSum{-to_begin.high, -to_begin.low};
      segment.sum.Merge(to_end);
      segment.holds = turn.holds();
      if (is_open) segment.holds = open.HoldsWith(turn);
      // Something special is in one of many.
      if (!turn.holds() && ended - done >= StripTuning::kSegmentsByLanesMin && ends &&
          begin >= first) {
        segment = SumInWindow(window, begin, end);
      }
    }
    if (ends && segments.exists) {
      PairSum& sum = segment.sum;
      is_left = !segment.holds;
      // Whether a zero is the sum of nothing but negative ones, differences do not show.
      if (sum.high == 0 && sum.low == 0) {
        sum = size > 0 ? PairSum{0.0, 0} : PairSum();
        is_left = is_left || (size > 0 && IsNegativeZero<T>(parameters.elements,
                                                            parameters.offsets[segments.group]));
      }
      if (!is_left) WriteSum<T>(parameters, segments.group, size, sum);
    }
    if (ended == kLanes) return is_left;
    open.Close(turn, ended > done, turn.OfLane(to_end, ended - 1));
    done = ended;
  }
}

// Leaves all segments of a strip to the whole warp and to blocks.
template <class T>
__device__ inline void LeaveStrip(const Warp& warp, const ReductionParameters& parameters,
                                  const TileWork& work, uint64_t first, uint32_t count) {
#pragma unroll 1
  for (uint32_t base = 0; base < count; base += ReduceTuning::kWarpThreads) {
    const uint32_t lanes = warp.ballot(base + warp.thread_rank() < count);
    QueueOrSumByWarp<T>(parameters, work, first + base, lanes, 0);
  }
}

// Segments in strips of work.strip_groups. Those that pairs do not hold, or beside which one is
// very long, are left to the whole warp, and the longest to blocks.
template <class T>
__global__ void __launch_bounds__(StripTuning::kThreads, StripTuning::kResidentBlocks)
    ReduceStripSums(const __grid_constant__ ReductionParameters parameters,
                    const __grid_constant__ TileWork work) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint32_t kWarps = StripTuning::kThreads / kLanes;
  alignas(ReduceTuning::kVectorBytes) __shared__ typename StripWindow<T>::Memory windows[kWarps];
  __shared__ typename StripPrefixes<T>::Memory prefixes[kWarps];
  const Warp warp = cg::tiled_partition<kLanes>(cg::this_thread_block());
  const uint32_t lane = warp.thread_rank();
  const uint64_t first =
      (uint64_t{blockIdx.x} * warp.meta_group_size() + warp.meta_group_rank()) * work.strip_groups;
  if (first >= parameters.group_count) return;
  const uint32_t count =
      static_cast<uint32_t>(min(uint64_t{work.strip_groups}, parameters.group_count - first));
  const auto offset_of = [&](uint32_t segment) {
    return parameters.offsets[first + min(segment, count)];
  };
  if (offset_of(count) - offset_of(0) >= uint64_t{1} << 32) {
    LeaveStrip<T>(warp, parameters, work, first, count);
    return;
  }
  // Lower halves, which do for such a strip, and as they are loaded: what is made of them would be
  // waited for.
  struct Ends {
    uint32_t begin;
    uint32_t end;
  };
  const auto ends_of = [&](uint32_t segment) {
    return Ends{static_cast<uint32_t>(offset_of(segment)),
                static_cast<uint32_t>(offset_of(segment + 1))};
  };
  const uint32_t size_max = static_cast<uint32_t>(
      min(work.group_elements_max, uint64_t{StripTuning::kSegmentElementsMax}));

  StripWindow<T> window(warp, windows[warp.meta_group_rank()]);
  StripPrefixes<T> turn(warp, window, prefixes[warp.meta_group_rank()]);
  bool is_in_window = false;
  Ends next = ends_of(lane);
#pragma unroll 1
  for (uint32_t base = 0; base < count; base += kLanes) {
    const bool exists = base + lane < count;
    const LanesSegments segments{next.begin, next.end - next.begin, first + base + lane, exists};
    const bool are_short = !warp.any(segments.size > size_max);
    if (are_short && !is_in_window) {
      window.MoveTo(static_cast<const T*>(parameters.elements), offset_of(0), offset_of(count),
                    offset_of(base));
      is_in_window = true;
    }
    const uint32_t place = window.Place(segments.begin);
    // Voted on before the next offsets are asked for: where the place comes from spilled registers,
    // it would be waited for together with those.
    const bool have_places = are_short && !warp.any(place + segments.size < place);
    next = ends_of(base + kLanes + lane);
    bool is_left = exists;
    if (have_places) is_left = SumLanesSegments(warp, parameters, segments, place, window, turn);
    if (const uint32_t left = warp.ballot(is_left); left != 0) {
      QueueOrSumByWarp<T>(parameters, work, first + base, left, 0);
      // Loaded again: registers that calls keep are few.
      is_in_window = false;
      next = ends_of(base + kLanes + lane);
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_SUMS_CUH_
