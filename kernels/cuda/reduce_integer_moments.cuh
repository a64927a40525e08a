// Several statistics of groups of integers in strips: moments are differences of sums of the first
// elements (reduce_integer_prefixes.cuh), extremes are looked up in a table of a turn's vectors.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_INTEGER_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_INTEGER_MOMENTS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_extreme_turns.cuh"
#include "kernels/cuda/reduce_integer_prefixes.cuh"
#include "kernels/cuda/reduce_integer_turns.cuh"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

// What elements of groups of up to 64 KiB come to, modulo more than any two groups are apart.
template <IntegerElement T>
struct IntegerMoments {
  using Running = IntegerTurnSums<T>;
  using Sum = typename IntegerSums<T>::Sum;
  using Squares =
      std::conditional_t<sizeof(T) == 1, uint32_t,
                         std::conditional_t<sizeof(T) == 2, uint64_t,
                                            decltype(SquaresState<T>().sum)>>;

  Sum sum = 0;
  Squares squares{};
  uint32_t nonzero = 0;

  IntegerMoments() = default;
  __device__ explicit IntegerMoments(const Running& running)
      : sum(static_cast<Sum>(running.Sum())),
        squares(static_cast<Squares>(running.Squares())),
        nonzero(running.Nonzero()) {}

  __device__ IntegerMoments& operator+=(const IntegerMoments& other) {
    sum += other.sum;
    if constexpr (sizeof(T) == 8) {
      squares.Merge(other.squares);
    } else {
      squares += other.squares;
    }
    nonzero += other.nonzero;
    return *this;
  }
  __device__ IntegerMoments& operator-=(const IntegerMoments& other) {
    sum -= other.sum;
    if constexpr (sizeof(T) == 8) {
      squares.Subtract(other.squares);
    } else {
      squares -= other.squares;
    }
    nonzero -= other.nonzero;
    return *this;
  }

  template <class State>
  __device__ void AssignTo(State& state) const {
    state.template Part<kSumPart>().sum = IntegerSums<T>{sum}.Value();
    state.template Part<kSquaresPart>().sum = squares;
    state.template Part<kTallyPart>().nonzero = nonzero;
  }
};

// Extremes of some vectors and the first of these that has them.
template <class T>
struct VectorExtremes {
  static constexpr uint32_t kNone = ~uint32_t{0};
  T least{};
  T greatest{};
  uint32_t least_vector = kNone;
  uint32_t greatest_vector = kNone;

  // Takes those of vectors behind.
  __device__ void Merge(const VectorExtremes& other) {
    if (least_vector == kNone || other.least < least) {
      least = other.least;
      least_vector = other.least_vector;
    }
    if (greatest_vector == kNone || greatest < other.greatest) {
      greatest = other.greatest;
      greatest_vector = other.greatest_vector;
    }
  }
};

// The same of one turn's vectors, in as few registers and operations as do for that.
template <IntegerElement T>
struct TurnKey {
  VectorExtremes<T> extremes;
  TurnKey() = default;
  __device__ TurnKey(T least, T greatest, uint32_t vector)
      : extremes{least, greatest, vector, vector} {}
  __device__ void Merge(const TurnKey& other) { extremes.Merge(other.extremes); }
  __device__ VectorExtremes<T> Extremes() const { return extremes; }
};
// Elements of up to 16 bits: as unsigned ones, those of maxima inverted, with the vector below them.
template <IntegerElement T>
requires(sizeof(T) == 2) struct TurnKey<T> {
  uint32_t least = ~uint32_t{0};
  uint32_t greatest = ~uint32_t{0};
  TurnKey() = default;
  __device__ TurnKey(T least_value, T greatest_value, uint32_t vector)
      : least(Bits(least_value) << 16 | vector),
        greatest((Bits(greatest_value) ^ 0xFFFF) << 16 | vector) {}
  __device__ void Merge(const TurnKey& other) {
    least = min(least, other.least);
    greatest = min(greatest, other.greatest);
  }
  __device__ VectorExtremes<T> Extremes() const {
    return {static_cast<T>(Bits(static_cast<T>(least >> 16))),
            static_cast<T>(Bits(static_cast<T>(~greatest >> 16))), least & 0xFFFF,
            greatest & 0xFFFF};
  }

 private:
  __device__ static uint32_t Bits(T x) {
    return static_cast<uint16_t>(x) ^ (std::is_signed_v<T> ? 0x8000u : 0);
  }
};
template <IntegerElement T>
requires(sizeof(T) == 1) struct TurnKey<T> {
  uint32_t halves = ~uint32_t{0};
  TurnKey() = default;
  __device__ TurnKey(T least, T greatest, uint32_t vector)
      : halves((Bits(greatest) ^ 0xFF) << 24 | Bits(least) << 8 | vector << 16 | vector) {}
  __device__ void Merge(const TurnKey& other) { halves = __vminu2(halves, other.halves); }
  __device__ VectorExtremes<T> Extremes() const {
    return {static_cast<T>(Bits(static_cast<T>(halves >> 8))),
            static_cast<T>(Bits(static_cast<T>(~halves >> 24))), halves & 0xFF,
            halves >> 16 & 0xFF};
  }

 private:
  __device__ static uint32_t Bits(T x) {
    return static_cast<uint8_t>(x) ^ (std::is_signed_v<T> ? 0x80u : 0);
  }
};

// The key of a vector's elements.
template <IntegerElement T>
__device__ inline TurnKey<T> KeyOf(const uint4& raw, uint32_t vector) {
  RunningExtreme<T, false> least;
  RunningExtreme<T, true> greatest;
  least.Add(raw);
  greatest.Add(raw);
  return {least.Value(), greatest.Value(), vector};
}

// Extremes of any of a turn's elements that follow one another: keys of vectors and, of 1, 2, 4, 8
// and 16 lanes from each lane on, of all that these have.
template <IntegerElement T, class Prefixes>
class TurnExtremes {
  static constexpr uint32_t kSize = kVectorSize<T>;
  static constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  static constexpr uint32_t kLaneVectors = Prefixes::kLaneVectors;
  static constexpr uint32_t kLevels = 5;
  static_assert(kLanes == 1 << kLevels);

 public:
  struct Memory {
    TurnKey<T> vectors[Prefixes::kVectors];
    TurnKey<T> lanes[kLevels][kLanes];
  };

  __device__ explicit TurnExtremes(Memory& memory) : memory_(memory) {}

  // Takes a lane's vectors, and then all that the lane has of a turn.
  __device__ void Take(const uint4& raw, uint32_t vector) {
    const TurnKey<T> key = KeyOf<T>(raw, vector);
    memory_.vectors[vector] = key;
    of_lane_.Merge(key);
  }
  __device__ void Close(const Warp& warp) {
#pragma unroll
    for (uint32_t level = 0; level < kLevels; ++level) {
      memory_.lanes[level][warp.thread_rank()] = of_lane_;
      of_lane_.Merge(ShuffleWords(
          of_lane_, [&](uint32_t word) { return warp.shfl_down(word, 1u << level); }));
    }
    of_lane_ = TurnKey<T>();
  }

  // Of elements [begin, end), of which there are some.
  __device__ TurnKey<T> Of(const Prefixes& turn, uint32_t begin, uint32_t end) const {
    const uint32_t first = begin / kSize;
    const uint32_t limit = end / kSize;
    TurnKey<T> key;
    if (begin % kSize != 0 || first == limit) {
      key = OfPart(turn, first, begin % kSize, first == limit ? end % kSize : kSize);
    }
    AddVectors((begin + kSize - 1) / kSize, limit, key);
    if (end % kSize != 0 && first < limit) {
      key.Merge(OfPart(turn, limit, 0, end % kSize));
    }
    return key;
  }

 private:
  // Of elements [begin, end) of a vector: others become one of these.
  __device__ static TurnKey<T> OfPart(const Prefixes& turn, uint32_t vector, uint32_t begin,
                                      uint32_t end) {
    struct Elements {
      T values[kSize];
    };
    const uint4& raw = turn.VectorAt(vector * kSize);
    Elements elements = std::bit_cast<Elements>(raw);
    const T filling = reinterpret_cast<const T*>(&raw)[begin];
#pragma unroll
    for (uint32_t i = 0; i < kSize; ++i) {
      if (i < begin || i >= end) elements.values[i] = filling;
    }
    return KeyOf<T>(std::bit_cast<uint4>(elements), vector);
  }
  // Merges those of vectors [first, limit): single ones up to a lane's first, whole lanes', and
  // again single ones.
  __device__ void AddVectors(uint32_t first, uint32_t limit, TurnKey<T>& key) const {
    const uint32_t first_lane = (first + kLaneVectors - 1) / kLaneVectors;
    const uint32_t limit_lane = limit / kLaneVectors;
    const bool has_lanes = first_lane < limit_lane;
    const uint32_t single_limit = has_lanes ? first_lane * kLaneVectors : limit;
#pragma unroll 1
    for (uint32_t i = first; i < single_limit; ++i) key.Merge(memory_.vectors[i]);
    if (!has_lanes) return;
    const uint32_t lanes = limit_lane - first_lane;
    const uint32_t level = min(31 - static_cast<uint32_t>(__clz(static_cast<int>(lanes))), 4);
    key.Merge(memory_.lanes[level][first_lane]);
    key.Merge(memory_.lanes[level][limit_lane - (1u << level)]);
#pragma unroll 1
    for (uint32_t i = limit_lane * kLaneVectors; i < limit; ++i) key.Merge(memory_.vectors[i]);
  }

  Memory& memory_;
  TurnKey<T> of_lane_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_INTEGER_MOMENTS_CUH_
