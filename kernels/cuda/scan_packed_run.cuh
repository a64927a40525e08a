// Runs of elements of 8 and 16 bits, by words of several elements.
//
// PackedRun<Operator, T, kItems> has, where kExists,
//   Total(words, total)                            the last running value
//   Scan<kExclusive>(words, base, wrap, results)   the results, `base` being what precedes the run
// of a run in which no group starts, in the order of memory. Both return whether that is the
// answer. It is not where a result does not fit, nor for some values of floating-point elements;
// then the run is to be scanned an element at a time.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_PACKED_RUN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_PACKED_RUN_CUH_

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/numerics/element.h"
#include "kernels/numerics/scan_operator.h"

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

  __device__ static bool Total(const uint32_t (&words)[kWords], Value& total) {
    uint32_t sums[2] = {};
#pragma unroll
    for (int w = 0; w < kWords; ++w) sums[w % 2] = AddItems(words[w], kPerWord, sums[w % 2]);
    const uint32_t sum = sums[0] + sums[1];
    total = std::is_signed_v<T> ? static_cast<Value>(static_cast<int32_t>(sum)) : Value{sum};
    return true;
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], Value base, bool wrap,
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

template <class T, int kItems, bool kIsMax>
struct PackedExtremes {
  static constexpr bool kExists = false;
};

// Extremes of bytes, two at a time: a byte is the upper one of a lane of 16 bits, where it decides
// alone, whatever is below.
template <class T, int kItems, bool kIsMax>
requires(IntegerElement<T> && sizeof(T) == 1) struct PackedExtremes<T, kItems, kIsMax> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<T, kItems>;
  using Operator = ExtremeScanOperator<T, kIsMax>;

  __device__ static bool Total(const uint32_t (&words)[kWords], T& total) {
    uint32_t odd = words[0];
    uint32_t even = words[0] << 8;
#pragma unroll
    for (int w = 1; w < kWords; ++w) {
      odd = Extremes(odd, words[w]);
      even = Extremes(even, words[w] << 8);
    }
    const uint32_t lanes = Extremes(odd, even);
    total = Operator::Combine(static_cast<T>(lanes >> 8), static_cast<T>(lanes >> 24));
    return true;
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], T base, bool,
                              uint32_t (&results)[kWords]) {
    const uint32_t base_byte = static_cast<uint8_t>(base);
    const uint32_t identity = uint32_t{static_cast<uint8_t>(Operator::Identity())} << 8;
    uint32_t running = base_byte * 0x0100'0100;  // In both lanes.
    uint32_t previous = base_byte << 24;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t odd = words[w];
      const uint32_t even = words[w] << 8;
      const uint32_t pairs = Extremes(even, odd);
      const uint32_t before_pairs = Extremes(running, __byte_perm(pairs, identity, 0x1054));
      const uint32_t after_even = Extremes(before_pairs, even);
      const uint32_t after_odd = Extremes(before_pairs, pairs);
      const uint32_t inclusive = __byte_perm(after_even, after_odd, 0x7351);
      running = __byte_perm(after_odd, 0, 0x3232);
      results[w] = kExclusive ? __funnelshift_l(previous, inclusive, 8) : inclusive;
      previous = inclusive;
    }
    return true;
  }

 private:
  __device__ static uint32_t Extremes(uint32_t a, uint32_t b) {
    if constexpr (std::is_signed_v<T>) {
      return kIsMax ? __vmaxs2(a, b) : __vmins2(a, b);
    } else {
      return kIsMax ? __vmaxu2(a, b) : __vminu2(a, b);
    }
  }
};

// Extremes of two halves at a time, which are NaN where one of the two is, and for which 0.0 is
// above -0.0.
template <HalfElement T, bool kIsMax>
__device__ uint32_t HalfExtremes(uint32_t a, uint32_t b) {
  using Pair = std::conditional_t<std::is_same_v<T, Float16>, __half2, __nv_bfloat162>;
  Pair pair_a;
  Pair pair_b;
  std::memcpy(&pair_a, &a, sizeof(a));
  std::memcpy(&pair_b, &b, sizeof(b));
  const Pair pair = kIsMax ? __hmax2_nan(pair_a, pair_b) : __hmin2_nan(pair_a, pair_b);
  uint32_t bits;
  std::memcpy(&bits, &pair, sizeof(bits));
  return bits;
}

template <HalfElement T, int kItems, bool kIsMax>
struct PackedExtremes<T, kItems, kIsMax> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<T, kItems>;
  using Operator = ExtremeScanOperator<T, kIsMax>;

  __device__ static bool Total(const uint32_t (&words)[kWords], float& total) {
    uint32_t lanes = words[0];
#pragma unroll
    for (int w = 1; w < kWords; ++w) lanes = HalfExtremes<T, kIsMax>(lanes, words[w]);
    lanes = HalfExtremes<T, kIsMax>(lanes, lanes >> 16 | lanes << 16);
    total = static_cast<float>(T{static_cast<uint16_t>(lanes)});
    // Not where there is a NaN, and of zeros the first would stay.
    return total < 0 || total > 0;
  }

  template <bool kExclusive>
  __device__ static bool Scan(const uint32_t (&words)[kWords], float base, bool,
                              uint32_t (&results)[kWords]) {
    constexpr uint32_t kInfinity = std::is_same_v<T, Float16> ? 0x7C00 : 0x7F80;
    constexpr uint32_t kIdentity = kIsMax ? kInfinity | 0x8000 : kInfinity;
    const uint32_t base_bits = T::FromFloat(base).bits;
    uint32_t running = base_bits * 0x0001'0001;  // In both lanes.
    uint32_t previous = running;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint32_t first = __byte_perm(words[w], kIdentity, 0x1054);  // In the upper lane.
      const uint32_t inclusive =
          HalfExtremes<T, kIsMax>(running, HalfExtremes<T, kIsMax>(first, words[w]));
      running = __byte_perm(inclusive, 0, 0x3232);
      results[w] = kExclusive ? __funnelshift_l(previous, inclusive, 16) : inclusive;
      previous = inclusive;
    }
    const float last = static_cast<float>(T{static_cast<uint16_t>(running)});
    // Running values go one way, and the zero that stays is the base or is not met.
    const bool base_is_past_zeros = (base_bits >> 15 != 0) != kIsMax;
    return base_is_past_zeros ? !IsNan(last) : kIsMax ? last < 0 : last > 0;
  }
};

// Sums of halves. Conversions are slow, so totals do without: an element's fields are put where
// those of a double are, which makes a number too small by a power of two, and the addition
// multiplies it by that. The product is exact, so it is rounded once. Those of float16 are joined
// in any order; see kAnyOrderInTile.
template <HalfElement T, int kItems>
struct PackedRun<ScanOperator<T, ScanOperation::kSum>, T, kItems> {
  static constexpr bool kExists = true;
  static constexpr int kWords = kRunWords<T, kItems>;

  __device__ static bool Total(const uint32_t (&words)[kWords], double& total) {
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
  __device__ static bool Scan(const uint32_t (&words)[kWords], double base, bool,
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

template <class T, int kItems>
struct PackedRun<ScanOperator<T, ScanOperation::kMax>, T, kItems>
    : PackedExtremes<T, kItems, true> {};
template <class T, int kItems>
struct PackedRun<ScanOperator<T, ScanOperation::kMin>, T, kItems>
    : PackedExtremes<T, kItems, false> {};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_PACKED_RUN_CUH_
