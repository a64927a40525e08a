// A thread keeps exact sums in shared memory as words, each of which counts in a unit of its own.
//
// A word is a float64 that is a multiple of its unit and so small that additions to it are exact.
// Elements of one class of exponents go to one word, whatever other elements there are: the cost of
// an element does not depend on the data. Every thread has words of its own, word i of all threads
// side by side, so that a warp's accesses never share a bank.
//
// Example, classes of 32 exponents, of a word each:
//
//   x = 3 * 2^-10, y = 2^70, z = -2^70
//   word[class of 2^-10] += x;  word[class of 2^70] += y;  word[class of 2^70] += z
//   the sum is 3 * 2^-10: one word has it, the other is 0 again
//
// Words of float64 elements, which several threads may share, are those of piece_words.cuh.
//
// A word takes WordAdditionsMax elements; then it is read as an integer, and integers are joined
// across threads (join.cuh).
//
// Functions that ordinary data seldom needs are not inlined: they are long, and called from loops
// whose registers are precious.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WORDS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cuda {

// The words of one thread. Indices are multiplied as integers: the compiler then knows that all of
// it is shared memory, which byte pointers would hide from it at half of the speed.
struct WordColumn {
  int64_t* first;
  uint32_t stride;

  __device__ int64_t& operator[](uint32_t i) const { return first[i * stride]; }
  __device__ WordColumn From(uint32_t i) const { return {first + i * stride, stride}; }

  __device__ void AddDouble(uint32_t i, double x) const {
    int64_t& word = (*this)[i];
    word = __double_as_longlong(__longlong_as_double(word) + x);
  }
};

// 2^exponent, of a normal number.
__device__ inline double PowerOfTwo(int exponent) {
  return __hiloint2double((exponent + 1023) << 20, 0);
}

__device__ inline Uint128 MagnitudeOfInteger(Int128 x) {
  return x < 0 ? Uint128{0} - static_cast<Uint128>(x) : static_cast<Uint128>(x);
}

// The number's leading 24 bits, the others 0.
__device__ inline double LeadingPiece(double x) {
  return __hiloint2double(__double2hiint(x), __double2loint(x) & static_cast<int>(0xE000'0000u));
}

// Sums of two 16-bit floating-point elements at a time, of a 32-bit load. As integers: a element's
// exponent field in that of a float64, without a new bias, makes a number that is 2^kScale as
// large, subnormal or not. That takes half of the instructions of converting, and units of which
// there are more. Infinities and NaN do not survive it.
template <class T>
struct PackedHalves {
  static constexpr bool kIsBfloat16 = std::is_same_v<T, Bfloat16>;
  static constexpr int kScale = kIsBfloat16 ? 127 - 1023 : 15 - 1023;
  // How far exponent and fraction of the upper element, which keeps its sign, are from their place
  // in the upper word of a float64.
  static constexpr int kShift = kIsBfloat16 ? 3 : 6;
  static constexpr int kMask = static_cast<int>(0x8000'0000u | 0x7FFFu << (16 - kShift));

  __device__ static double Lower(uint32_t pair) { return Upper(pair << 16); }
  __device__ static double Upper(uint32_t pair) {
    return __hiloint2double((static_cast<int>(pair) >> kShift) & kMask, 0);
  }
  // The classes of both elements (SingleWords::WordOf), in bits 12 to 15 of each half.
  __device__ static uint32_t Classes(uint32_t pair) {
    if constexpr (kIsBfloat16) {
      return ((pair & 0x7F80'7F80u) + 0x0800'0800u) & 0xF000'F000u;
    } else {
      return ((pair & 0x7C00'7C00u) + 0x0400'0400u) & 0x8000'8000u;
    }
  }
  // Whether elements of a class, as a half of Classes has it, may not be finite.
  __device__ static bool MayNotBeFinite(uint32_t halves) { return (halves & 0x8000u) != 0; }
};

// A float64 word that nothing was added to holds -0.0, addition's identity.
inline constexpr uint64_t kUntouchedDouble = uint64_t{1} << 63;

// A float64 word as an integer in units of 2^unit. What it says of infinities, NaN and negative
// zeros goes to `flags`.
__device__ inline int64_t IntegerOfDouble(int64_t bits, int unit, uint32_t& flags) {
  // Ordinary data touches few words.
  if (static_cast<uint64_t>(bits) == kUntouchedDouble) return 0;
  const double word = __longlong_as_double(bits);
  flags |= ExactSumFlagsOf(word);
  return IsFinite(word) ? __double2ll_rn(word * PowerOfTwo(-unit)) : 0;
}

// Sums of float32 and 16-bit floating-point elements. With w exponents in a class, p bits in an
// element and 2^k elements, p + w - 1 + k <= 53 keeps a word exact. Float16 fits in one class.
// Where words are those of classes kFirst to kLast, other classes are zeros and, in the last word,
// infinities and NaN.
template <class T, uint32_t kFirst = 0, uint32_t kLast = 0>
struct SingleWords {
  static constexpr int64_t kUntouched = static_cast<int64_t>(kUntouchedDouble);
  static constexpr uint32_t kCount = kFirst > 0 ? kFloat16SumWords : kSingleSumWords;
  static constexpr int kClassBits = std::is_same_v<T, float>      ? 4
                                    : std::is_same_v<T, Bfloat16> ? 5
                                                                  : 8;
  // Where classes begin: those of bfloat16 so that numbers around 1 are in the middle of one.
  // Infinities and NaN of float16 have a word of their own.
  static constexpr int kOffset = std::is_same_v<T, Bfloat16>  ? 16
                                 : std::is_same_v<T, Float16> ? 1
                                                              : 0;
  static constexpr int kPrecision = std::is_same_v<T, float>      ? 24
                                    : std::is_same_v<T, Bfloat16> ? 8
                                                                  : 11;
  static constexpr int kLowestExponent = std::is_same_v<T, Float16> ? -24 : 1 - 126 - kPrecision;
  static constexpr uint32_t kUsed = kFirst > 0 ? kLast - kFirst + 1
                                               : ((255 + kOffset) >> kClassBits) + 1;
  static_assert(kUsed <= kCount);

  __device__ static uint32_t WordOf(float x) { return WordOf((__float_as_uint(x) >> 23) & 0xFF); }
  __device__ static uint32_t WordOf(uint32_t biased) {
    const uint32_t word = (biased + kOffset) >> kClassBits;
    if constexpr (kFirst == 0) return word;
    return min(max(word, kFirst), kLast) - kFirst;
  }
  __device__ static int Unit(uint32_t i) {
    const int exponent = (static_cast<int>(kFirst + i) << kClassBits) - kOffset - 126 - kPrecision;
    return exponent > kLowestExponent ? exponent : kLowestExponent;
  }

  __device__ static void Reset(WordColumn words) {
#pragma unroll
    for (uint32_t i = 0; i < kUsed; ++i) words[i] = kUntouched;
  }

  __device__ static void Add(WordColumn words, float x) { words.AddDouble(WordOf(x), x); }

  // Adds a partial sum: any float64 that is a multiple of the smallest float. float words only.
  __device__ __noinline__ static void AddDouble(WordColumn words,
                                                double x) requires(std::is_same_v<T, float>) {
    constexpr int kBiasDifference = 1023 - 127;
    do {
      const double piece = LeadingPiece(x);
      const int biased = ((__double2hiint(x) >> 20) & 0x7FF) - kBiasDifference;
      // What is past the largest float by some additions still fits the last word.
      words.AddDouble(WordOf(static_cast<uint32_t>(min(max(biased, 0), 255))), piece);
      x -= piece;
    } while (x != 0);
  }

  // Word i, as one thread has it, as an integer.
  __device__ static int64_t Integer(uint32_t i, int64_t word, uint32_t& flags) {
    return IntegerOfDouble(word, Unit(i), flags);
  }

  // Adds the integer of word i, joined across threads.
  __device__ static void AddTo(ExactSum<float, 1>& sum, uint32_t i, Int128 integer) {
    sum.AddInteger(MagnitudeOfInteger(integer), Unit(i) - ExactSum<float, 1>::kLowestExponent,
                   integer < 0);
  }
};

// Partial sums of float16 elements: the words of float's that they touch, and one more for
// infinities and NaN.
using Float16PartialWords = SingleWords<float, 6, 10>;
static_assert((127 - 24) >> Float16PartialWords::kClassBits == 6);
static_assert((127 + 16 + 10) >> Float16PartialWords::kClassBits < 10);

// Words for sums of squares of floats and smaller elements: float64 holds such a square exactly, in
// 48 bits, of which a word takes 24 at a time.
template <class T>
struct SingleSquareWords {
  static constexpr bool kIsFloat16 = std::is_same_v<T, Float16>;
  static constexpr int64_t kUntouched = static_cast<int64_t>(kUntouchedDouble);
  static constexpr uint32_t kCount = kIsFloat16 ? kFloat16SquareWords : kSingleSquareWords;
  static constexpr uint32_t kUsed = kIsFloat16 ? 7 : kCount;
  using Sum = ExactSum<float, 2>;
  // The exponent of the first word: 2^-63 and 2^-303, below the smallest square. The last word has
  // infinities and NaN as well as the largest sums of kWindowAdditions squares.
  static constexpr int kFirstBiased = kIsFloat16 ? 960 : 720;
  static constexpr int kLastBiased = 1023 + (kIsFloat16 ? 32 + 10 : 256);
  static_assert(((kLastBiased - kFirstBiased) >> 4) < kUsed && kUsed <= kCount);

  __device__ static int Unit(uint32_t i) {
    const int exponent = kFirstBiased + static_cast<int>(i) * 16 - 1023 - 23;
    return exponent > Sum::kLowestExponent ? exponent : Sum::kLowestExponent;
  }

  __device__ static void Reset(WordColumn words) {
#pragma unroll 5
    for (uint32_t i = 0; i < kUsed; ++i) words[i] = kUntouched;
  }

  __device__ static uint32_t WordOf(double x) {
    const int biased = (__double2hiint(x) >> 20) & 0x7FF;
    const int word = (biased - kFirstBiased) >> 4;
    return static_cast<uint32_t>(min(max(word, 0), static_cast<int>(kUsed) - 1));
  }

  // Adds a square, or a sum of squares.
  __device__ __noinline__ static void AddDouble(WordColumn words, double x) {
    do {
      const bool is_finite = IsFinite(x);
      const double piece = is_finite ? LeadingPiece(x) : x;
      words.AddDouble(WordOf(x), piece);
      x = is_finite ? x - piece : 0;
    } while (x != 0);
  }

  // Adds the square of a finite element of kPrecision bits. Its pieces lie in different words, so
  // that an element is one addition for each of them.
  template <int kPrecision>
  __device__ static void AddSquare(WordColumn words, double x) {
    constexpr int kPieceBits = 24;
    static_assert(kPrecision <= kPieceBits);
    const double square = x * x;
    if constexpr (2 * kPrecision <= kPieceBits) {
      words.AddDouble(WordOf(square), square);
    } else {
      const double upper = LeadingPiece(square);
      const double lower = square - upper;
      words.AddDouble(WordOf(upper), upper);
      if (lower != 0) words.AddDouble(WordOf(lower), lower);
    }
  }

  __device__ static int64_t Integer(uint32_t i, int64_t word, uint32_t& flags) {
    return IntegerOfDouble(word, Unit(i), flags);
  }

  __device__ static void AddTo(Sum& sum, uint32_t i, Int128 integer) {
    sum.AddInteger(MagnitudeOfInteger(integer), Unit(i) - Sum::kLowestExponent, integer < 0);
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_WORDS_CUH_
