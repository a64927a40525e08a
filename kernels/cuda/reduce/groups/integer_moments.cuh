// A warp makes several statistics of groups of integers in strips: moments are differences of sums
// of the first elements (integer_prefixes.cuh), extremes are looked up in a table of a turn's
// vectors.
//
// Example: a turn of eight vectors whose minima are 4 7 2 9 3 8 6 5:
//
//   minima of four vectors from each on: 2 2 2 3 3 5 5 5
//   minimum of vectors 1 to 6: of four from 1 and of four from 3, min(2, 3) = 2
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_MOMENTS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/integer_turns.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/integer_prefixes.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// What elements of groups of up to 64 KiB come to, modulo more than any two groups are apart.
template <IntegerElement T>
struct IntegerMoments {
  // Running sums of vectors. Elements that are 0 may stand for none.
  struct Running {
    bool counts_nonzero;
    IntegerTurnSums<T> sums;
    __device__ void AddVector(const uint4& raw) {
      ForEachWord<T>(raw, [&](auto word) { sums.AddPowers(word); });
      if (counts_nonzero) ForEachWord<T>(raw, [&](auto word) { sums.AddNonzero(word); });
    }
  };
  using Sum = typename IntegerSums<T>::Sum;
  using Squares = std::conditional_t<
      sizeof(T) == 1, uint32_t,
      std::conditional_t<sizeof(T) == 2, uint64_t, decltype(SquaresState<T>().sum)>>;

  Sum sum = 0;
  Squares squares{};
  uint32_t nonzero = 0;

  IntegerMoments() = default;
  __device__ explicit IntegerMoments(const Running& running)
      : sum(static_cast<Sum>(running.sums.Sum())),
        squares(static_cast<Squares>(running.sums.Squares())),
        nonzero(running.sums.Nonzero()) {}

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
  T least;
  T greatest;
  uint32_t least_vector;
  uint32_t greatest_vector;

  // Takes those of vectors behind.
  __device__ void Merge(const VectorExtremes& other) {
    least_vector = other.least < least ? other.least_vector : least_vector;
    least = min(least, other.least);
    greatest_vector = greatest < other.greatest ? other.greatest_vector : greatest_vector;
    greatest = max(greatest, other.greatest);
  }
};

// The extremes of one turn's vectors, in as few registers and operations as do for that.
template <IntegerElement T>
struct TurnKey {
  VectorExtremes<T> extremes;

  __device__ static TurnKey Of(const uint4& raw, uint32_t vector) {
    const auto batch = BatchOf<T>(raw);
    T least = batch.values[0];
    T greatest = least;
#pragma unroll
    for (uint32_t i = 1; i < kVectorSize<T>; ++i) {
      least = min(least, batch.values[i]);
      greatest = max(greatest, batch.values[i]);
    }
    return {{least, greatest, vector, vector}};
  }
  __device__ void Merge(const TurnKey& other) { extremes.Merge(other.extremes); }
  __device__ VectorExtremes<T> Extremes() const { return extremes; }
};

// The extremes of bytes, in the upper halves of 16 bits, or of elements of 16 bits: the least in
// the lower half of a word, and in the upper one the greatest, inverted; both as unsigned ones.
template <IntegerElement T>
__device__ inline uint32_t LeastAndGreatest(const uint4& raw) {
  uint32_t least = raw.x;
  uint32_t greatest = raw.x;
  const auto add = [&](uint32_t word) {
    least = ExtremeWord<false, T>(least, word);
    greatest = ExtremeWord<true, T>(greatest, word);
  };
  for (const uint32_t word : {raw.y, raw.z, raw.w}) add(word);
  if constexpr (sizeof(T) == 1) {
    for (const uint32_t word : {raw.x, raw.y, raw.z, raw.w}) add(word << 8);
  }
  constexpr uint32_t kOrdered = std::is_signed_v<T> ? 0x7FFF'8000u : 0xFFFF'0000u;
  const uint32_t lower = __byte_perm(least, greatest, 0x5410) ^ kOrdered;
  const uint32_t upper = __byte_perm(least, greatest, 0x7632) ^ kOrdered;
  return __vminu2(lower, upper);
}
// Back from there.
template <IntegerElement T>
__device__ inline T FromOrdered(uint32_t bits) {
  return static_cast<T>(bits ^ (std::is_signed_v<T> ? 1u << (8 * sizeof(T) - 1) : 0));
}

// The vector below the element, in a word for each extreme, or in half of one.
template <IntegerElement T>
requires(sizeof(T) == 2) struct TurnKey<T> {
  uint32_t least;
  uint32_t greatest;

  __device__ static TurnKey Of(const uint4& raw, uint32_t vector) {
    const uint32_t both = LeastAndGreatest<T>(raw);
    return {both << 16 | vector, (both & 0xFFFF'0000u) | vector};
  }
  __device__ void Merge(const TurnKey& other) {
    least = min(least, other.least);
    greatest = min(greatest, other.greatest);
  }
  __device__ VectorExtremes<T> Extremes() const {
    return {FromOrdered<T>(least >> 16), FromOrdered<T>(~greatest >> 16), least & 0xFFFF,
            greatest & 0xFFFF};
  }
};
template <IntegerElement T>
requires(sizeof(T) == 1) struct TurnKey<T> {
  uint32_t halves;

  __device__ static TurnKey Of(const uint4& raw, uint32_t vector) {
    return {(LeastAndGreatest<T>(raw) & 0xFF00'FF00u) | vector * 0x0001'0001u};
  }
  __device__ void Merge(const TurnKey& other) { halves = __vminu2(halves, other.halves); }
  __device__ VectorExtremes<T> Extremes() const {
    return {FromOrdered<T>(halves >> 8), FromOrdered<T>(~halves >> 24), halves & 0xFF,
            halves >> 16 & 0xFF};
  }
};

// The elements [begin, end) of a vector, and another one of these for each other element.
template <IntegerElement T>
__device__ inline uint4 FilledVector(const uint4& raw, T filling, uint32_t begin, uint32_t end) {
  struct Elements {
    T values[kVectorSize<T>];
  };
  if constexpr (sizeof(T) <= 2) {
    constexpr uint32_t kCopies = sizeof(T) == 1 ? 0x0101'0101u : 0x0001'0001u;
    const uint32_t fillings = static_cast<std::make_unsigned_t<T>>(filling) * kCopies;
    // The bytes of word i from byte `from` of the vector on.
    const auto bytes_from = [](uint32_t from, int i) {
      const int bits = max(8 * static_cast<int>(from * sizeof(T)) - 32 * i, 0);
      uint32_t mask;
      asm("shl.b32 %0, %1, %2;" : "=r"(mask) : "r"(~0u), "r"(bits));  // Of 32 and more: 0.
      return mask;
    };
    const auto filled = [&](uint32_t word, int i) {
      const uint32_t wanted = bytes_from(begin, i) & ~bytes_from(end, i);
      return (word & wanted) | (fillings & ~wanted);
    };
    return {filled(raw.x, 0), filled(raw.y, 1), filled(raw.z, 2), filled(raw.w, 3)};
  } else {
    Elements elements = std::bit_cast<Elements>(raw);
#pragma unroll
    for (uint32_t i = 0; i < kVectorSize<T>; ++i) {
      if (i < begin || i >= end) elements.values[i] = filling;
    }
    return std::bit_cast<uint4>(elements);
  }
}

// Extremes of any of a turn's elements that follow one another: keys of vectors and, of 1, 2, 4, 8
// and 16 lanes from each lane on, of all that these have.
template <IntegerElement T, class Prefixes>
class TurnExtremes {
  using Key = TurnKey<T>;
  static constexpr uint32_t kSize = kVectorSize<T>;
  static constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  static constexpr uint32_t kLaneVectors = Prefixes::kLaneVectors;
  static constexpr uint32_t kLevels = 5;
  static_assert(kLanes == 1 << kLevels);
  // Levels of a lane's own vectors, where keys are small: of 1, 2 and 4 from each on, or up to the
  // last.
  static constexpr uint32_t kVectorLevels = sizeof(Key) <= 8 ? 3 : 1;
  static_assert(kLaneVectors < 8);

 public:
  struct Memory {
    Key vectors[kVectorLevels][Prefixes::kVectors];
    Key lanes[kLevels][kLanes];
  };

  __device__ explicit TurnExtremes(Memory& memory) : memory_(memory) {}

  // Takes a lane's vectors in increasing order, and then all that the lane has of a turn.
  __device__ void Take(const uint4& raw, uint32_t first, uint32_t k) {
    const Key key = Key::Of(raw, first + k);
    if constexpr (kVectorLevels > 1) {
      of_vectors_[k] = key;
    } else {
      memory_.vectors[0][first + k] = key;
      if (k > 0) of_vectors_[0].Merge(key);
      if (k == 0) of_vectors_[0] = key;
    }
  }
  __device__ void Close(const Warp& warp) {
    if constexpr (kVectorLevels > 1) CloseVectors(warp.thread_rank() * kLaneVectors);
    Key of_lanes = of_vectors_[0];
#pragma unroll
    for (uint32_t level = 0; level < kLevels; ++level) {
      memory_.lanes[level][warp.thread_rank()] = of_lanes;
      of_lanes.Merge(
          ShuffleWords(of_lanes, [&](uint32_t word) { return warp.shfl_down(word, 1u << level); }));
    }
  }

  // The key of elements [begin, end), of which there are some.
  __device__ Key Of(const Prefixes& turn, uint32_t begin, uint32_t end) const {
    const uint32_t first = begin / kSize;
    const uint32_t limit = end / kSize;
    const uint32_t rest = begin % kSize;
    const bool is_part = rest != 0 || first == limit;
    Key key = is_part ? OfPart(turn, first, rest, first == limit ? end % kSize : kSize)
                      : memory_.vectors[0][first];
    if (first + 1 < limit) AddVectors(first + 1, limit, key);
    if (end % kSize != 0 && first < limit) key.Merge(OfPart(turn, limit, 0, end % kSize));
    return key;
  }

 private:
  // Makes the keys of each of a lane's vectors and those behind it; in the end of all vectors.
  __device__ void CloseVectors(uint32_t first) {
#pragma unroll
    for (uint32_t level = 0; level < kVectorLevels; ++level) {
#pragma unroll
      for (uint32_t k = 0; k < kLaneVectors; ++k) {
        memory_.vectors[level][first + k] = of_vectors_[k];
        if (k + (1u << level) < kLaneVectors) of_vectors_[k].Merge(of_vectors_[k + (1u << level)]);
      }
    }
  }
  // The key of elements [begin, end) of a vector.
  __device__ static Key OfPart(const Prefixes& turn, uint32_t vector, uint32_t begin,
                               uint32_t end) {
    const uint4& raw = turn.VectorAt(vector * kSize);
    const T filling = reinterpret_cast<const T*>(&raw)[begin];
    return Key::Of(FilledVector<T>(raw, filling, begin, end), vector);
  }
  // Merges those of vectors [first, limit), of which there are some.
  __device__ void AddVectors(uint32_t first, uint32_t limit, Key& key) const {
    const uint32_t first_lane = first / kLaneVectors;
    const uint32_t last_lane = (limit - 1) / kLaneVectors;
    if (first_lane == last_lane) return AddVectorsOfLane(first, limit, key);
    AddVectorsOfLane(first, (first_lane + 1) * kLaneVectors, key);
    if (const uint32_t lanes = last_lane - first_lane - 1; lanes > 0) {
      const uint32_t level = min(LevelOf(lanes), kLevels - 1);
      key.Merge(memory_.lanes[level][first_lane + 1]);
      key.Merge(memory_.lanes[level][last_lane - (1u << level)]);
    }
    AddVectorsOfLane(last_lane * kLaneVectors, limit, key);
  }
  __device__ void AddVectorsOfLane(uint32_t first, uint32_t limit, Key& key) const {
    if constexpr (kVectorLevels > 1) {
      const uint32_t level = LevelOf(limit - first);
      key.Merge(memory_.vectors[level][first]);
      key.Merge(memory_.vectors[level][limit - (1u << level)]);
    } else {
#pragma unroll 1
      for (uint32_t i = first; i < limit; ++i) key.Merge(memory_.vectors[0][i]);
    }
  }
  // The level of which two keys cover so many vectors.
  __device__ static uint32_t LevelOf(uint32_t count) {
    return 31 - static_cast<uint32_t>(__clz(static_cast<int>(count)));
  }

  Memory& memory_;
  Key of_vectors_[kVectorLevels > 1 ? kLaneVectors : 1];
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_MOMENTS_CUH_
