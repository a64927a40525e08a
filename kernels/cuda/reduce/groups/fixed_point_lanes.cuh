// A lane keeps what it has of a short group in fixed point, turn by turn (fixed_point_turn.cuh),
// and the lanes of a group join it here.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_LANES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_LANES_CUH_

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/join.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/fixed_point_turn.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/fixed_point_state.h"

namespace gridfold::kernels::cuda {

// A group as vectors, of which the first and the last may have elements of its neighbours.
template <class T>
struct CoveringVectors {
  static constexpr uint32_t kSize = kVectorSize<T>;
  const uint4* first;
  uint32_t begin;  // Of the group, in elements from there on.
  uint32_t end;

  __device__ CoveringVectors(const T* elements, uint32_t count) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(elements);
    begin = static_cast<uint32_t>(address % ReduceTuning::kVectorBytes / sizeof(T));
    first = reinterpret_cast<const uint4*>(elements - begin);
    end = begin + count;
  }
  __device__ uint32_t Count() const { return CeilDivide(end, kSize); }
  // A bit for each of a lane's `count` vectors of a turn that is not whole: at most the first and
  // the last of the group, of which the lane's are `first` and every 2^width_log2-th after it.
  __device__ uint32_t PartsAmong(uint32_t first, uint32_t width_log2, uint32_t count) const {
    const uint32_t last = end / kSize;  // Where it is not whole.
    const bool has_last =
        end % kSize != 0 && count > 0 && last == first + ((count - 1) << width_log2);
    return (begin != 0 && first == 0 && count > 0 ? 1 : 0) | (has_last ? 1u << (count - 1) : 0);
  }
  // Elements of the group in a vector.
  __device__ uint32_t ElementsOf(uint32_t i) const {
    const uint32_t from = max(i * kSize, begin);
    const uint32_t to = min((i + 1) * kSize, end);
    return to > from ? to - from : 0;
  }
  __device__ static uint4 Nans() {
    constexpr uint32_t kOnes = ~uint32_t{0};
    return {kOnes, kOnes, kOnes, kOnes};
  }
  // A vector whose other elements are NaN.
  __device__ uint4 LoadPart(uint32_t i) const {
    struct Elements {
      T values[kSize];
    };
    Elements elements = std::bit_cast<Elements>(Nans());
    const T* const values = reinterpret_cast<const T*>(first + i);
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) {
      const uint32_t at = i * kSize + k;
      if (at >= begin && at < end) elements.values[k] = values[k];
    }
    return std::bit_cast<uint4>(elements);
  }
};

// What a lane, and then all lanes of a group, know of it.
template <class T>
struct FixedPointLane {
  static constexpr uint32_t kVectors = 8;
  static constexpr uint32_t kElements = kVectors * kVectorSize<T>;
  using Window = FixedPointWindow<T, kElements>;
  using Extreme = ExtremeState<float, false>;
  static constexpr uint32_t kNone = FixedPointState<T>::kNone;
  static constexpr uint32_t kInfinity = 0x7F80'0000u;
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  Int128 squares = 0;
  int64_t sum = 0;
  int exponent = 0;      // Of the unit; equal in all lanes of the group.
  uint32_t largest = 0;  // Bits of a magnitude with the greatest exponent; equal in all lanes.
  float min = kNan;      // NaN where there is no element; so is max.
  float max = kNan;
  uint32_t min_index = kNone;
  uint32_t max_index = kNone;
  uint32_t nonzero = 0;
  uint32_t nan = 0;
  bool has_other = false;  // Whether there is anything but negative zeros.
  bool has_sum = false;    // Whether anything but zeros was added.

  // Adds what a window took.
  __device__ void AddSums(const FixedPointAdder<T, kElements>& sums, const Window& window) {
    Int128 added_squares = sums.Squares();
    int64_t added_sum = sums.Sum();
    const int finer = has_sum ? exponent - window.exponent() : 0;
    if (finer != 0) {
      const int shift = ::min(abs(finer), 63);
      Int128& coarse_squares = finer > 0 ? squares : added_squares;
      int64_t& coarse_sum = finer > 0 ? sum : added_sum;
      coarse_squares = coarse_squares << shift << shift;
      coarse_sum <<= shift;
    }
    squares += added_squares;
    sum += added_sum;
    if (!has_sum || finer > 0) exponent = window.exponent();
    has_sum = true;
  }
  // Bits of elements in the smallest of the units.
  __device__ int Bits() const {
    return Window(largest >> 23).exponent() + Window::kBits - exponent;
  }
};

// The greatest of each `width` neighbouring lanes, in all of them.
__device__ inline uint32_t GreatestOfLanes(const Warp& warp, uint32_t width, uint32_t x) {
  if (width == ReduceTuning::kWarpThreads) return __reduce_max_sync(~0u, x);
#pragma unroll 1
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
    x = max(x, warp.shfl_xor(x, distance));
  }
  return x;
}

// A vector with zeros for the elements that a window took.
template <class T>
__device__ inline uint4 WithoutTaken(const uint4& vector, float smallest) {
  struct Elements {
    T values[kVectorSize<T>];
  };
  Elements elements = std::bit_cast<Elements>(vector);
#pragma unroll
  for (T& x : elements.values) {
    if (fabsf(ToCompute(x)) >= smallest) x = T{};
  }
  return std::bit_cast<uint4>(elements);
}

// Makes zeros of a vector's NaNs, and counts them.
template <class T>
__device__ inline uint32_t DropNans(uint4& vector) {
  struct Elements {
    T values[kVectorSize<T>];
  };
  Elements elements = std::bit_cast<Elements>(vector);
  uint32_t count = 0;
#pragma unroll
  for (T& x : elements.values) {
    if (!IsNan(x)) continue;
    x = T{};
    ++count;
  }
  vector = std::bit_cast<uint4>(elements);
  return count;
}

// What is known of a lane's vectors of a turn, of which the first `count` are there: all of them,
// where it says so.
template <bool kIsFull, class T>
__device__ inline FixedPointSurvey<T> SurveyOf(const uint4 (&raw)[FixedPointLane<T>::kVectors],
                                               uint32_t count) {
  FixedPointSurvey<T> survey;
#pragma unroll
  for (uint32_t k = 0; k < FixedPointLane<T>::kVectors; ++k) {
    if (kIsFull || k < count) survey.Add(raw[k]);
  }
  return survey;
}
template <bool kIsFull, class T>
__device__ inline FixedPointAdder<T, FixedPointLane<T>::kElements> SumsOf(
    const uint4 (&raw)[FixedPointLane<T>::kVectors], uint32_t count,
    const typename FixedPointLane<T>::Window& window) {
  FixedPointAdder<T, FixedPointLane<T>::kElements> sums(window);
#pragma unroll
  for (uint32_t k = 0; k < FixedPointLane<T>::kVectors; ++k) {
    if (!kIsFull && k >= count) continue;
#pragma unroll
    for (const float x : BatchOf<T>(raw[k]).values) sums.Add(x);
  }
  return sums;
}

// A lane's vectors of a turn in its memory, for what is seldom needed: such code is not inlined,
// and short, so that the registers and the instruction cache are the other's.
template <class T>
struct FixedPointTurn {
  static constexpr uint32_t kVectors = FixedPointLane<T>::kVectors;
  uint4 vectors[kVectors];
  uint32_t count;
  uint32_t first;  // Index of the first element.
  uint32_t step;   // From a vector to the next, in elements.

  __device__ FixedPointTurn(const uint4 (&raw)[kVectors], uint32_t count, uint32_t first,
                            uint32_t step)
      : count(count), first(first), step(step) {
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) vectors[k] = raw[k];
  }
};

// The lane's first element that equals `value`: its index and itself.
template <class T>
__device__ __noinline__ uint32_t FindFirst(const FixedPointTurn<T>& turn, float* value) {
  const float wanted = *value;
#pragma unroll 1
  for (uint32_t k = 0; k < turn.count; ++k) {
    const auto batch = BatchOf<T>(turn.vectors[k]);
#pragma unroll
    for (uint32_t i = 0; i < kVectorSize<T>; ++i) {
      if (batch.values[i] != wanted) continue;
      *value = batch.values[i];  // Of zeros, this one.
      return turn.first + k * turn.step + i;
    }
  }
  return FixedPointLane<T>::kNone;
}

// Takes the extremes of a turn; places where they are asked for, or where an extreme is zero, of
// which the first says which zero it is.
template <class T>
__device__ inline void AddExtremes(const uint4 (&raw)[FixedPointLane<T>::kVectors], uint32_t count,
                                   uint32_t first, uint32_t step, bool asks_places, float least,
                                   float greatest, FixedPointLane<T>& lane) {
  const bool lowers = !(lane.min <= least) && !IsNan(least);
  const bool raises = !(lane.max >= greatest) && !IsNan(greatest);
  if (lowers) lane.min = least;
  if (raises) lane.max = greatest;
  const bool finds_min = lowers && (asks_places || least == 0);
  const bool finds_max = raises && (asks_places || greatest == 0);
  if (finds_min || finds_max) {
    const FixedPointTurn<T> turn(raw, count, first, step);
    if (finds_min) lane.min_index = FindFirst<T>(turn, &least);
    if (finds_max) lane.max_index = FindFirst<T>(turn, &greatest);
    if (finds_min) lane.min = least;
    if (finds_max) lane.max = greatest;
  }
}

// Adds the elements of a turn whatever they are. `magnitude` has the exponent of the group's
// window. Called by all lanes of a warp.
template <class T>
__device__ __noinline__ void AddAnyTurn(uint32_t width, FixedPointTurn<T>& turn, uint32_t magnitude,
                                        FixedPointLane<T>& lane) {
  using Lane = FixedPointLane<T>;
  const Warp warp = cg::tiled_partition<ReduceTuning::kWarpThreads>(cg::this_thread_block());
  for (bool is_first = true;; is_first = false) {
    const typename Lane::Window window(magnitude >> 23);
    FixedPointAdder<T, Lane::kElements> sums(window);
    const float smallest = window.Smallest();
    float below = 0;  // The greatest magnitude that is not taken.
#pragma unroll 1
    for (uint32_t k = 0; k < turn.count; ++k) {
#pragma unroll
      for (const float x : BatchOf<T>(turn.vectors[k]).values) {
        const bool is_taken = fabsf(x) >= smallest;
        lane.nonzero += is_taken ? 1 : 0;
        lane.nan += is_first && IsNan(x) ? 1 : 0;
        if (!is_taken) below = fmaxf(below, fabsf(x));
        sums.Add(is_taken ? x : 0.0f);
      }
      // What is taken is not there for the next window.
      turn.vectors[k] = WithoutTaken<T>(turn.vectors[k], smallest);
    }
    if (magnitude != 0) lane.AddSums(sums, window);
    magnitude = GreatestOfLanes(warp, width, __float_as_uint(below));
    if (!warp.any(magnitude != 0)) return;
  }
}

// Loads the first `count` of a lane's vectors, and of those that it has only parts of the group's
// elements, the others being NaN. Returns how many these are.
template <class T>
__device__ inline uint32_t LoadTurn(const CoveringVectors<T>& vectors, uint32_t first,
                                    uint32_t width_log2, uint32_t count, uint32_t parts,
                                    uint4 (&raw)[FixedPointLane<T>::kVectors]) {
#pragma unroll
  for (uint32_t k = 0; k < FixedPointLane<T>::kVectors; ++k) {
    if (k < count && (parts >> k & 1) == 0) raw[k] = vectors.first[first + (k << width_log2)];
  }
  uint32_t missing = 0;
  if (parts != 0) {
#pragma unroll
    for (uint32_t k = 0; k < FixedPointLane<T>::kVectors; ++k) {
      if ((parts >> k & 1) == 0) continue;
      const uint32_t i = first + (k << width_log2);
      raw[k] = vectors.LoadPart(i);
      missing += vectors.kSize - vectors.ElementsOf(i);
    }
  }
  return missing;
}

// The share of lane `rank` of `width` in a group. Called by all lanes of a warp, with groups of
// their own, or none.
template <class T>
__device__ inline FixedPointLane<T> TakeShare(const Warp& warp, const T* elements, uint32_t size,
                                              uint32_t rank, uint32_t width_log2,
                                              bool asks_places) {
  using Lane = FixedPointLane<T>;
  constexpr uint32_t kSize = kVectorSize<T>;
  const uint32_t width = 1u << width_log2;
  const CoveringVectors<T> vectors(elements, size);
  const uint32_t vector_count = size == 0 ? 0 : vectors.Count();
  Lane lane;
#pragma unroll 1
  for (uint32_t turn = 0; warp.any(turn < vector_count); turn += Lane::kVectors << width_log2) {
    const uint32_t first = turn + rank;
    const uint32_t left = first < vector_count ? vector_count - first : 0;
    // The lane's vectors of the turn, and those of them that it has only parts of.
    const uint32_t count = min((left + width - 1) >> width_log2, Lane::kVectors);
    const uint32_t parts = vectors.PartsAmong(first, width_log2, count);
    const bool is_full = warp.all(count == Lane::kVectors && parts == 0);
    uint4 raw[Lane::kVectors];
    uint32_t valid = count * kSize;
    FixedPointSurvey<T> survey;
    if (is_full) {
#pragma unroll
      for (uint32_t k = 0; k < Lane::kVectors; ++k) {
        raw[k] = vectors.first[first + (k << width_log2)];
      }
      survey = SurveyOf<true, T>(raw, count);
    } else {
      valid -= LoadTurn(vectors, first, width_log2, count, parts, raw);
      survey = SurveyOf<false, T>(raw, count);
    }
    const float least = survey.Least();
    const float greatest = survey.Greatest();
    // Once a window is chosen, it is kept until something larger comes.
    lane.largest = max(lane.largest, __float_as_uint(fmaxf(fmaxf(-least, greatest), 0.0f)));
    lane.largest = GreatestOfLanes(warp, width, lane.largest);
    lane.has_other |= least < 0 || __float_as_uint(greatest) < Lane::kInfinity;
    AddExtremes<T>(raw, count, first * kSize - vectors.begin, kSize << width_log2, asks_places,
                   least, greatest, lane);
    if (parts != 0) {
      // What is not the group's is not looked at any more.
      uint32_t nans = 0;
#pragma unroll
      for (uint32_t k = 0; k < Lane::kVectors; ++k) {
        if ((parts >> k & 1) != 0) nans += DropNans<T>(raw[k]);
      }
      nans -= count * kSize - valid;
      lane.nan += nans;
      valid -= nans;
    }
    const typename Lane::Window window(lane.largest >> 23);
    if (warp.all(!(survey.Smallest() < window.Smallest()))) {
      const auto sums =
          is_full ? SumsOf<true, T>(raw, count, window) : SumsOf<false, T>(raw, count, window);
      if (warp.all(!sums.HasNan())) {
        lane.nonzero += valid;
        if (lane.largest != 0) lane.AddSums(sums, window);
        continue;
      }
    }
    FixedPointTurn<T> any(raw, count, 0, 0);
    FixedPointLane<T> copy = lane;
    AddAnyTurn<T>(width, any, lane.largest, copy);
    lane = copy;
  }
  return lane;
}

// Joins the shares of each `width` neighbouring lanes, in all of them.
template <class T>
__device__ inline void JoinShares(const Warp& warp, uint32_t width, FixedPointLane<T>& lane) {
  const bool has_places = warp.any(lane.min_index != lane.kNone || lane.max_index != lane.kNone);
#pragma unroll 1
  for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
    lane.sum += warp.shfl_xor(lane.sum, distance);
    const uint64_t low = warp.shfl_xor(static_cast<uint64_t>(lane.squares), distance);
    const int64_t high = warp.shfl_xor(static_cast<int64_t>(lane.squares >> 64), distance);
    lane.squares += (Int128{high} << 64) | low;
    lane.nonzero += warp.shfl_xor(lane.nonzero, distance);
    const float min = warp.shfl_xor(lane.min, distance);
    const float max = warp.shfl_xor(lane.max, distance);
    if (has_places) {
      const uint32_t min_index = warp.shfl_xor(lane.min_index, distance);
      const uint32_t max_index = warp.shfl_xor(lane.max_index, distance);
      if (IsNan(lane.min) || min < lane.min || (min == lane.min && min_index < lane.min_index)) {
        lane.min = min;
        lane.min_index = min_index;
      }
      if (IsNan(lane.max) || max > lane.max || (max == lane.max && max_index < lane.max_index)) {
        lane.max = max;
        lane.max_index = max_index;
      }
    } else {
      lane.min = fminf(lane.min, min);
      lane.max = fmaxf(lane.max, max);
    }
  }
  if (warp.any(lane.nan != 0 || lane.max == 0)) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      lane.nan += warp.shfl_xor(lane.nan, distance);
      lane.has_other = (lane.has_other | warp.shfl_xor(lane.has_other, distance)) != 0;
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_FIXED_POINT_LANES_CUH_
