// A thread takes the extremes of its turns (turns.cuh). It keeps which turn brought an extreme, and
// looks up once, at the end, which of the turn's elements it was: a warp has some lane with a new
// extreme in most turns, so a look-up in each would be taken by all.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_EXTREME_TURNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_EXTREME_TURNS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// The turns that brought the extremes, and these; of zeros, either.
template <class S>
struct ExtremeTurns {
  static constexpr uint32_t kNone = ~uint32_t{0};
  S min{};
  S max{};
  uint32_t min_turn = kNone;
  uint32_t max_turn = kNone;

  // Takes the extremes of a turn. Of equal ones the first counts: requires turns in order.
  __device__ void Take(S least, S greatest, uint32_t turn) {
    Take(least, min_turn == kNone || ExtremeState<S, false>::IsBefore(least, min),  //
         greatest, max_turn == kNone || ExtremeState<S, true>::IsBefore(greatest, max), turn);
  }
  // Takes the extremes of a turn of finite numbers only, without branches.
  __device__ void TakeFinite(S least, S greatest, uint32_t turn) {
    const bool is_less = static_cast<int>(min_turn == kNone) | static_cast<int>(least < min);
    const bool is_greater = static_cast<int>(max_turn == kNone) | static_cast<int>(greatest > max);
    Take(least, is_less, greatest, is_greater, turn);
  }

  // What says of elements, by upper halves alone, whether there may be a new extreme: bounds that
  // all lanes of a warp have in common, whose turns are one warp's and come in order. NaN, which
  // everything may take, where there is no extreme yet.
  struct Bounds {
    float least;
    float greatest;
    __device__ bool MayTake(float lower, float upper) const {
      return !(lower > least && upper < greatest);
    }
  };
  // Called by all lanes where `is_shared`.
  __device__ Bounds BoundsOf(bool is_shared) const requires(std::is_same_v<S, double>) {
    constexpr uint32_t kAll = ~0u;
    uint32_t least = min_turn == kNone ? ~uint32_t{0} : OrderedBits(SurveyedPart(min));
    uint32_t greatest = max_turn == kNone ? 0 : OrderedBits(SurveyedPart(max));
    if (is_shared) {
      least = __reduce_min_sync(kAll, least);
      greatest = __reduce_max_sync(kAll, greatest);
    }
    return {FromOrderedBits(least), FromOrderedBits(greatest)};
  }

 private:
  __device__ void Take(S least, bool is_less, S greatest, bool is_greater, uint32_t turn) {
    min = is_less ? least : min;
    min_turn = is_less ? turn : min_turn;
    max = is_greater ? greatest : max;
    max_turn = is_greater ? turn : max_turn;
  }
};

// The more extreme of each two 16-bit floating-point elements; a NaN where one is.
template <bool kIsMax, HalfElement T>
__device__ inline uint32_t ExtremeOrNanHalves(uint32_t a, uint32_t b) {
  uint32_t extreme;
  if constexpr (std::is_same_v<T, Float16>) {
    if constexpr (kIsMax) {
      asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    } else {
      asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    }
  } else {
    if constexpr (kIsMax) {
      asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    } else {
      asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    }
  }
  return extreme;
}

// The more extreme of the elements of two words, place by place: of bytes, those in the upper
// halves of 16 bits.
template <bool kIsMax, class T>
__device__ inline uint32_t ExtremeWord(uint32_t a, uint32_t b) {
  if constexpr (std::is_same_v<T, float>) {
    return __float_as_uint(ExtremeOrNan<kIsMax>(__uint_as_float(a), __uint_as_float(b)));
  } else if constexpr (HalfElement<T>) {
    return ExtremeOrNanHalves<kIsMax, T>(a, b);
  } else if constexpr (sizeof(T) == 4) {
    const T x = static_cast<T>(a);
    const T y = static_cast<T>(b);
    return static_cast<uint32_t>(kIsMax ? max(x, y) : min(x, y));
  } else {
    return ExtremeHalves<kIsMax, T>(a, b);
  }
}

// `best` and the elements of a word. Of bytes, `best` counts as its upper ones only.
template <bool kIsMax, class T>
__device__ inline uint32_t ExtremeWithWord(uint32_t best, uint32_t word) {
  best = ExtremeWord<kIsMax, T>(best, word);
  if constexpr (sizeof(T) == 1) best = ExtremeWord<kIsMax, T>(best, word << 8);
  return best;
}

// The most extreme of the elements that ExtremeWithWord left in a word.
template <bool kIsMax, class T>
__device__ inline T ExtremeOfWord(uint32_t best) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t,
                                  std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>;
  if constexpr (sizeof(T) <= 2) best = ExtremeWord<kIsMax, T>(best, best << 16);
  return std::bit_cast<T>(static_cast<Bits>(best >> (32 - 8 * sizeof(T))));
}

// The most extreme of a turn's elements, none of which is NaN; of zeros, either.
template <bool kIsMax, uint32_t kCount>
__device__ inline double BestOfTurn(const uint4 (&raw)[kCount]) {
  double best = BatchOf<double>(raw[0]).values[0];
#pragma unroll
  for (uint32_t k = 0; k < kCount; ++k) {
    for (const double x : BatchOf<double>(raw[k]).values) {
      best = (kIsMax ? best < x : x < best) ? x : best;
    }
  }
  return best;
}

// What every element is at least as extreme as, bytes being compared as halves of a word.
template <class T, bool kIsMax>
__device__ constexpr auto LeastExtreme() {
  if constexpr (HalfElement<T>) {
    constexpr uint16_t kInfinity = std::is_same_v<T, Float16> ? 0x7C00 : 0x7F80;
    return static_cast<uint16_t>(kInfinity | (kIsMax ? 0x8000 : 0));
  } else if constexpr (FloatingElement<T>) {
    return kIsMax ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  } else {
    using Half = std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>;
    using Limits = std::numeric_limits<std::conditional_t<sizeof(T) == 1, Half, T>>;
    return kIsMax ? Limits::min() : Limits::max();
  }
}

// A value before which no other comes, of elements that come a vector at a time; of zeros, either.
template <class T, bool kIsMax>
class RunningExtreme {
 public:
  __device__ void Add(const uint4& raw) {
    if constexpr (sizeof(T) == 8) {
      for (const T x : BatchOf<T>(raw).values) best_ = kIsMax ? max(best_, x) : min(best_, x);
    } else {
      const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
      for (const uint32_t word : words) best_ = ExtremeWithWord<kIsMax, T>(best_, word);
    }
  }
  __device__ ComputeType<T> Value() const {
    if constexpr (sizeof(T) == 8) {
      return best_;
    } else {
      return ToCompute(ExtremeOfWord<kIsMax, T>(best_));
    }
  }

 private:
  static_assert(sizeof(T) < 8 || IntegerElement<T>);
  using Best = std::conditional_t<sizeof(T) == 8, T, uint32_t>;
  static constexpr Best First() {
    constexpr auto kLeast = LeastExtreme<T, kIsMax>();
    if constexpr (sizeof(T) > 2) {
      return std::bit_cast<Best>(kLeast);
    } else {
      constexpr uint32_t kHalf = static_cast<uint16_t>(kLeast);
      return kHalf << 16 | kHalf;
    }
  }

  Best best_ = First();
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_EXTREME_TURNS_CUH_
