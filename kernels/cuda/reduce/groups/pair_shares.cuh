// A lane keeps what it has of a short group in pairs (numerics/sums/pair_moments.h), turn by turn,
// and the lanes of a group join it here.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_SHARES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_SHARES_CUH_

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/sums/pair_moments.h"

namespace gridfold::kernels::cuda {

// A lane's elements of a turn. What there is not is NaN.
template <class T>
struct PairTurn {
  static constexpr uint32_t kSize = kVectorSize<T>;
  static constexpr uint32_t kVectors = PairTileTuning::kLaneElements / kSize;
  uint4 raw[kVectors];
  uint32_t used;  // Vectors that some lane of the warp has.

  __device__ static uint4 Nans() {
    constexpr uint32_t kOnes = ~uint32_t{0};
    return {kOnes, kOnes, kOnes, kOnes};
  }
  // The lane's vectors begin `step` elements apart, the first with element `first` of `count`.
  __device__ void LoadVectors(const T* elements, uint32_t count, uint32_t first, uint32_t step) {
    const T* next = elements + first;
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k, first += step, next += step) {
      raw[k] = Nans();
      if (first < count) raw[k] = *reinterpret_cast<const uint4*>(next);
    }
  }
  // Loads elements that are not in aligned vectors, as LoadVectors does.
  __device__ void LoadElements(const T* elements, uint32_t count, uint32_t first, uint32_t step) {
    struct Elements {
      T values[kSize];
    };
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k, first += step) {
      Elements vector = std::bit_cast<Elements>(Nans());
#pragma unroll
      for (uint32_t i = 0; i < kSize; ++i) {
        if (first + i < count) vector.values[i] = elements[first + i];
      }
      raw[k] = std::bit_cast<uint4>(vector);
    }
  }
  // Calls f(values of a vector) for those that are used.
  template <class F>
  __device__ void ForEachVector(F f) const {
#pragma unroll
    for (uint32_t k = 0; k < kVectors; ++k) {
      if (k < used) f(BatchOf<T>(raw[k]).values);
    }
  }
};

// Calls take(turn) for the share of lane `rank` of 2^width_log2 in a group. Called by all lanes of
// a warp, with groups of their own, or none.
template <class T, class Take>
__device__ inline void ForEachTurnOfShare(const Warp& warp, const T* elements, uint32_t count,
                                          uint32_t rank, uint32_t width_log2, Take take) {
  using Turn = PairTurn<T>;
  const uint32_t step = Turn::kSize << width_log2;
  const uint32_t longest = __reduce_max_sync(~0u, count);
  const bool is_in_vectors = (reinterpret_cast<uintptr_t>(elements) % ReduceTuning::kVectorBytes |
                              count % Turn::kSize) == 0;
  const bool are_in_vectors = warp.all(is_in_vectors || count == 0);
#pragma unroll 1
  for (uint32_t begin = 0; begin < longest; begin += Turn::kVectors * step) {
    Turn turn;
    turn.used = CeilDivide(longest - begin, step);
    const uint32_t first = begin + rank * Turn::kSize;
    if (are_in_vectors) {
      turn.LoadVectors(elements, count, first, step);
    } else {
      turn.LoadElements(elements, count, first, step);
    }
    take(turn);
  }
}

// What a lane, and then all lanes of a group, know of it.
struct PairLane {
  CheckedPair sum;
  SquaresPair squares;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  uint32_t zeros = 0;
  uint32_t nan = 0;  // Or not there.
  bool has_negative_zero = false;

  template <class T>
  __device__ void Add(const PairTurn<T>& turn) {
    // The least of the upper halves of elements, as floats, whose order is that of the elements: 0
    // where an element is, or nearly.
    float least = std::numeric_limits<float>::infinity();
    turn.ForEachVector([&](const auto& values) {
#pragma unroll
      for (const double x : values) {
        min = x < min ? x : min;
        max = x > max ? x : max;
        least = fminf(least, fabsf(__int_as_float(__double2hiint(x))));
        const bool is_nan = x != x;
        nan += is_nan ? 1 : 0;
        const double y = is_nan ? -0.0 : x;
        sum.Add(y);
        squares.Add(y);
      }
    });
    if (least != 0) return;
    turn.ForEachVector([&](const auto& values) {
#pragma unroll
      for (const double x : values) {
        zeros += x == 0 ? 1 : 0;
        has_negative_zero = has_negative_zero || (x == 0 && __double2hiint(x) < 0);
      }
    });
  }

  // Joins each 2^width_log2 neighbouring lanes, in all of them.
  __device__ void Join(const Warp& warp, uint32_t width_log2) {
    const bool has_counts = warp.any((zeros | nan) != 0);
#pragma unroll 1
    for (uint32_t distance = (1u << width_log2) / 2; distance > 0; distance /= 2) {
      sum.Merge({warp.shfl_xor(sum.high, distance), warp.shfl_xor(sum.low, distance),
                 warp.shfl_xor(sum.lost, distance)});
      squares.Merge({warp.shfl_xor(squares.high, distance), warp.shfl_xor(squares.low, distance)});
      const double other_min = warp.shfl_xor(min, distance);
      const double other_max = warp.shfl_xor(max, distance);
      min = other_min < min ? other_min : min;
      max = other_max > max ? other_max : max;
      if (has_counts) {
        zeros += warp.shfl_xor(zeros, distance);
        nan += warp.shfl_xor(nan, distance);
        has_negative_zero = (static_cast<int>(has_negative_zero) |
                             warp.shfl_xor(static_cast<int>(has_negative_zero), distance)) != 0;
      }
    }
  }
};

// Adds deviations from an element of the group, in place of elements.
template <class T>
__device__ inline void AddDeviations(const PairTurn<T>& turn, const DeviationFrame& frame,
                                     DeviationPairs& pairs) {
  turn.ForEachVector([&](const auto& values) {
#pragma unroll
    for (const double x : values) {
      if (x == x) pairs.Add(x, frame);
    }
  });
}
__device__ inline void JoinDeviations(const Warp& warp, uint32_t width_log2,
                                      DeviationPairs& pairs) {
  const auto of_lane = [&](const CheckedPair& pair, uint32_t distance) {
    return CheckedPair{warp.shfl_xor(pair.high, distance), warp.shfl_xor(pair.low, distance),
                       warp.shfl_xor(pair.lost, distance)};
  };
#pragma unroll 1
  for (uint32_t distance = (1u << width_log2) / 2; distance > 0; distance /= 2) {
    pairs.Merge({of_lane(pairs.sum, distance), of_lane(pairs.squares, distance),
                 warp.shfl_xor(static_cast<int>(pairs.has_small), distance) != 0});
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_PAIR_SHARES_CUH_
