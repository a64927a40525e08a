// A packed run scans elements of 8 and 16 bits by words of several elements.
//
// PackedRun<Operator, T, kItems> has, where kExists,
//   Total(words, mirror_bits, total)
//                        the last running value
//   Scan<kExclusive>(words, base, wrap, mirror_bits, results)
//                        the results, `base` being what precedes the run
// of a run in which no group starts, in the order of memory. Both return whether that is the
// answer. It is not where a result does not fit, nor for some values of floating-point elements;
// then the run is to be scanned an element at a time.
//
// Example, sums of int8 in two lanes of 16 bits a word, a run 100 20 -3 7:
//
//   running sums 100 120 117 124, computed in 16 bits, where none can overflow
//   one test for all at the end: they fit 8 bits, so this is the answer
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_PACKED_RUN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_PACKED_RUN_CUH_

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

template <class T, int kItems>
inline constexpr int kRunWords = kItems* static_cast<int>(sizeof(T)) / 4;

template <class Operator, class T, int kItems>
struct PackedRun {
  static constexpr bool kExists = false;
};

// Sums of 8 and 16 bits. That of a run has less than 31 bits.
template <class T, int kItems>
requires(IntegerElement<T> &&
         sizeof(T) <= 2) struct PackedRun<ScanOperator<T, ScanOperation::kSum>, T, kItems> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<T, kItems>;
  using Value = int64_t;

  __device__ static bool Total(const uint32_t (&words)[kWords], uint64_t, Value& total) {
    uint32_t sums[2] = {};
#pragma unroll
    for (int w = 0; w < kWords; ++w) sums[w % 2] = AddItems(words[w], kPerWord, sums[w % 2]);
    const uint32_t sum = sums[0] + sums[1];
    total = std::is_signed_v<T> ? static_cast<Value>(static_cast<int32_t>(sum)) : Value{sum};
    return true;
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], Value base, bool wrap, uint64_t,
                              uint32_t (&results)[kWords]) {
    // Added, it leaves results that fit without bits above T's.
    constexpr uint32_t kBias = std::is_signed_v<T> ? 1u << (kBits - 1) : 0;
    uint32_t running = static_cast<uint32_t>(base) + kBias;
    uint32_t seen = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      uint32_t values[kPerWord + 1];  // Before each of the word's elements, and after the last.
      values[0] = running;
#pragma unroll
      for (int i = 1; i <= kPerWord; ++i) values[i] = AddItems(words[w], i, running);
      running = values[kPerWord];
      const uint32_t* const wanted = values + (kExclusive ? 0 : 1);
#pragma unroll
      for (int i = 0; i < kPerWord; ++i) seen |= wanted[i];
      results[w] = Pack(wanted) ^ kBiasOfAll * kBias;
    }
    // Whatever 32 bits hold stays out of T's range for as long as a run.
    return wrap || (seen >> kBits == 0 && base == static_cast<int32_t>(base));
  }

 private:
  static constexpr int kBits = 8 * sizeof(T);
  static constexpr int kPerWord = 4 / sizeof(T);
  static constexpr uint32_t kBiasOfAll = sizeof(T) == 1 ? 0x0101'0101 : 0x0001'0001;

  // sum + the first `count` elements of the word.
  __device__ static uint32_t AddItems(uint32_t word, int count, uint32_t sum) {
    if constexpr (sizeof(T) == 1) {
      const uint32_t ones = kBiasOfAll >> (32 - kBits * count);
      if constexpr (std::is_signed_v<T>) {
        return static_cast<uint32_t>(
            __dp4a(static_cast<int>(word), static_cast<int>(ones), static_cast<int>(sum)));
      } else {
        return __dp4a(word, ones, sum);
      }
    } else {
      const uint32_t first = sum + static_cast<uint32_t>(int32_t{static_cast<T>(word)});
      const uint32_t second = static_cast<uint32_t>(int32_t{static_cast<T>(word >> kBits)});
      return count == 1 ? first : first + second;
    }
  }
  __device__ static uint32_t Pack(const uint32_t* values) {
    if constexpr (sizeof(T) == 1) {
      return __byte_perm(__byte_perm(values[0], values[1], 0x0040),
                         __byte_perm(values[2], values[3], 0x0040), 0x5410);
    } else {
      return __byte_perm(values[0], values[1], 0x5410);
    }
  }
};

// Calls visit(extremes), where extremes(a, b) joins two lanes of 16 bits at a time, as they are:
// what is the maximum of mirrored elements, without flipping them, which costs scans of bytes 3 %.
template <IntegerElement T, class Visit>
__device__ decltype(auto) VisitExtremes(uint64_t mirror_bits, Visit&& visit) {
  constexpr int kSign = 8 * sizeof(T) - 1;
  const bool is_min = (mirror_bits & 1) != 0;
  const bool is_unsigned = (mirror_bits >> kSign & 1) != is_min;
  if (is_unsigned) {
    return is_min ? visit([](uint32_t a, uint32_t b) { return __vminu2(a, b); })
                  : visit([](uint32_t a, uint32_t b) { return __vmaxu2(a, b); });
  }
  return is_min ? visit([](uint32_t a, uint32_t b) { return __vmins2(a, b); })
                : visit([](uint32_t a, uint32_t b) { return __vmaxs2(a, b); });
}

// The bits of what stands for an element, or of the element that it stands for.
template <IntegerElement T>
__device__ uint32_t MirroredBits(T value, uint64_t mirror_bits) {
  return static_cast<std::make_unsigned_t<T>>(
      Mirrored<ScanOperator<T, ScanOperation::kMax>>(value, mirror_bits));
}

// Extremes of bytes: a byte is the upper one of a lane of 16 bits, where it decides alone, whatever
// is below.
template <int kItems>
struct PackedRun<ScanOperator<int8_t, ScanOperation::kMax>, int8_t, kItems> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<int8_t, kItems>;
  using Operator = ScanOperator<int8_t, ScanOperation::kMax>;

  __device__ static bool Total(const uint32_t (&words)[kWords], uint64_t mirror_bits,
                               int8_t& total) {
    const uint32_t lanes = VisitExtremes<int8_t>(mirror_bits, [&](auto extremes) {
      uint32_t odd = words[0];
      uint32_t even = words[0] << 8;
#pragma unroll
      for (int w = 1; w < kWords; ++w) {
        odd = extremes(odd, words[w]);
        even = extremes(even, words[w] << 8);
      }
      return extremes(odd, even);
    });
    total = Operator::Combine(Mirrored<Operator>(static_cast<int8_t>(lanes >> 8), mirror_bits),
                              Mirrored<Operator>(static_cast<int8_t>(lanes >> 24), mirror_bits));
    return true;
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], int8_t base, bool,
                              uint64_t mirror_bits, uint32_t (&results)[kWords]) {
    const uint32_t base_byte = MirroredBits(base, mirror_bits);
    const uint32_t identity = MirroredBits(Operator::Identity(), mirror_bits) << 8;
    VisitExtremes<int8_t>(mirror_bits, [&](auto extremes) {
      uint32_t running = base_byte * 0x0100'0100;  // In both lanes.
      uint32_t previous = base_byte << 24;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const uint32_t odd = words[w];
        const uint32_t even = words[w] << 8;
        const uint32_t pairs = extremes(even, odd);
        const uint32_t before_pairs = extremes(running, __byte_perm(pairs, identity, 0x1054));
        const uint32_t after_even = extremes(before_pairs, even);
        const uint32_t after_odd = extremes(before_pairs, pairs);
        const uint32_t inclusive = __byte_perm(after_even, after_odd, 0x7351);
        running = __byte_perm(after_odd, 0, 0x3232);
        results[w] = kExclusive ? __funnelshift_l(previous, inclusive, 8) : inclusive;
        previous = inclusive;
      }
    });
    return true;
  }
};

// Extremes of elements of 16 bits: the last running value, in both lanes,
template <int kWords, class Extremes>
__device__ uint32_t TotalOfPairs(const uint32_t (&words)[kWords], Extremes&& extremes) {
  uint32_t lanes = words[0];
#pragma unroll
  for (int w = 1; w < kWords; ++w) lanes = extremes(lanes, words[w]);
  return extremes(lanes, lanes >> 16 | lanes << 16);
}
// and the results; returns the last running value.
template <bool kExclusive, int kWords, class Extremes>
__device__ uint32_t ScanPairs(const uint32_t (&words)[kWords], uint32_t base, uint32_t identity,
                              Extremes&& extremes, uint32_t (&results)[kWords]) {
  uint32_t running = base * 0x0001'0001;  // In both lanes.
  uint32_t previous = running;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const uint32_t first = __byte_perm(words[w], identity, 0x1054);  // In the upper lane.
    const uint32_t inclusive = extremes(running, extremes(first, words[w]));
    running = __byte_perm(inclusive, 0, 0x3232);
    results[w] = kExclusive ? __funnelshift_l(previous, inclusive, 16) : inclusive;
    previous = inclusive;
  }
  return running;
}

template <int kItems>
struct PackedRun<ScanOperator<int16_t, ScanOperation::kMax>, int16_t, kItems> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<int16_t, kItems>;
  using Operator = ScanOperator<int16_t, ScanOperation::kMax>;

  __device__ static bool Total(const uint32_t (&words)[kWords], uint64_t mirror_bits,
                               int16_t& total) {
    const uint32_t lanes = VisitExtremes<int16_t>(
        mirror_bits, [&](auto extremes) { return TotalOfPairs(words, extremes); });
    total = Mirrored<Operator>(static_cast<int16_t>(lanes), mirror_bits);
    return true;
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], int16_t base, bool,
                              uint64_t mirror_bits, uint32_t (&results)[kWords]) {
    VisitExtremes<int16_t>(mirror_bits, [&](auto extremes) {
      ScanPairs<kExclusive>(words, MirroredBits(base, mirror_bits),
                            MirroredBits(Operator::Identity(), mirror_bits), extremes, results);
    });
    return true;
  }
};

// Maxima of halves are NaN where one of the two is, and for them 0.0 is above -0.0.
template <HalfElement T>
__device__ uint32_t HalfMaxima(uint32_t a, uint32_t b) {
  using Pair = std::conditional_t<std::is_same_v<T, Float16>, __half2, __nv_bfloat162>;
  Pair pair_a;
  Pair pair_b;
  std::memcpy(&pair_a, &a, sizeof(a));
  std::memcpy(&pair_b, &b, sizeof(b));
  const Pair pair = __hmax2_nan(pair_a, pair_b);
  uint32_t bits;
  std::memcpy(&bits, &pair, sizeof(bits));
  return bits;
}

template <HalfElement T, int kItems>
struct PackedRun<ScanOperator<T, ScanOperation::kMax>, T, kItems> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<T, kItems>;

  __device__ static bool Total(const uint32_t (&words)[kWords], uint64_t mirror_bits,
                               float& total) {
    uint32_t mirrored[kWords];
    MirrorHalves(words, mirror_bits, mirrored);
    const uint32_t lanes = TotalOfPairs(mirrored, HalfMaxima<T>);
    total = static_cast<float>(T{static_cast<uint16_t>(lanes)});
    // Not where there is a NaN, and of zeros the first would stay.
    return total < 0 || total > 0;
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], float base, bool,
                              uint64_t mirror_bits, uint32_t (&results)[kWords]) {
    constexpr uint32_t kLowest = std::is_same_v<T, Float16> ? 0xFC00 : 0xFF80;
    const uint32_t base_bits = T::FromFloat(base).bits;
    uint32_t mirrored[kWords];
    MirrorHalves(words, mirror_bits, mirrored);
    const uint32_t running =
        ScanPairs<kExclusive>(mirrored, base_bits, kLowest, HalfMaxima<T>, results);
    MirrorHalves(results, mirror_bits, results);
    const float last = static_cast<float>(T{static_cast<uint16_t>(running)});
    // Running values rise, and the zero that stays is the base or is not met.
    const bool base_is_past_zeros = base_bits >> 15 == 0;
    return base_is_past_zeros ? !IsNan(last) : last < 0;
  }

 private:
  __device__ static void MirrorHalves(const uint32_t (&words)[kWords], uint64_t mirror_bits,
                                      uint32_t (&mirrored)[kWords]) {
    const uint32_t flipped = static_cast<uint32_t>(mirror_bits) & 0x8000'8000;
#pragma unroll
    for (int w = 0; w < kWords; ++w) mirrored[w] = words[w] ^ flipped;
  }
};

// Maxima of halves where there is no NaN: neither among the elements nor before the first number.
template <HalfElement T, int kItems>
struct PackedRun<ScanOperator<T, ScanOperation::kMaxOfNumbers>, T, kItems>
    : PackedRun<ScanOperator<T, ScanOperation::kMax>, T, kItems> {};

// Sums of halves. Conversions are slow, so totals do without: an element's fields are put where
// those of a double are, which makes a number too small by a power of two, and the addition
// multiplies it by that. The product is exact, so it is rounded once. Those of float16 are joined
// in any order; see kAnyOrderInTile.
template <HalfElement T, int kItems>
struct PackedRun<ScanOperator<T, ScanOperation::kSum>, T, kItems> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<T, kItems>;

  __device__ static bool Total(const uint32_t (&words)[kWords], uint64_t, double& total) {
    double totals[2] = {-0.0, -0.0};
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      totals[0] = AddElement(words[w] << 16, totals[0]);
      double& second = totals[kIsFloat16 ? 1 : 0];
      second = AddElement(words[w], second);
    }
    total = kIsFloat16 ? totals[0] + totals[1] : totals[0];
    return IsFinite(words);
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], double base, bool, uint64_t,
                              uint32_t (&results)[kWords]) {
    double running = kIsFloat16 ? base : -0.0;
    double result = base;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      results[w] = 0;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const double before = running;
        running += static_cast<double>(T{static_cast<uint16_t>(words[w] >> 16 * i)});
        result = kExclusive ? before : running;
        if (!kIsFloat16) result = base + result;
        results[w] |= uint32_t{T::FromNumber(result).bits} << 16 * i;
      }
    }
    return !IsNan(result);  // What is NaN once remains so.
  }

 private:
  static constexpr bool kIsFloat16 = std::is_same_v<T, Float16>;
  static constexpr int kMantissaBits = kIsFloat16 ? 10 : 7;

  // sum + the element in the upper half of the word.
  __device__ static double AddElement(uint32_t word, double sum) {
    constexpr int kDown = 16 + kMantissaBits - 20;
    constexpr uint32_t kFields = 0x8000'0000u | 0x7FFF'0000u >> kDown;
    constexpr double kScale = kIsFloat16 ? 0x1p1008 : 0x1p896;
    const uint32_t upper = static_cast<uint32_t>(static_cast<int32_t>(word) >> kDown) & kFields;
    return fma(std::bit_cast<double>(uint64_t{upper} << 32), kScale, sum);
  }

  // A product with 0 is a zero of numbers only.
  __device__ static bool IsFinite(const uint32_t (&words)[kWords]) {
    using Pair = std::conditional_t<kIsFloat16, __half2, __nv_bfloat162>;
    uint32_t zeros = 0;
    Pair zero;
    std::memcpy(&zero, &zeros, sizeof(zero));
    Pair sum = zero;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      Pair pair;
      std::memcpy(&pair, &words[w], sizeof(pair));
      sum = __hfma2(pair, zero, sum);
    }
    std::memcpy(&zeros, &sum, sizeof(zeros));
    return (zeros & 0x7FFF'7FFF) == 0;
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_PACKED_RUN_CUH_
