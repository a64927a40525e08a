// A warp reduces a strip of short groups of integers that follow one another. It adds up their
// elements turn by turn (integer_prefixes.cuh, integer_moments.cuh) from where the strip's window
// (strip_window.cuh) has them, and finishes as many groups at a time as it has lanes.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_STRIPS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_STRIPS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/integer_answers.cuh"
#include "kernels/cuda/reduce/groups/integer_moments.cuh"
#include "kernels/cuda/reduce/groups/integer_prefixes.cuh"
#include "kernels/cuda/reduce/groups/strip_window.cuh"
#include "kernels/cuda/reduce/groups/tiles.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Groups that follow one another, [first, first + count).
struct StripOfGroups {
  uint64_t first;
  uint32_t count;
};

// Where groups of a strip end: lower halves of indices, which do for elements fewer than 2^32.
class GroupEnds {
 public:
  __device__ GroupEnds(const ReductionParameters& parameters, const StripOfGroups& strip)
      : offsets_(parameters.offsets == nullptr ? nullptr : parameters.offsets + strip.first),
        begin_(offsets_ == nullptr ? strip.first * parameters.group_size : *offsets_),
        group_size_(static_cast<uint32_t>(parameters.group_size)),
        count_(strip.count) {}

  __device__ uint64_t StripBegin() const { return begin_; }
  __device__ uint64_t StripEnd() const {
    return offsets_ == nullptr ? begin_ + uint64_t{count_} * group_size_ : offsets_[count_];
  }
  // The end of the i-th group or, behind the last group, of the last.
  __device__ uint32_t operator[](uint32_t i) const {
    const uint32_t next = min(i + 1, count_);
    return offsets_ == nullptr ? static_cast<uint32_t>(begin_) + next * group_size_
                               : static_cast<uint32_t>(offsets_[next]);
  }

 private:
  const uint64_t* offsets_;
  uint64_t begin_;
  uint32_t group_size_;  // Without offsets.
  uint32_t count_;
};

// What a warp makes of a window's turns for groups of a set of parts.
template <IntegerElement T, uint32_t kParts>
class StripTurn;

template <IntegerElement T>
class StripTurn<T, kSumPart> : public IntegerPrefixes<T, IntegerSums<T>> {
  using Base = IntegerPrefixes<T, IntegerSums<T>>;

 public:
  using Sums = IntegerSums<T>;
  using Answers = SumAnswers<T>;
  using Extremes = NoExtremes;
  using typename Base::Memory;

  __device__ StripTurn(const Warp& warp, const ReductionParameters& /*parameters*/,
                       StripWindow<T>& window, Memory& memory)
      : Base(warp, window, memory, {}), warp_(warp) {}
  __device__ void Next() {
    Base::Next([](const uint4&, uint32_t, uint32_t) {});
    warp_.sync();
  }
  __device__ void AddTo(Extremes&, uint32_t, uint32_t) const {}

 private:
  const Warp& warp_;
};

template <IntegerElement T>
class StripTurn<T, kCorePartSet> : public IntegerPrefixes<T, IntegerMoments<T>> {
  using Base = IntegerPrefixes<T, IntegerMoments<T>>;

 public:
  using Sums = IntegerMoments<T>;
  using Answers = MomentAnswers<T>;
  using Extremes = StripExtremes<T>;
  struct Memory {
    typename Base::Memory moments;
    typename TurnExtremes<T, Base>::Memory extremes;
  };

  __device__ StripTurn(const Warp& warp, const ReductionParameters& parameters,
                       StripWindow<T>& window, Memory& memory)
      : StripTurn(warp, CoreNeeds(parameters), window, memory) {}
  __device__ void Next() {
    Base::Next([&](const uint4& raw, uint32_t first, uint32_t k) {
      if (has_extremes_) extremes_.Take(raw, first, k);
    });
    if (has_extremes_) extremes_.Close(warp_);
    warp_.sync();
  }
  // Takes what the turn has of places [begin, end).
  __device__ void AddTo(Extremes& extremes, uint32_t begin, uint32_t end) const {
    const uint32_t first = Base::first();
    const uint32_t limit = Base::limit();
    if (!has_extremes_ || begin >= end || begin >= limit || end <= first) return;
    VectorExtremes<T> of_turn =
        extremes_.Of(*this, max(begin, first) - first, min(end, limit) - first).Extremes();
    of_turn.least_vector += first / Base::kSize;
    of_turn.greatest_vector += first / Base::kSize;
    extremes.Add(of_turn);
  }

 private:
  __device__ StripTurn(const Warp& warp, const CoreNeeds& needs, StripWindow<T>& window,
                       Memory& memory)
      : Base(warp, window, memory.moments, {.counts_nonzero = needs.nonzero, .sums = {}}),
        warp_(warp),
        has_extremes_(needs.extremes),
        extremes_(memory.extremes) {}

  const Warp& warp_;
  bool has_extremes_;
  TurnExtremes<T, Base> extremes_;
};

// Reduces groups none of which is too long for a warp. Called by all lanes.
template <IntegerElement T, uint32_t kParts>
__device__ inline void ReduceStrip(const Warp& warp, const ReductionParameters& parameters,
                                   const TileWork& work, const StripOfGroups& strip,
                                   typename StripWindow<T>::Memory& window_memory,
                                   typename StripTurn<T, kParts>::Memory& turn_memory) {
  using Turn = StripTurn<T, kParts>;
  using Sums = typename Turn::Sums;
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  const uint32_t lane = warp.thread_rank();
  const GroupEnds ends(parameters, strip);
  uint32_t next_end = ends[lane];
  StripWindow<T> window(warp, window_memory, static_cast<const T*>(parameters.elements),
                        ends.StripBegin(), ends.StripEnd());
  Turn turn(warp, parameters, window, turn_memory);
  turn.Next();
  // The begin of the first lane's group.
  uint32_t first_begin = window.Place(static_cast<uint32_t>(ends.StripBegin()));
  Sums to_first = turn.To(first_begin - turn.first());
  typename Turn::Answers answers(parameters, work, ends.StripBegin() - first_begin);
#pragma unroll 1
  for (uint32_t base = 0; base < strip.count; base += kLanes) {
    const uint32_t end = window.Place(next_end);
    next_end = ends[base + kLanes + lane];
    const uint32_t last = warp.shfl(end, kLanes - 1);
    const uint32_t below = warp.shfl_up(end, 1);
    const uint32_t begin = lane == 0 ? first_begin : below;
    Sums to_end;
    typename Turn::Extremes extremes;
#pragma unroll 1
    for (;;) {
      const uint32_t count = end - turn.first();
      if (count <= Turn::kElements) to_end = turn.To(count);
      turn.AddTo(extremes, begin, end);
      if (last <= turn.limit()) break;
      turn.Next();
    }
    const Sums to_below = FromBelow(warp, to_end, 1);
    Sums of_group = to_end;
    of_group -= lane == 0 ? to_first : to_below;
    answers.Write(warp, {strip.first + base + lane, begin, end - begin, base + lane < strip.count},
                  of_group, extremes);
    first_begin = last;
    to_first = FromLast(warp, to_end);
  }
  StripWindow<T>::Clear(warp);
}

// The first group of a strip from the i-th on that is too long for a warp, or how many there are.
__device__ inline uint32_t FindLong(const Warp& warp, const ReductionParameters& parameters,
                                    const TileWork& work, const StripOfGroups& strip, uint32_t i) {
  if (work.queue == nullptr) return strip.count;
#pragma unroll 1
  for (; i < strip.count; i += ReduceTuning::kWarpThreads) {
    const uint32_t mine = i + warp.thread_rank();
    const bool is_long = mine < strip.count &&
                         RangeOf(parameters, strip.first + mine).size > work.group_elements_max;
    const uint32_t lanes = warp.ballot(is_long);
    if (lanes != 0) return i + static_cast<uint32_t>(__ffs(static_cast<int>(lanes))) - 1;
  }
  return strip.count;
}

// Resident blocks of a multiprocessor.
template <class T, uint32_t kParts>
inline constexpr uint32_t StripBlocks = IntegerStripTuning::ResidentBlocksOf(
    sizeof(typename StripWindow<T>::Memory) + sizeof(typename StripTurn<T, kParts>::Memory));

// Groups in strips of work.strip_groups. The longest are left to blocks.
template <class T, uint32_t kParts>
__global__ void __launch_bounds__(StripTuning::kThreads, StripBlocks<T, kParts>)
    ReduceIntegerStrips(const __grid_constant__ ReductionParameters parameters,
                        const __grid_constant__ TileWork work) {
  static_assert(StripTuning::kThreads == ReduceTuning::kWarpThreads);
  alignas(ReduceTuning::kVectorBytes) __shared__ typename StripWindow<T>::Memory window;
  __shared__ typename StripTurn<T, kParts>::Memory turn;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  const uint64_t first = uint64_t{blockIdx.x} * work.strip_groups;
  const StripOfGroups strip{first, static_cast<uint32_t>(min(uint64_t{work.strip_groups},
                                                             parameters.group_count - first))};
#pragma unroll 1
  for (uint32_t i = 0; i < strip.count;) {
    const uint32_t next_long = FindLong(warp, parameters, work, strip, i);
    if (next_long > i) {
      ReduceStrip<T, kParts>(warp, parameters, work, {first + i, next_long - i}, window, turn);
    }
    if (next_long < strip.count && warp.thread_rank() == 0) {
      QueueSegment(work, first + next_long, RangeOf(parameters, first + next_long).size);
    }
    i = next_long + 1;
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_STRIPS_CUH_
