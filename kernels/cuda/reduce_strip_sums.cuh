// Sums of very many short segments: a warp takes a strip of them, one turn after the other. A
// turn's segments, as many as the warp has room for, are summed at once by the same number of lanes
// each, from where the strip's window (reduce_strip_window.cuh) has their elements.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_finish.cuh"
#include "kernels/cuda/reduce_group_sums.cuh"
#include "kernels/cuda/reduce_kernels.h"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_pairs.cuh"
#include "kernels/cuda/reduce_strip_window.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// Every `width`-th element of a segment that is in a window.
template <class T>
struct StripShare {
  const StripWindow<T>& window;
  uint32_t first;
  uint32_t end;
  uint32_t width;

  // Their sum, if doubles hold it, and their range.
  __device__ RangedPair SumInDoubles(uint32_t lane) const {
    constexpr uint32_t kUnrolled = 4;
    const uint32_t step = width * static_cast<uint32_t>(sizeof(T));
    // Lanes begin with different ones of four elements: where segments begin in the same bank, not
    // all of them read from it.
    uint32_t bytes[kUnrolled];
#pragma unroll
    for (uint32_t k = 0; k < kUnrolled; ++k) bytes[k] = (k + lane) % kUnrolled * step;
    RangedPair sum;
    const auto add = [&sum](float x) {
      sum.range.Add(MagnitudeBits(x));
      sum.pair.high += static_cast<double>(x);
    };
    uint32_t at = first;
#pragma unroll 1
    for (; at + (kUnrolled - 1) * width < end; at += kUnrolled * width) {
      const char* const elements = window.At(at);
      float values[kUnrolled];
#pragma unroll
      for (uint32_t k = 0; k < kUnrolled; ++k) values[k] = ElementAt(elements + bytes[k]);
#pragma unroll
      for (const float x : values) add(x);
    }
    const char* const elements = window.At(at);
    float values[kUnrolled - 1];
#pragma unroll
    for (uint32_t k = 0; k + 1 < kUnrolled; ++k) {
      values[k] = at + k * width < end ? ElementAt(elements + k * step) : -0.0f;
    }
#pragma unroll
    for (const float x : values) add(x);
    return sum;
  }

  __device__ PairSum SumInPairs() const {
    PairSum sum;
#pragma unroll 1
    for (uint32_t at = first; at < end; at += width) sum.Add(ElementAt(window.At(at)));
    return sum;
  }

 private:
  __device__ static float ElementAt(const char* element) {
    return ToCompute(*reinterpret_cast<const T*>(element));
  }
};

// Adds up doubles of each `width` neighbouring lanes, in all of them.
__device__ inline double SumOfDoubles(const Warp& warp, uint32_t width, double sum) {
#pragma unroll
  for (uint32_t distance = 1; distance < ReduceTuning::kWarpThreads; distance *= 2) {
    if (distance >= width) break;
    sum += warp.shfl_xor(sum, distance);
  }
  return sum;
}

// The lanes' segments of a strip, a turn's by `width` lanes each.
struct StripLanes {
  uint32_t width_log2;
  uint32_t tile;
  uint32_t rank;

  __device__ StripLanes(const Warp& warp, uint32_t log2)
      : width_log2(log2),
        tile(warp.thread_rank() >> log2),
        rank(warp.thread_rank() & ((1u << log2) - 1)) {}

  __device__ uint32_t width() const { return 1u << width_log2; }
  __device__ uint32_t tiles() const { return ReduceTuning::kWarpThreads >> width_log2; }
  // Which of the strip's next 32 segments is the first of a turn.
  __device__ uint32_t FirstOf(uint32_t turn) const { return turn * tiles(); }
  // The lane's.
  __device__ uint32_t SegmentOf(uint32_t turn) const { return FirstOf(turn) + tile; }
  // The lane that keeps a segment's sum: of those that it is the segment of, the one of its turn's
  // rank.
  __device__ uint32_t KeeperOf(uint32_t segment) const {
    return ((segment & (tiles() - 1)) << width_log2) + segment / tiles();
  }
};

// Sums segments of a turn that begin at element `begin`, by its lower half, and have `size`
// elements, the turn's `span` from `turn_begin` on. Whether the sum is in `sum`, the same in all
// lanes of a segment, is returned.
template <class T>
__device__ inline bool SumTurn(const Warp& warp, const StripLanes& lanes, uint32_t turn_begin,
                               uint32_t span, uint32_t begin, uint32_t size, StripWindow<T>& window,
                               PairSum& sum) {
  const uint32_t turn_place = window.Place(turn_begin);
  window.FreeTo(turn_place);
  window.WaitTo(turn_place + span);
  const uint32_t place = window.Place(begin);
  const StripShare<T> share{window, place + lanes.rank, place + size, lanes.width()};
  RangedPair of_lane = share.SumInDoubles(warp.thread_rank());
  if (DoubleHoldsAll(RangeOfWarp(of_lane.range), span)) {
    sum = {SumOfDoubles(warp, lanes.width(), of_lane.pair.high), 0};
    return true;
  }
  of_lane.pair = share.SumInPairs();
  const bool is_plain = of_lane.JoinLanes(warp, lanes.width(), size);
  sum = of_lane.pair;
  return is_plain || of_lane.Holds(size, ChainOf(size, lanes.width()));
}

// Segments in strips of work.strip_groups. What a window has no room for, or pairs do not hold, is
// left to the whole warp, and the longest to blocks.
template <class T>
__global__ void __launch_bounds__(StripTuning::kThreads, StripTuning::kResidentBlocks)
    ReduceStripSums(const __grid_constant__ ReductionParameters parameters,
                    const __grid_constant__ TileWork work) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint32_t kSpanMax = StripWindow<T>::kSpanMax;
  alignas(ReduceTuning::kVectorBytes) __shared__
      typename StripWindow<T>::Memory memory[StripTuning::kThreads / kLanes];
  const Warp warp = cg::tiled_partition<kLanes>(cg::this_thread_block());
  const StripLanes lanes(warp, work.width_log2);
  const uint64_t first =
      (uint64_t{blockIdx.x} * warp.meta_group_size() + warp.meta_group_rank()) * work.strip_groups;
  if (first >= parameters.group_count) return;
  const uint32_t count =
      static_cast<uint32_t>(min(uint64_t{work.strip_groups}, parameters.group_count - first));
  const auto offset_of = [&](uint32_t segment) {
    return parameters.offsets[first + min(segment, count)];
  };
  const auto range_of = [&](uint32_t segment) {
    const uint64_t begin = offset_of(segment);
    return GroupRange{begin, offset_of(segment + 1) - begin};
  };

  StripWindow<T> window(warp, memory[warp.meta_group_rank()]);
  bool is_in_window = false;
  GroupRange next = range_of(warp.thread_rank());
#pragma unroll 1
  for (uint32_t base = 0; base < count; base += kLanes) {
    // Of as many segments as there are lanes: one by each.
    const GroupRange range = next;
    next = range_of(base + kLanes + warp.thread_rank());
    const uint32_t begin = static_cast<uint32_t>(range.begin);
    const uint32_t size = static_cast<uint32_t>(range.size);
    const bool has_long = warp.any(range.size > kSpanMax);
    PairSum kept;
    bool is_kept = false;
#pragma unroll 1
    for (uint32_t turn = 0; turn < lanes.width(); ++turn) {
      const uint32_t first_lane = lanes.FirstOf(turn);
      const uint32_t lane = lanes.SegmentOf(turn);
      const uint32_t turn_begin = warp.shfl(begin, first_lane);
      const uint32_t span = warp.shfl(begin + size, first_lane + lanes.tiles() - 1) - turn_begin;
      PairSum sum;
      bool holds = false;
      const bool fits = !has_long && span <= kSpanMax;
      if (fits) {
        if (!is_in_window) {
          window.MoveTo(static_cast<const T*>(parameters.elements), offset_of(0), offset_of(count),
                        offset_of(base + first_lane));
        }
        holds = SumTurn(warp, lanes, turn_begin, span, warp.shfl(begin, lane),
                        warp.shfl(size, lane), window, sum);
      }
      is_in_window = fits;
      if (lanes.rank == turn) {
        kept = sum;
        is_kept = holds;
      }
    }
    const uint32_t segment = lanes.SegmentOf(lanes.rank);
    const uint32_t kept_size = warp.shfl(size, segment);
    if (is_kept && base + segment < count) {
      FinishPair<T>(parameters, first + base + segment, kept_size, kept);
    }
    const bool is_left = !warp.shfl(is_kept, lanes.KeeperOf(warp.thread_rank())) &&
                         base + warp.thread_rank() < count;
    if (const uint32_t left = warp.ballot(is_left); left != 0) {
      QueueOrSumByWarp<T>(parameters, work, first + base, left, 0);
      // Loaded again: registers that calls keep are few.
      is_in_window = false;
      next = range_of(base + kLanes + warp.thread_rank());
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_SUMS_CUH_
