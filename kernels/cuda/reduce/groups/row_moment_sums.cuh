// Lanes keep sums of rows of unsigned integers, and lanes of a row are joined here. Signed elements
// are taken as unsigned ones, by flipping their first bit: all of them become greater by the same,
// which a sum is told of in the end and a variance need not know.
//
// Example, int8, variance of -1 and 3:
//
//   with the first bit flipped: 127 and 131, both greater by 128; sum 258, squares 33290
//   2 * 33290 - 258^2 = 16 = 2 * (1 + 9) - 2^2: the variance does not notice
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENT_SUMS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENT_SUMS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/integer_products.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/groups/row_moment_lanes.cuh"
#include "kernels/numerics/arithmetic/rounded_divisor.h"
#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cuda {

__device__ inline uint64_t FromLane(const Warp& warp, uint64_t x, uint32_t distance) {
  return uint64_t{warp.shfl_xor(static_cast<uint32_t>(x >> 32), distance)} << 32 |
         warp.shfl_xor(static_cast<uint32_t>(x), distance);
}

// Adds what the lane `distance` away has.
__device__ inline void AddLane(const Warp& warp, uint32_t distance, Uint96& sum) {
  uint32_t other[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) other[i] = warp.shfl_xor(sum.words[i], distance);
  asm("add.cc.u32 %0, %0, %3; addc.cc.u32 %1, %1, %4; addc.u32 %2, %2, %5;"
      : "+r"(sum.words[0]), "+r"(sum.words[1]), "+r"(sum.words[2])
      : "r"(other[0]), "r"(other[1]), "r"(other[2]));
}

// An integer of 160 bits, little end first.
struct Uint160 {
  uint32_t words[5];

  // lower + products * 2^33 + upper * 2^64.
  __device__ static Uint160 Of(const Uint96& lower, const Uint96& products, const Uint96& upper) {
    const uint32_t(&p)[3] = products.words;
    const uint32_t doubled[4] = {p[0] << 1, __funnelshift_l(p[0], p[1], 1),
                                 __funnelshift_l(p[1], p[2], 1), p[2] >> 31};
    Uint160 sum = {
        {lower.words[0], lower.words[1], upper.words[0], upper.words[1], upper.words[2]}};
    asm("add.cc.u32 %0, %0, %4; addc.cc.u32 %1, %1, %5; addc.cc.u32 %2, %2, %6; "
        "addc.u32 %3, %3, %7;"
        : "+r"(sum.words[1]), "+r"(sum.words[2]), "+r"(sum.words[3]), "+r"(sum.words[4])
        : "r"(doubled[0]), "r"(doubled[1]), "r"(doubled[2]), "r"(doubled[3]));
    asm("add.cc.u32 %0, %0, %3; addc.cc.u32 %1, %1, 0; addc.u32 %2, %2, 0;"
        : "+r"(sum.words[2]), "+r"(sum.words[3]), "+r"(sum.words[4])
        : "r"(lower.words[2]));
    return sum;
  }
  __device__ void AddLane(const Warp& warp, uint32_t distance) {
    uint32_t other[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) other[i] = warp.shfl_xor(words[i], distance);
    asm("add.cc.u32 %0, %0, %5; addc.cc.u32 %1, %1, %6; addc.cc.u32 %2, %2, %7; "
        "addc.cc.u32 %3, %3, %8; addc.u32 %4, %4, %9;"
        : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3]), "+r"(words[4])
        : "r"(other[0]), "r"(other[1]), "r"(other[2]), "r"(other[3]), "r"(other[4]));
  }
};

// The upper halves of two words of elements of up to 16 bits: of the greatest, inverted, and of the
// least.
template <class U>
__device__ inline uint32_t LeastAndGreatestHalf(uint32_t least, uint32_t greatest) {
  least = ExtremeWord<false, U>(least, least << 16);
  greatest = ExtremeWord<true, U>(greatest, greatest << 16);
  return __byte_perm(least, ~greatest, 0x7632);
}

// Extremes of elements of up to 16 bits.
template <class U>
struct HalfExtremes {
  uint32_t least = ~uint32_t{0};
  uint32_t greatest = 0;

  __device__ void Add(const uint4& raw) {
    for (const uint32_t word : {raw.x, raw.y, raw.z, raw.w}) {
      least = ExtremeWithWord<false, U>(least, word);
      greatest = ExtremeWithWord<true, U>(greatest, word);
    }
  }
  // The least in the lower half, and the greatest, inverted.
  __device__ uint32_t Joined() const { return LeastAndGreatestHalf<U>(least, greatest); }
};

template <>
struct RowTotals<uint8_t> {
  uint32_t sum;
  uint32_t squares;
  uint32_t extremes;

  __device__ void JoinLanes(const Warp& warp, uint32_t width, uint32_t /*row_size*/) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      sum += warp.shfl_xor(sum, distance);
      squares += warp.shfl_xor(squares, distance);
      extremes = __vminu2(extremes, warp.shfl_xor(extremes, distance));
    }
  }
  __device__ Uint128 Sum() const { return sum; }
  __device__ Uint192 Squares() const { return {{squares, 0, 0}}; }
  __device__ uint32_t Least() const { return extremes >> 8 & 0xFF; }
  __device__ uint32_t Greatest() const { return ~extremes >> 24; }
  __device__ double Variance(uint32_t size, const RoundedDivisor& divisor) const {
    const uint64_t deviations = uint64_t{squares} * size - uint64_t{sum} * sum;
    return divisor.QuotientOfDouble(static_cast<double>(deviations));
  }
};

template <>
struct RowMoments<uint8_t> {
  static constexpr bool kSurveys = false;

  uint32_t sum = 0;
  uint32_t squares = 0;
  HalfExtremes<uint8_t> extremes;

  __device__ void AddSums(const uint4& raw) {
    for (const uint32_t word : {raw.x, raw.y, raw.z, raw.w}) {
      sum = __dp4a(word, 0x0101'0101u, sum);
      squares = __dp4a(word, word, squares);
    }
  }
  __device__ void AddExtremes(const uint4& raw) { extremes.Add(raw); }
  __device__ void Close() {}
  __device__ RowTotals<uint8_t> Totals() const { return {sum, squares, extremes.Joined()}; }
};

template <>
struct RowTotals<uint16_t> {
  uint32_t sum;
  uint32_t extremes;
  uint64_t squares;

  __device__ void JoinLanes(const Warp& warp, uint32_t width, uint32_t /*row_size*/) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      sum += warp.shfl_xor(sum, distance);
      squares += FromLane(warp, squares, distance);
      extremes = __vminu2(extremes, warp.shfl_xor(extremes, distance));
    }
  }
  __device__ Uint128 Sum() const { return sum; }
  __device__ Uint192 Squares() const { return {{squares, 0, 0}}; }
  __device__ uint32_t Least() const { return extremes & 0xFFFF; }
  __device__ uint32_t Greatest() const { return ~extremes >> 16; }
  __device__ double Variance(uint32_t size, const RoundedDivisor& divisor) const {
    const uint64_t deviations = squares * size - uint64_t{sum} * sum;
    constexpr uint64_t kDoublesMax = uint64_t{1} << 53;
    return deviations <= kDoublesMax ? divisor.QuotientOfDouble(static_cast<double>(deviations))
                                     : divisor.Quotient(Uint128{deviations});
  }
};

template <>
struct RowMoments<uint16_t> {
  static constexpr bool kSurveys = false;

  uint32_t sum = 0;
  uint32_t by_lower = 0;  // Sums of products with elements' lower bytes, and with upper ones.
  uint32_t by_upper = 0;
  uint64_t squares = 0;
  HalfExtremes<uint16_t> extremes;

  __device__ void AddSums(const uint4& raw) {
    for (const uint32_t word : {raw.x, raw.y, raw.z, raw.w}) {
      const uint32_t bytes = __byte_perm(word, 0, 0x3120);  // Lower ones, then upper ones.
      sum = AddLowerDot<uint16_t>(word, 0x0101u, sum);
      by_lower = AddLowerDot<uint16_t>(word, bytes, by_lower);
      by_upper = AddUpperDot<uint16_t>(word, bytes, by_upper);
    }
  }
  __device__ void AddExtremes(const uint4& raw) { extremes.Add(raw); }
  __device__ void Close() {
    squares += uint64_t{by_upper} * 256 + by_lower;
    by_lower = 0;
    by_upper = 0;
  }
  __device__ RowTotals<uint16_t> Totals() const { return {sum, extremes.Joined(), squares}; }
};

template <>
struct RowTotals<uint32_t> {
  uint64_t sum;
  Uint96 squares;
  uint32_t least;
  uint32_t greatest;

  __device__ void JoinLanes(const Warp& warp, uint32_t width, uint32_t /*row_size*/) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      sum += FromLane(warp, sum, distance);
      AddLane(warp, distance, squares);
      least = min(least, warp.shfl_xor(least, distance));
      greatest = max(greatest, warp.shfl_xor(greatest, distance));
    }
  }
  __device__ Uint128 Sum() const { return sum; }
  __device__ Uint192 Squares() const {
    return {{uint64_t{squares.words[1]} << 32 | squares.words[0], squares.words[2], 0}};
  }
  __device__ uint32_t Least() const { return least; }
  __device__ uint32_t Greatest() const { return greatest; }
  __device__ double Variance(uint32_t size, const RoundedDivisor& divisor) const {
    return divisor.Quotient(squares.Value() * size - Uint128{sum} * sum);
  }
};

template <>
struct RowMoments<uint32_t> {
  static constexpr bool kSurveys = false;

  uint64_t sum = 0;
  Uint96 squares;
  uint32_t least = ~uint32_t{0};
  uint32_t greatest = 0;

  __device__ void AddSums(const uint4& raw) {
    for (const uint32_t x : {raw.x, raw.y, raw.z, raw.w}) {
      sum += x;
      squares.AddProduct(x, x);
    }
  }
  __device__ void AddExtremes(const uint4& raw) {
    for (const uint32_t x : {raw.x, raw.y, raw.z, raw.w}) {
      least = min(least, x);
      greatest = max(greatest, x);
    }
  }
  __device__ void Close() {}
  __device__ RowTotals<uint32_t> Totals() const { return {sum, squares, least, greatest}; }
};

template <>
struct RowTotals<uint64_t> {
  Uint96 sum;
  Uint160 squares;
  uint64_t least;
  uint64_t greatest;

  __device__ void JoinLanes(const Warp& warp, uint32_t width, uint32_t /*row_size*/) {
#pragma unroll 1
    for (uint32_t distance = width / 2; distance > 0; distance /= 2) {
      AddLane(warp, distance, sum);
      squares.AddLane(warp, distance);
      least = min(least, FromLane(warp, least, distance));
      greatest = max(greatest, FromLane(warp, greatest, distance));
    }
  }
  __device__ Uint128 Sum() const { return sum.Value(); }
  __device__ Uint192 Squares() const {
    const uint32_t(&words)[5] = squares.words;
    return {{uint64_t{words[1]} << 32 | words[0], uint64_t{words[3]} << 32 | words[2], words[4]}};
  }
  __device__ uint64_t Least() const { return least; }
  __device__ uint64_t Greatest() const { return greatest; }
  __device__ double Variance(uint32_t size, const RoundedDivisor& divisor) const {
    // size * (sum of squares) - sum^2, below 2^160: a word at a time, and by halves of the sum.
    uint32_t minuend[6];
    uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      carry += uint64_t{squares.words[i]} * size;
      minuend[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    const uint64_t low = uint64_t{sum.words[1]} << 32 | sum.words[0];
    const uint64_t high = sum.words[2];
    const Uint128 low_square = Uint128{low} * low;
    const Uint128 middle = Uint128{low} * (2 * high) + static_cast<uint64_t>(low_square >> 64);
    const Uint128 lower = middle << 64 | static_cast<uint64_t>(low_square);
    const Uint128 from = Uint128{uint64_t{minuend[3]} << 32 | minuend[2]} << 64 |
                         (uint64_t{minuend[1]} << 32 | minuend[0]);
    const Uint128 rest = from - lower;
    const uint64_t upper =
        minuend[4] - high * high - static_cast<uint64_t>(middle >> 64) - (from < lower ? 1 : 0);
    return divisor.Quotient(
        Uint192{{static_cast<uint64_t>(rest), static_cast<uint64_t>(rest >> 64), upper}});
  }
};

template <>
struct RowMoments<uint64_t> {
  static constexpr bool kSurveys = false;

  Uint96 sum;
  Uint96 lower_squares;
  Uint96 products;
  Uint96 upper_squares;
  uint64_t least = ~uint64_t{0};
  uint64_t greatest = 0;

  __device__ void AddSums(const uint4& raw) {
    AddElement(raw.x, raw.y);
    AddElement(raw.z, raw.w);
  }
  __device__ void AddExtremes(const uint4& raw) {
    for (const uint64_t x : BatchOf<uint64_t>(raw).values) {
      least = min(least, x);
      greatest = max(greatest, x);
    }
  }
  __device__ void Close() {}
  __device__ RowTotals<uint64_t> Totals() const {
    return {sum, Uint160::Of(lower_squares, products, upper_squares), least, greatest};
  }

 private:
  __device__ void AddElement(uint32_t lower, uint32_t upper) {
    sum.Add(lower, upper);
    lower_squares.AddProduct(lower, lower);
    products.AddProduct(lower, upper);
    upper_squares.AddProduct(upper, upper);
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_MOMENT_SUMS_CUH_
