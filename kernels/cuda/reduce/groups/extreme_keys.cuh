// A lane keeps extremes of groups as keys, and the vector that each stands in. Which of a vector's
// elements an extreme is, is looked up afterwards.
//
// Example: int8, vectors 0: 5 -3 7 0 and 1: 2 -3 1 4:
//
//   minima of the vectors are -3 and -3; the first is kept: key of -3, vector 0
//   at the end vector 0 is searched for -3: element 1
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_EXTREME_KEYS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_EXTREME_KEYS_CUH_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Integers of which a key and a place share a word.
template <class T>
inline constexpr bool kIsShortInteger = IntegerElement<T> && sizeof(T) <= 2;

// A key is the greater the more extreme an element is, that of a minimum too. Of equal ones the
// greater place counts, that of an earlier vector; place 0 is that of none.
inline constexpr uint32_t kFirstPlace = 0xFFFF;
inline constexpr uint32_t kNoVector = kFirstPlace;
__device__ inline uint32_t PlaceOfVector(uint32_t vector) { return kFirstPlace - vector; }

template <class T>
struct PlacedKey {
  using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  Key key = 0;
  uint32_t place = 0;

  __device__ uint32_t Place() const { return place; }
  __device__ void Merge(const PlacedKey& other) {
    const bool is_before = other.key > key || (other.key == key && other.place > place);
    key = is_before ? other.key : key;
    place = is_before ? other.place : place;
  }
  __device__ void MergeLane(const Warp& warp, uint32_t distance) {
    Merge({warp.shfl_xor(key, distance), warp.shfl_xor(place, distance)});
  }
};
// The key of a short integer is at the upper end of a word.
template <class T>
requires kIsShortInteger<T>
struct PlacedKey<T> {
  using Key = uint32_t;
  uint32_t key = 0;  // And the place.

  __device__ uint32_t Place() const { return key & 0xFFFF; }
  __device__ void Merge(const PlacedKey& other) { key = max(key, other.key); }
  __device__ void MergeLane(const Warp& warp, uint32_t distance) {
    Merge({warp.shfl_xor(key, distance)});
  }
};

// What a lane keeps of one of the extremes of its vectors, which it takes in decreasing order.
template <class T, bool kIsMax, bool kIgnoresNan>
class LaneExtreme;

template <class T, bool kIsMax, bool kIgnoresNan>
requires kIsShortInteger<T>
class LaneExtreme<T, kIsMax, kIgnoresNan> {
 public:
  __device__ void Add(const uint4& raw, uint32_t vector) {
    uint32_t best = sizeof(T) == 1 ? ExtremeWord<kIsMax, T>(raw.x, raw.x << 8) : raw.x;
    best = ExtremeWithWord<kIsMax, T>(best, raw.y);
    best = ExtremeWithWord<kIsMax, T>(best, raw.z);
    best = ExtremeWithWord<kIsMax, T>(best, raw.w);
    best = ExtremeWord<kIsMax, T>(best, best << 16);
    constexpr uint32_t kMask = sizeof(T) == 1 ? 0xFF00'0000u : 0xFFFF'0000u;
    best = (best & kMask) | (kIsMax ? PlaceOfVector(vector) : vector);
    const Word word = static_cast<Word>(best);
    best_ = kIsMax ? max(best_, word) : min(best_, word);
  }
  __device__ PlacedKey<T> Placed() const {
    const uint32_t biased = static_cast<uint32_t>(best_) ^ kSign;
    return {kIsMax ? biased : ~biased};
  }

 private:
  using Word = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
  static constexpr uint32_t kSign = std::is_signed_v<T> ? 0x8000'0000u : 0;
  Word best_ = kIsMax ? std::numeric_limits<Word>::min() : std::numeric_limits<Word>::max();
};

template <class T, bool kIsMax, bool kIgnoresNan>
requires(IntegerElement<T> && sizeof(T) >= 4) class LaneExtreme<T, kIsMax, kIgnoresNan> {
 public:
  __device__ void Add(const uint4& raw, uint32_t vector) {
    const T best = BestOf<kIsMax>(BatchOf<T>(raw));
    const bool is_taken = kIsMax ? best >= best_ : best <= best_;
    best_ = is_taken ? best : best_;
    vector_ = is_taken ? vector : vector_;
  }
  __device__ PlacedKey<T> Placed() const {
    if (vector_ == kNoVector) return {};
    const auto rank = RankOf(best_);
    return {kIsMax ? rank : ~rank, PlaceOfVector(vector_)};
  }

 private:
  T best_ = kIsMax ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  uint32_t vector_ = kNoVector;
};

// The more extreme of each two 16-bit floating-point elements, a number before a NaN.
template <bool kIsMax, HalfElement T>
__device__ inline uint32_t ExtremeNumberHalves(uint32_t a, uint32_t b) {
  uint32_t extreme;
  if constexpr (std::is_same_v<T, Float16>) {
    if constexpr (kIsMax) {
      asm("max.f16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    } else {
      asm("min.f16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    }
  } else {
    if constexpr (kIsMax) {
      asm("max.bf16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    } else {
      asm("min.bf16x2 %0, %1, %2;" : "=r"(extreme) : "r"(a), "r"(b));
    }
  }
  return extreme;
}

// Two 16-bit floating-point elements, all zeros as one and all NaNs as one.
template <HalfElement T>
__device__ inline uint32_t CanonicalHalves(uint32_t word) {
  uint32_t sums;
  if constexpr (std::is_same_v<T, Float16>) {
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sums) : "r"(word), "r"(0));
  } else {
    asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(sums) : "r"(word), "r"(0));
  }
  return sums;
}

// The key of a floating-point element. All zeros have the same, and all NaNs the greatest.
template <bool kIsMax, class S>
__device__ inline auto FloatKey(S x) {
  using Key = decltype(RankOf(x));
  const Key key = kIsMax ? RankOf(x) : ~RankOf(x);
  return IsNan(x) ? ~Key{0} : key;
}

// Floats, and the smaller ones as floats.
template <FloatingElement T, bool kIsMax, bool kIgnoresNan>
requires(sizeof(T) <= 4) class LaneExtreme<T, kIsMax, kIgnoresNan> {
 public:
  __device__ void Add(const uint4& raw, uint32_t vector) {
    // All zeros are one when 0 is added.
    const float best = ToCompute(BestOfWords(raw)) + 0.0f;
    best_ = Extreme(best_, best);
    vector_ = __float_as_uint(best_) == __float_as_uint(best) ? vector : vector_;
  }
  __device__ PlacedKey<T> Placed() const {
    if (vector_ == kNoVector || (kIgnoresNan && IsNan(best_))) return {};
    return {FloatKey<kIsMax>(best_), PlaceOfVector(vector_)};
  }

 private:
  __device__ static float Extreme(float a, float b) {
    if constexpr (!kIgnoresNan) return ExtremeOrNan<kIsMax>(a, b);
    return kIsMax ? fmaxf(a, b) : fminf(a, b);
  }
  __device__ static uint32_t ExtremeOfWords(uint32_t a, uint32_t b) {
    if constexpr (sizeof(T) == 4) {
      return __float_as_uint(Extreme(__uint_as_float(a), __uint_as_float(b)));
    } else {
      return kIgnoresNan ? ExtremeNumberHalves<kIsMax, T>(a, b)
                         : ExtremeOrNanHalves<kIsMax, T>(a, b);
    }
  }
  __device__ static T BestOfWords(const uint4& raw) {
    const uint32_t best =
        ExtremeOfWords(ExtremeOfWords(raw.x, raw.y), ExtremeOfWords(raw.z, raw.w));
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<T>(best);
    else
      return std::bit_cast<T>(static_cast<uint16_t>(ExtremeOfWords(best, best << 16) >> 16));
  }

  float best_ = kIgnoresNan ? std::numeric_limits<float>::quiet_NaN()
                            : (kIsMax ? -1 : 1) * std::numeric_limits<float>::infinity();
  uint32_t vector_ = kNoVector;
};

template <bool kIsMax, bool kIgnoresNan>
class LaneExtreme<double, kIsMax, kIgnoresNan> {
 public:
  __device__ void Add(const uint4& raw, uint32_t vector) {
#pragma unroll
    for (const double x : BatchOf<double>(raw).values) {
      const bool is_taken = kIsMax ? x >= best_ : x <= best_;
      best_ = is_taken ? x : best_;
      vector_ = is_taken ? vector : vector_;
      if constexpr (!kIgnoresNan) nan_vector_ = IsNan(x) ? vector : nan_vector_;
    }
  }
  __device__ PlacedKey<double> Placed() const {
    if (nan_vector_ != kNoVector) return {~uint64_t{0}, PlaceOfVector(nan_vector_)};
    if (vector_ == kNoVector) return {};
    return {FloatKey<kIsMax>(best_), PlaceOfVector(vector_)};
  }

 private:
  double best_ = (kIsMax ? -1 : 1) * std::numeric_limits<double>::infinity();
  uint32_t vector_ = kNoVector;
  uint32_t nan_vector_ = kNoVector;
};

// The elements of vectors that have a key.
template <class T>
class KeyHolders {
 public:
  __device__ KeyHolders(const PlacedKey<T>& placed, bool is_max) {
    auto rank = is_max ? placed.key : ~placed.key;
    if constexpr (IntegerElement<T>) {
      constexpr auto kSign = std::is_signed_v<T> ? ~(~decltype(rank){0} >> 1) : 0;
      rank ^= kSign;
      if constexpr (sizeof(T) >= 4) {
        element_ = rank;
      } else {
        element_ = __byte_perm(rank, 0, sizeof(T) == 2 ? 0x3232 : 0x3333);
      }
    } else {
      is_nan_ = placed.key == ~decltype(rank){0};
      if constexpr (sizeof(T) == 8) {
        element_ = rank;
      } else {
        constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
        const float x = is_nan_ ? kNan : FromOrderedBits(rank);
        if constexpr (sizeof(T) == 4) {
          element_ = Canonical(__float_as_uint(x));
        } else {
          element_ = Canonical(uint32_t{T::FromFloat(x).bits} * 0x1'0001u);
        }
      }
    }
  }

  // A bit for each element.
  __device__ uint32_t Of(const uint4& vector) const {
    uint32_t found = 0;
    if constexpr (sizeof(T) == 8) {
      const auto batch = BatchOf<T>(vector);
#pragma unroll
      for (uint32_t k = 0; k < 2; ++k) {
        found |= Has(batch.values[k]) ? 1u << k : 0;
      }
    } else {
      const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        found |= Zeros(Canonical(words[k]) ^ element_) << (k * 4 / sizeof(T));
      }
    }
    return found;
  }

 private:
  __device__ bool Has(T x) const requires(sizeof(T) == 8) {
    if constexpr (IntegerElement<T>)
      return static_cast<uint64_t>(x) == element_;
    else
      return is_nan_ ? IsNan(x) : RankOf(x) == element_;
  }
  // The elements of a word, with one bit pattern for all zeros and one for all NaNs.
  __device__ static uint32_t Canonical(uint32_t word) {
    if constexpr (std::is_same_v<T, float>) {
      return __float_as_uint(__uint_as_float(word) + 0.0f);
    } else if constexpr (HalfElement<T>) {
      return CanonicalHalves<T>(word);
    } else {
      return word;
    }
  }
  // The elements of a word that are zero, a bit for each.
  __device__ static uint32_t Zeros(uint32_t word) {
    if constexpr (sizeof(T) == 4) return word == 0 ? 1 : 0;
    constexpr uint32_t kMagnitudes = sizeof(T) == 1 ? 0x7F7F'7F7Fu : 0x7FFF'7FFFu;
    const uint32_t signs = ~(((word & kMagnitudes) + kMagnitudes) | word | kMagnitudes);
    // Brings their signs together.
    if constexpr (sizeof(T) == 1) return (signs >> 7) * 0x1020'4080u >> 28;
    return (signs >> 15 | signs >> 30) & 3;
  }

  std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>
      element_;          // Of less than 32 bits, several.
  bool is_nan_ = false;  // Of 64 bits.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_EXTREME_KEYS_CUH_
