// A warp has sums of the first elements of a turn of integers, the next of a strip, up to wherever
// a group of the strip ends. A group's sum is the difference of two of these sums, however many
// groups there are and wherever they begin, so that all lanes have as many elements to add.
// strip_prefixes.cuh has an example.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_PREFIXES_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_PREFIXES_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/integer_products.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/strip_window.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cuda {

// What another lane has: words of any type, each by `shuffle`.
template <class Value, class Shuffle>
__device__ inline Value ShuffleWords(const Value& value, Shuffle shuffle) {
  struct Words {
    uint32_t words[sizeof(Value) / sizeof(uint32_t)];
  };
  Words words = std::bit_cast<Words>(value);
#pragma unroll
  for (uint32_t& word : words.words) word = shuffle(word);
  return std::bit_cast<Value>(words);
}
template <class Value>
__device__ inline Value FromBelow(const Warp& warp, const Value& value, uint32_t distance) {
  return ShuffleWords(value, [&](uint32_t word) { return warp.shfl_up(word, distance); });
}
template <class Value>
__device__ inline Value FromLast(const Warp& warp, const Value& value) {
  constexpr uint32_t kLast = ReduceTuning::kWarpThreads - 1;
  return ShuffleWords(value, [&](uint32_t word) { return warp.shfl(word, kLast); });
}

// What all lanes up to this one have, added up.
template <class Sums>
__device__ inline Sums SumOfLanesTo(const Warp& warp, Sums sums) {
#pragma unroll
  for (uint32_t distance = 1; distance < ReduceTuning::kWarpThreads; distance *= 2) {
    const Sums below = FromBelow(warp, sums, distance);
    if (warp.thread_rank() >= distance) sums += below;
  }
  return sums;
}

// What the first `bytes` bytes, or fewer than none, of word `i` of a vector are, in any place of
// the word; the others are 0.
__device__ inline uint32_t FirstBytes(uint32_t word, int i, int bytes) {
  const uint32_t unwanted_bits = static_cast<uint32_t>(max(32 * (i + 1) - 8 * bytes, 0));
  uint32_t wanted;
  asm("shl.b32 %0, %1, %2;" : "=r"(wanted) : "r"(word), "r"(unwanted_bits));  // Of 32 and more: 0.
  return wanted;
}

// Sums of elements of type T of groups of up to 64 KiB, modulo more than any two of them are apart.
template <IntegerElement T>
struct IntegerSums {
  using Running = IntegerSums;
  using Sum = std::conditional_t<sizeof(T) <= 2, uint32_t,
                                 std::conditional_t<sizeof(T) == 4, uint64_t, Uint128>>;
  using Wide = std::conditional_t<sizeof(T) == 8, Int128, int64_t>;

  Sum sum = 0;

  // Elements that are 0 may stand for none.
  __device__ void AddVector(const uint4& raw) {
    if constexpr (sizeof(T) <= 2) {
      for (const uint32_t word : {raw.x, raw.y, raw.z, raw.w}) AddWord(word);
    } else {
      for (const T x : BatchOf<T>(raw).values) sum += static_cast<Sum>(x);
    }
  }

  __device__ IntegerSums& operator+=(const IntegerSums& other) {
    sum += other.sum;
    return *this;
  }
  __device__ IntegerSums& operator-=(const IntegerSums& other) {
    sum -= other.sum;
    return *this;
  }
  // A group's sum.
  __device__ Wide Value() const {
    if constexpr (sizeof(T) <= 2 && std::is_signed_v<T>) {
      return static_cast<int32_t>(sum);
    } else {
      return static_cast<Wide>(sum);
    }
  }

 private:
  __device__ void AddWord(uint32_t word) {
    using Part = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
    if constexpr (sizeof(T) == 1) {
      constexpr Part kOnes = 0x0101'0101;
      sum = static_cast<Sum>(__dp4a(static_cast<Part>(word), kOnes, static_cast<Part>(sum)));
    } else {
      sum = AddLowerDot<T>(word, 0x0101u, sum);
    }
  }
};

// The elements in the first `bytes` bytes of a vector, in any places of their words, among zeros.
template <class T>
__device__ inline uint4 FirstElements(const uint4& raw, int bytes) {
  if constexpr (sizeof(T) == 8) {
    return bytes > 0 ? uint4{raw.x, raw.y, 0, 0} : uint4{};
  } else if constexpr (sizeof(T) == 4) {
    return {bytes > 0 ? raw.x : 0, bytes > 4 ? raw.y : 0, bytes > 8 ? raw.z : 0, 0};
  } else {
    return {FirstBytes(raw.x, 0, bytes), FirstBytes(raw.y, 1, bytes), FirstBytes(raw.z, 2, bytes),
            FirstBytes(raw.w, 3, bytes)};
  }
}

// Prefixes of sums of a kind: Sums::Running is what vectors are added to. Functions that are not
// const are called by all lanes of a warp.
template <IntegerElement T, class Sums>
class IntegerPrefixes {
 public:
  static constexpr uint32_t kSize = kVectorSize<T>;
  static constexpr uint32_t kLaneVectors = StripTuning::kLaneVectors;
  static constexpr uint32_t kVectors = kLaneVectors * ReduceTuning::kWarpThreads;
  static constexpr uint32_t kElements = StripWindow<T>::kElements;  // Of a turn.
  // Neighbouring lanes' vectors are in different banks.
  static_assert(kLaneVectors % 2 == 1);

  // Large sums of what of a lane's precedes a vector are made again: more warps find room.
  static constexpr bool kKeepsVectors = sizeof(Sums) <= ReduceTuning::kVectorBytes;
  struct Memory {
    Sums lanes[ReduceTuning::kWarpThreads + 1];  // Of what precedes a lane's vectors, and of all.
    Sums vectors[kKeepsVectors ? kVectors + 1 : 1];  // Of what of its lane's precedes a vector.
  };

  __device__ IntegerPrefixes(const Warp& warp, StripWindow<T>& window, Memory& memory,
                             const typename Sums::Running& none)
      : warp_(warp), window_(window), memory_(memory), none_(none) {
    if constexpr (kKeepsVectors) memory_.vectors[kVectors] = Sums();
  }

  // Goes on to the next turn; at first there is none. Calls also(vector, the lane's first, k) for
  // the lane's k-th vector. What lanes leave in memory is there when they have met.
  template <class Also>
  __device__ void Next(Also also) {
    window_.Next();
    const uint32_t first = warp_.thread_rank() * kLaneVectors;
    typename Sums::Running running = none_;
#pragma unroll
    for (uint32_t k = 0; k < kLaneVectors; ++k) {
      const uint4& vector = VectorAt((first + k) * kSize);
      if constexpr (kKeepsVectors) memory_.vectors[first + k] = Sums(running);
      running.AddVector(vector);
      also(vector, first, k);
    }
    const Sums to_end = SumOfLanesTo(warp_, Sums(running));
    Sums before = so_far_;
    before += to_end;
    before -= Sums(running);
    memory_.lanes[warp_.thread_rank()] = before;
    so_far_ += FromLast(warp_, to_end);
    memory_.lanes[ReduceTuning::kWarpThreads] = so_far_;
  }

  // Where the turn begins and ends.
  __device__ uint32_t first() const { return window_.limit() - kElements; }
  __device__ uint32_t limit() const { return window_.limit(); }
  __device__ const uint4& VectorAt(uint32_t i) const {
    return *reinterpret_cast<const uint4*>(window_.At(i));
  }

  // The sums of all turns before, and of the turn's first `count` elements, which may be all.
  __device__ Sums To(uint32_t count) const {
    const uint32_t vector = count / kSize;
    const uint32_t rest = count % kSize;
    const uint32_t lane = vector / kLaneVectors;
    typename Sums::Running tail = none_;
    if (rest != 0) {
      tail.AddVector(FirstElements<T>(VectorAt(count - rest), static_cast<int>(rest * sizeof(T))));
    }
    if constexpr (!kKeepsVectors) {
#pragma unroll 1
      for (uint32_t i = lane * kLaneVectors; i < vector; ++i) tail.AddVector(VectorAt(i * kSize));
    }
    Sums sums = memory_.lanes[lane];
    if constexpr (kKeepsVectors) sums += memory_.vectors[vector];
    sums += Sums(tail);
    return sums;
  }

 private:
  const Warp& warp_;
  StripWindow<T>& window_;
  Memory& memory_;
  typename Sums::Running none_;  // What nothing has been added to.
  Sums so_far_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_INTEGER_PREFIXES_CUH_
