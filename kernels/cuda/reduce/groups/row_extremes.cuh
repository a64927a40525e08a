// Lanes of a warp take the extremes of many groups of contiguous elements. A warp takes some groups
// at a time, a turn, and has the vectors of the next turn on their way to shared memory meanwhile:
// so it reads whole lines of memory, wherever groups begin and end.
//
// Example: rows of 24 bytes, lanes of 16 bytes:
//
//   copied: whole vectors that cover rows 0-9, bytes 0-239: three vectors serve two rows
//   row 1, bytes 24-47: its lanes look at vectors 1 and 2, of which bytes 16-23 are row 0's
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_EXTREMES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_EXTREMES_CUH_

#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/reduce/core/finish.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/extreme_keys.cuh"
#include "kernels/cuda/reduce/groups/row_window.cuh"
#include "kernels/cuda/reduce/groups/tiles.cuh"
#include "kernels/cuda/reduce/groups/vector_bytes.cuh"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Where what is asked for of an extreme goes; null where it is not asked for.
struct ExtremeSlots {
  uint64_t* values = nullptr;  // [group]
  uint64_t* indices = nullptr;
  uint64_t* failure = nullptr;  // Of the indices: ReductionParameters.

  __device__ ExtremeSlots(const ReductionParameters& parameters, Statistic value, Statistic index) {
    for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
      uint64_t* const slots = parameters.slots + parameters.rows[i] * parameters.group_count;
      if (parameters.statistics[i] == value) values = slots;
      if (parameters.statistics[i] == index) {
        indices = slots;
        failure = parameters.failures + parameters.rows[i];
      }
    }
  }
  __device__ bool AreAskedFor() const { return values != nullptr || indices != nullptr; }
};

// Where the groups' sizes go, if they are asked for too.
__device__ inline uint64_t* CountSlots(const ReductionParameters& parameters) {
  for (uint32_t i = 0; i < parameters.statistic_count; ++i) {
    if (parameters.statistics[i] != Statistic::kCount) continue;
    return parameters.slots + parameters.rows[i] * parameters.group_count;
  }
  return nullptr;
}

// Which extremes are asked for.
struct ExtremeSides {
  bool min;
  bool max;
};

// The extremes of some vectors of a group.
template <class T>
struct GroupExtremes {
  PlacedKey<T> min;
  PlacedKey<T> max;

  // Over each `width` lanes.
  __device__ void JoinLanes(const Warp& warp, const ExtremeSides& sides, uint32_t width) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      if (sides.min) min.MergeLane(warp, distance);
      if (sides.max) max.MergeLane(warp, distance);
    }
  }
};

// The extremes of a lane, while it takes elements.
template <class T, bool kIgnoresNan>
struct LaneExtremes {
  ExtremeSides sides;
  LaneExtreme<T, false, kIgnoresNan> min = {};
  LaneExtreme<T, true, kIgnoresNan> max = {};

  __device__ void Add(const uint4& raw, uint32_t vector) {
    if (sides.min) min.Add(raw, vector);
    if (sides.max) max.Add(raw, vector);
  }
  __device__ GroupExtremes<T> Placed() const { return {min.Placed(), max.Placed()}; }
};

// Extremes of groups by lanes of a warp.
template <class T>
class RowExtremes {
 public:
  using Window = RowWindow<T>;
  using S = ComputeType<T>;

  __device__ RowExtremes(const Warp& warp, const ReductionParameters& parameters)
      : warp_(warp),
        parameters_(parameters),
        min_slots_(parameters, Statistic::kMin, Statistic::kArgmin),
        max_slots_(parameters, Statistic::kMax, Statistic::kArgmax),
        sides_{min_slots_.AreAskedFor() || parameters.states != nullptr,
               max_slots_.AreAskedFor() || parameters.states != nullptr} {}

  // A group of few elements, from byte `begin` of a window on, by one lane.
  __device__ void TakeBrief(const typename Window::Memory& memory, uint64_t group, uint32_t begin,
                            uint32_t end) const {
    S least = {};
    S greatest = {};
    uint32_t min_index = kNoVector;
    uint32_t max_index = kNoVector;
#pragma unroll 4
    for (uint32_t byte = begin, i = 0; byte < end; byte += sizeof(T), ++i) {
      const S x = ToCompute(ElementAt(memory, byte));
      if (FloatingElement<T> && parameters_.rules.ignore_nan && IsNan(x)) continue;
      if (min_index == kNoVector || ExtremeState<S, false>::IsBefore(x, least)) {
        least = x;
        min_index = i;
      }
      if (max_index == kNoVector || ExtremeState<S, true>::IsBefore(x, greatest)) {
        greatest = x;
        max_index = i;
      }
    }
    if (sides_.min) Finish(group, false, least, min_index == kNoVector ? kNoIndex : min_index);
    if (sides_.max) Finish(group, true, greatest, max_index == kNoVector ? kNoIndex : max_index);
  }

  // A group that stands in bytes [begin, end) of a window, by `width` lanes, of which this has the
  // rank.
  __device__ void TakeStaged(const typename Window::Memory& memory, uint64_t group, bool exists,
                             uint32_t begin, uint32_t end, uint32_t rank, uint32_t width) const {
    GroupExtremes<T> extremes;
    if constexpr (FloatingElement<T>) {
      extremes = parameters_.rules.ignore_nan ? OfStaged<true>(memory, begin, end, rank, width)
                                              : OfStaged<false>(memory, begin, end, rank, width);
    } else {
      extremes = OfStaged<false>(memory, begin, end, rank, width);
    }
    extremes.JoinLanes(warp_, sides_, width);
    if (!exists) return;
    const uint32_t first = begin / kBytes;
#pragma unroll 1
    for (uint32_t side = rank; side < 2; side += width) {
      const bool is_max = side == 1;
      if (!AsksFor(is_max)) continue;
      const PlacedKey<T> placed = is_max ? extremes.max : extremes.min;
      const uint32_t place = placed.Place();
      if (place == 0) {
        Finish(group, is_max, S{}, kNoIndex);
        continue;
      }
      const uint32_t v = first + (kFirstPlace - place);
      uint32_t found = KeyHolders<T>(placed, is_max).Of(memory[v]);
      if (v == first) found &= ~0u << (begin % kBytes / sizeof(T));
      const uint32_t k = static_cast<uint32_t>(__ffs(static_cast<int>(found))) - 1;
      const uint32_t byte = v * kBytes + k * sizeof(T);
      Finish(group, is_max, ToCompute(ElementAt(memory, byte)), (byte - begin) / sizeof(T));
    }
  }

  // A group by all lanes of the warp.
  __device__ void TakeLong(uint64_t group, const GroupRange& range) const {
    const T* const elements = static_cast<const T*>(parameters_.elements) + range.begin;
    const uint32_t size = static_cast<uint32_t>(range.size);
    // Vectors count from the one that the first element is in.
    const uint32_t shift = Window::ShiftOf(elements) / sizeof(T);
    GroupExtremes<T> extremes;
    if constexpr (FloatingElement<T>) {
      extremes = parameters_.rules.ignore_nan ? OfLong<true>(elements, size, shift)
                                              : OfLong<false>(elements, size, shift);
    } else {
      extremes = OfLong<false>(elements, size, shift);
    }
    extremes.JoinLanes(warp_, sides_, kLanes);
    if (sides_.min) FinishLong(group, elements, size, shift, false, extremes.min);
    if (sides_.max) FinishLong(group, elements, size, shift, true, extremes.max);
  }

  __device__ bool AsksFor(bool is_max) const { return is_max ? sides_.max : sides_.min; }

  // Writes what is asked for of an extreme of a group: of an element, or of none at kNoIndex.
  __device__ void Finish(uint64_t group, bool is_max, S value, uint64_t index) const {
    uint64_t* const values = is_max ? max_slots_.values : min_slots_.values;
    uint64_t* const indices = is_max ? max_slots_.indices : min_slots_.indices;
    if (values != nullptr) {
      values[group] = FloatingElement<T> && index == kNoIndex ? kNanSlot : Slot(value);
    }
    if (indices != nullptr) indices[group] = index;
    if (index == kNoIndex && indices != nullptr) {
      auto* const failure =
          reinterpret_cast<unsigned long long*>(is_max ? max_slots_.failure : min_slots_.failure);
      // A failure is noted as WriteValues does it.
      if (group < __ldcg(failure)) atomicMin(failure, static_cast<unsigned long long>(group));
    }
    if (parameters_.states == nullptr) return;
    auto& state = static_cast<ReductionState<T, kExtremesPart>*>(parameters_.states)[group];
    auto& part = state.template Part<kExtremesPart>();
    if (is_max) {
      part.max = {value, index};
    } else {
      part.min = {value, index};
    }
  }

 private:
  static constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  static constexpr uint32_t kBytes = ReduceTuning::kVectorBytes;
  static constexpr uint32_t kSize = kVectorSize<T>;

  __device__ static const T& ElementAt(const typename Window::Memory& memory, uint32_t byte) {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(memory) + byte);
  }

  template <bool kIgnoresNan>
  __device__ GroupExtremes<T> OfStaged(const typename Window::Memory& memory, uint32_t begin,
                                       uint32_t end, uint32_t rank, uint32_t width) const {
    LaneExtremes<T, kIgnoresNan> extremes{sides_};
    if (begin >= end) return extremes.Placed();
    const uint4 other = VectorOf(ElementAt(memory, begin));
    const uint32_t first = begin / kBytes;
    const uint32_t vectors = (end + kBytes - 1) / kBytes - first;
    // Vectors of which all elements are the group's.
    const uint32_t inner = begin % kBytes != 0 ? 1 : 0;
    const uint32_t inner_count = end / kBytes - first - inner;
    const uint4* const at = memory + first;
    const int begin_byte = static_cast<int>(begin % kBytes);
    const int end_byte = static_cast<int>(end - first * kBytes);
    if (rank >= vectors) return extremes.Placed();
    uint32_t v = rank + ((vectors - 1 - rank) & ~(width - 1));
#pragma unroll 2
    for (int left = static_cast<int>(v); left >= 0; left -= static_cast<int>(width)) {
      v = static_cast<uint32_t>(left);
      uint4 vector = at[v];
      if (v - inner >= inner_count) {
        const int byte = static_cast<int>(v * kBytes);
        vector = Between(vector, begin_byte - byte, end_byte - byte, other);
      }
      extremes.Add(vector, v);
    }
    return extremes.Placed();
  }

  template <bool kIgnoresNan>
  __device__ GroupExtremes<T> OfLong(const T* elements, uint32_t size, uint32_t shift) const {
    constexpr uint32_t kInFlight = ExtremeTuning::kLongVectorsInFlight;
    const uint32_t lane = warp_.thread_rank();
    const uint4* const vectors = reinterpret_cast<const uint4*>(elements - shift);
    const uint32_t first = shift == 0 ? 0 : 1;
    const uint32_t last = (shift + size) / kSize;
    LaneExtremes<T, kIgnoresNan> extremes{sides_};
    // Elements that are not in whole vectors, of which there are some: groups are long.
    const uint32_t tail = last * kSize - shift;
    if (tail + lane < size) extremes.Add(VectorOf(elements[tail + lane]), last);
    uint32_t left = last > first + lane ? (last - first - lane + kLanes - 1) / kLanes : 0;
    const uint4* at = vectors + first + lane;
#pragma unroll 1
    while (left > 0) {
      const uint32_t taken = min(left, kInFlight);
      uint4 raw[kInFlight];
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        if (k < taken) raw[k] = at[(left - 1 - k) * kLanes];
      }
#pragma unroll
      for (uint32_t k = 0; k < kInFlight; ++k) {
        if (k < taken) extremes.Add(raw[k], first + lane + (left - 1 - k) * kLanes);
      }
      left -= taken;
    }
    if (first == 1 && lane < min(kSize - shift, size)) extremes.Add(VectorOf(elements[lane]), 0);
    return extremes.Placed();
  }

  __device__ void FinishLong(uint64_t group, const T* elements, uint32_t size, uint32_t shift,
                             bool is_max, const PlacedKey<T>& placed) const {
    const uint32_t place = placed.Place();
    const uint32_t k = warp_.thread_rank() % kSize;
    const uint32_t i = (kFirstPlace - place) * kSize + k - shift;
    const bool exists = place != 0 && i < size;
    const T element = exists ? elements[i] : T{};
    const bool has = exists && KeyHolders<T>(placed, is_max).Of(VectorOf(element)) != 0;
    const uint32_t lanes = warp_.ballot(has);
    const uint32_t writer =
        lanes == 0 ? 0 : static_cast<uint32_t>(__ffs(static_cast<int>(lanes))) - 1;
    if (warp_.thread_rank() == writer)
      Finish(group, is_max, ToCompute(element), has ? i : kNoIndex);
  }

  const Warp& warp_;
  const ReductionParameters& parameters_;
  ExtremeSlots min_slots_;
  ExtremeSlots max_slots_;
  ExtremeSides sides_;
};

// The elements of the groups that a warp takes in a turn.
struct RowTurn {
  uint64_t begin;
  uint64_t size;
};

// Groups by lanes of a warp, work.turn_groups in a turn; those of a turn that does not fit the
// window one after the other by all lanes.
template <class T>
__global__ void __launch_bounds__(ExtremeTuning::kThreads, ExtremeTuning::kResidentBlocks)
    ReduceRowExtremes(const __grid_constant__ ReductionParameters parameters,
                      const __grid_constant__ TileWork work) {
  using Window = RowWindow<T>;
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint32_t kWarps = ExtremeTuning::kThreads / kLanes;
  __shared__ typename Window::Memory windows[kWarps][2];
  const Warp warp = cg::tiled_partition<kLanes>(cg::this_thread_block());
  auto& memory = windows[warp.meta_group_rank()];
  const T* const elements = static_cast<const T*>(parameters.elements);
  uint64_t* const counts = CountSlots(parameters);
  const RowExtremes<T> rows(warp, parameters);
  const uint32_t lane = warp.thread_rank();
  const uint32_t width = 1u << work.width_log2;
  const uint32_t rank = lane & (width - 1);
  const bool are_brief = width == 1 && parameters.group_size <= ExtremeTuning::kBriefElementsMax;
  const uint64_t step = uint64_t{gridDim.x} * kWarps * work.turn_groups;
  uint64_t first = (uint64_t{blockIdx.x} * kWarps + warp.meta_group_rank()) * work.turn_groups;

  const auto begin_of = [&](uint64_t group) {
    group = min(group, parameters.group_count);
    return parameters.offsets == nullptr ? group * parameters.group_size
                                         : parameters.offsets[group];
  };
  const T* const limit = elements + begin_of(parameters.group_count);
  const auto turn_of = [&](uint64_t group) {
    const uint64_t begin = begin_of(group);
    return RowTurn{begin, begin_of(group + work.turn_groups) - begin};
  };
  const auto load = [&](const RowTurn& turn, uint32_t which) {
    if (turn.size <= Window::kElementsMax) {
      const T* const begin = elements + turn.begin;
      Window::Load(warp, memory[which], begin, begin + turn.size, limit);
    }
    __pipeline_commit();
  };

  RowTurn turn = turn_of(first);
  RowTurn next = turn_of(first + step);
  uint32_t which = 0;
  load(turn, which);
#pragma unroll 1
  for (; first < parameters.group_count; first += step) {
    load(next, which ^ 1);
    __pipeline_wait_prior(1);
    warp.sync();
    if (turn.size <= Window::kElementsMax) {
      const uint32_t shift = Window::ShiftOf(elements + turn.begin);
#pragma unroll 1
      for (uint32_t k = lane >> work.width_log2; k < work.turn_groups;
           k += kLanes >> work.width_log2) {
        const uint64_t group = first + k;
        const bool exists = group < parameters.group_count;
        uint32_t begin = 0;
        uint32_t end = 0;
        if (parameters.offsets == nullptr) {
          const uint32_t size = static_cast<uint32_t>(parameters.group_size);
          begin = k * size;
          end = exists ? begin + size : begin;
        } else if (exists) {
          begin = static_cast<uint32_t>(parameters.offsets[group] - turn.begin);
          end = static_cast<uint32_t>(parameters.offsets[group + 1] - turn.begin);
        }
        if (counts != nullptr && exists && rank == 0) counts[group] = end - begin;
        begin = shift + begin * static_cast<uint32_t>(sizeof(T));
        end = shift + end * static_cast<uint32_t>(sizeof(T));
        if (are_brief) {
          if (exists) rows.TakeBrief(memory[which], group, begin, end);
        } else {
          rows.TakeStaged(memory[which], group, exists, begin, end, rank, width);
        }
      }
    } else {
      const uint64_t last = min(first + work.turn_groups, parameters.group_count);
#pragma unroll 1
      for (uint64_t group = first; group < last; ++group) {
        const GroupRange range = RangeOf(parameters, group);
        if (range.size <= work.group_elements_max) {
          rows.TakeLong(group, range);
          if (counts != nullptr && lane == 0) counts[group] = range.size;
        } else if (lane == 0) {
          QueueSegment(work, group, range.size);
        }
      }
    }
    warp.sync();
    turn = next;
    next = turn_of(first + 2 * step);
    which ^= 1;
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_EXTREMES_CUH_
