// A thread makes several statistics of the integers of a turn (turns.cuh) in few instructions an
// element: sums are kept in registers that are just wide enough for a turn, extremes as the 32-bit
// words that were loaded have them, and both are brought into the thread's states once a turn.
//
// Example, int8, a 32-bit word of four elements 3 -1 7 2:
//
//   dot product with 1 1 1 1:    sum += 11
//   dot product with itself:     squares += 63
//   minimum of each byte with that of earlier words: four minima, joined at the turn's end
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_INTEGER_TURNS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_INTEGER_TURNS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/extreme_turns.cuh"
#include "kernels/cuda/reduce/core/integer_products.cuh"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// What the elements of a turn come to, of which a thread has kWordsMax words of 32 bits at most:
// Add takes a word, or an element of 64 bits, at once or in two parts.
template <class T>
class IntegerTurnSums;

// Calls f for each word of a vector, or element of 64 bits.
template <class T, class F>
__device__ inline void ForEachWord(const uint4& raw, F f) {
  if constexpr (sizeof(T) == 8) {
    for (const T x : BatchOf<T>(raw).values) f(x);
  } else {
    for (const uint32_t word : {raw.x, raw.y, raw.z, raw.w}) f(word);
  }
}

// The sign bit of a signed element's upper word.
template <class T>
inline constexpr uint32_t kSign = std::is_signed_v<T> ? 0x8000'0000u : 0;

// Bytes: four at a time.
template <IntegerElement T>
requires(sizeof(T) == 1) class IntegerTurnSums<T> {
 public:
  static constexpr uint32_t kWordsMax = 1024;
  __device__ void Add(uint32_t word) {
    AddPowers(word);
    AddNonzero(word);
  }
  __device__ void AddPowers(uint32_t word) {
    const Part bytes = static_cast<Part>(word);
    sum_ = __dp4a(bytes, static_cast<Part>(kOnes), sum_);
    squares_ = __dp4a(bytes, bytes, squares_);
  }
  __device__ void AddNonzero(uint32_t word) {
    // The upper bit of each byte that is not 0.
    constexpr uint32_t kLower = 0x7F7F'7F7Fu;
    const uint32_t nonzero = (((word & kLower) + kLower) | word) & ~kLower;
    nonzero_128_ = __dp4a(nonzero, kOnes, nonzero_128_);
  }
  __device__ Int128 Sum() const { return sum_; }
  __device__ Uint128 Squares() const { return static_cast<uint32_t>(squares_); }
  __device__ uint32_t Nonzero() const { return nonzero_128_ / 128; }

 private:
  using Part = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
  static constexpr uint32_t kOnes = 0x0101'0101u;
  static_assert(uint64_t{kWordsMax} * 4 * 255 * 255 < uint64_t{1} << 32);
  static_assert(uint64_t{kWordsMax} * 4 * 128 * 128 < uint64_t{1} << 31);

  Part sum_ = 0;
  Part squares_ = 0;
  uint32_t nonzero_128_ = 0;  // 128 times their number.
};

// 16 bits: two at a time. x * x = 256 * x * (upper byte of x) + x * (lower byte of x).
template <IntegerElement T>
requires(sizeof(T) == 2) class IntegerTurnSums<T> {
 public:
  static constexpr uint32_t kWordsMax = 128;
  __device__ void Add(uint32_t word) {
    AddPowers(word);
    AddNonzero(word);
  }
  __device__ void AddPowers(uint32_t word) {
    constexpr uint32_t kOnes = 0x0101;
    const uint32_t bytes = __byte_perm(word, 0, 0x3120);  // Lower ones, then upper ones.
    sum_ = AddLowerDot<T>(word, kOnes, sum_);
    by_lower_ = AddLowerDot<T>(word, bytes, by_lower_);
    by_upper_ = AddUpperDot<T>(word, bytes, by_upper_);
  }
  __device__ void AddNonzero(uint32_t word) { nonzero_halves_ += __vminu2(word, 0x0001'0001u); }
  __device__ Int128 Sum() const { return sum_; }
  __device__ Uint128 Squares() const {
    return static_cast<uint64_t>(int64_t{by_upper_} * 256 + by_lower_);
  }
  __device__ uint32_t Nonzero() const {
    return (nonzero_halves_ & 0xFFFF) + (nonzero_halves_ >> 16);
  }

 private:
  using Part = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
  static_assert(uint64_t{kWordsMax} * 2 * 65535 * 255 < uint64_t{1} << 32);
  static_assert(uint64_t{kWordsMax} * 2 * 32768 * 255 < uint64_t{1} << 31);

  Part sum_ = 0;
  Part by_lower_ = 0;
  Part by_upper_ = 0;
  uint32_t nonzero_halves_ = 0;
};

// 32 bits. Signed elements x as u = x + 2^31: x * x = u * u - 2^32 u + 2^62.
template <IntegerElement T>
requires(sizeof(T) == 4) class IntegerTurnSums<T> {
 public:
  static constexpr uint32_t kWordsMax = 1024;
  __device__ void Add(uint32_t word) {
    AddPowers(word);
    AddNonzero(word);
  }
  __device__ void AddPowers(uint32_t word) {
    const uint32_t u = word ^ kSign<T>;
    sum_ += u;
    squares_.AddProduct(u, u);
    count_ += 1;
  }
  __device__ void AddNonzero(uint32_t word) { nonzero_ += IsNotZero(word); }
  __device__ Int128 Sum() const {
    const Int128 sum = sum_;
    return std::is_signed_v<T> ? sum - (Int128{count_} << 31) : sum;
  }
  __device__ Uint128 Squares() const {
    const Uint128 squares = squares_.Value();
    if constexpr (!std::is_signed_v<T>) return squares;
    return squares - (Uint128{sum_} << 32) + (Uint128{count_} << 62);
  }
  __device__ uint32_t Nonzero() const { return nonzero_; }

 private:
  uint64_t sum_ = 0;
  Uint96 squares_;
  uint32_t nonzero_ = 0;
  uint32_t count_ = 0;
};

// 64 bits, by halves. Signed elements x as u = x + 2^63: x * x = u * u - 2^64 u + 2^126.
template <IntegerElement T>
requires(sizeof(T) == 8) class IntegerTurnSums<T> {
 public:
  static constexpr uint32_t kWordsMax = 1024;
  __device__ void Add(T x) {
    AddPowers(x);
    AddNonzero(x);
  }
  __device__ void AddPowers(T x) {
    const uint32_t lower = static_cast<uint32_t>(x);
    const uint32_t upper = static_cast<uint32_t>(static_cast<uint64_t>(x) >> 32);
    const uint32_t u = upper ^ kSign<T>;
    sum_.Add(lower, u);
    lower_squares_.AddProduct(lower, lower);
    products_.AddProduct(lower, u);
    upper_squares_.AddProduct(u, u);
    count_ += 1;
  }
  __device__ void AddNonzero(T x) {
    nonzero_ +=
        IsNotZero(static_cast<uint32_t>(x) | static_cast<uint32_t>(static_cast<uint64_t>(x) >> 32));
  }
  __device__ Int128 Sum() const {
    const Int128 sum = static_cast<Int128>(sum_.Value());
    return std::is_signed_v<T> ? sum - (Int128{count_} << 63) : sum;
  }
  __device__ Uint192 Squares() const {
    Uint192 squares;
    squares.Add(lower_squares_.Value());
    squares.Add(products_.Value() << 33);
    Uint128 upper = (Uint128{squares.limbs[2]} << 64 | squares.limbs[1]) + upper_squares_.Value();
    if constexpr (std::is_signed_v<T>) upper += (Uint128{count_} << 62) - sum_.Value();
    return {{squares.limbs[0], static_cast<uint64_t>(upper), static_cast<uint64_t>(upper >> 64)}};
  }
  __device__ uint32_t Nonzero() const { return nonzero_; }

 private:
  Uint96 sum_;
  Uint96 lower_squares_;
  Uint96 products_;
  Uint96 upper_squares_;
  uint32_t nonzero_ = 0;
  uint32_t count_ = 0;
};

// The elements of a turn.
template <IntegerElement T>
class IntegerTurn {
 public:
  static constexpr uint32_t kWordsMax = IntegerTurnSums<T>::kWordsMax;

  __device__ void Add(const uint4& raw) {
    ForEachWord<T>(raw, [&](auto word) { sums_.Add(word); });
    least_.Add(raw);
    greatest_.Add(raw);
  }

  template <class Registers>
  __device__ void AddTo(Registers& registers) const {
    registers.template Part<kSumPart>().Merge({.sum = sums_.Sum()});
    registers.template Part<kSquaresPart>().Merge({.sum = sums_.Squares()});
    registers.template Part<kTallyPart>().nonzero += sums_.Nonzero();
  }
  __device__ T least() const { return least_.Value(); }
  __device__ T greatest() const { return greatest_.Value(); }

 private:
  IntegerTurnSums<T> sums_;
  RunningExtreme<T, false> least_;
  RunningExtreme<T, true> greatest_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_INTEGER_TURNS_CUH_
