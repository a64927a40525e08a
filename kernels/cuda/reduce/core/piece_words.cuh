// Threads share words of float64 elements, and of their squares: what an element adds to them is
// cut into pieces of 21 bits, for each of which there are 32 bits of shared memory.
//
// An addition takes one instruction for a piece, which waits for nothing: no carries, no reading
// before writing, no branches, whatever the elements are. Settle, which runs between a thread's
// additions and the sum's place, moves on what pieces have too much of.
//
// Example, pieces of 4 bits in words of 8:
//
//   adding 0x9f twice:   word 0 gets 0xf + 0xf = 0x1e, word 1 gets 0x9 + 0x9 = 0x12
//   Settle:              word 0 keeps 0xe, word 1 becomes 0x13, then 0x3, word 2 gets 1: 0x13e
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PIECE_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PIECE_WORDS_CUH_

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cuda {

// The pieces of a column of words from one on, of which a word has two.
class PieceColumn {
 public:
  __device__ PieceColumn(WordColumn words, uint32_t first_piece)
      : row_bytes_(words.stride * static_cast<uint32_t>(sizeof(int64_t))),
        even_(SharedAddress(words.first) + first_piece / 2 * row_bytes_ + first_piece % 2 * 4),
        odd_((even_ ^ 4u) + first_piece % 2 * row_bytes_) {}

  // Adds to the k-th piece after the first, while other threads may add to it too.
  __device__ void Add(uint32_t k, uint32_t piece) const {
    asm volatile("red.shared.add.u32 [%0], %1;" : : "r"(AddressOf(k)), "r"(piece) : "memory");
  }
  __device__ int32_t Read(uint32_t k) const {
    int32_t piece;
    asm volatile("ld.volatile.shared.s32 %0, [%1];" : "=r"(piece) : "r"(AddressOf(k)) : "memory");
    return piece;
  }
  // Takes all that a piece has.
  __device__ int32_t Take(uint32_t k) const {
    int32_t piece;
    asm volatile("atom.shared.exch.b32 %0, [%1], 0;" : "=r"(piece) : "r"(AddressOf(k)) : "memory");
    return piece;
  }

 private:
  __device__ uint32_t AddressOf(uint32_t k) const {
    return (k % 2 == 0 ? even_ : odd_) + k / 2 * row_bytes_;
  }

  uint32_t row_bytes_;
  uint32_t even_;  // Of the first piece, and of each second one after it.
  uint32_t odd_;
};

inline constexpr int kPieceBits = 21;

// An addition to a piece is below 2^21 in size, and so is what Settle leaves. Threads that share
// words may make so many additions between two calls of it, with some room for what it moves on.
inline constexpr uint32_t kPieceAdditionsMax = 960;
static_assert(kPieceAdditionsMax + 32 < (1u << (31 - kPieceBits)));

// Sums of float64 elements (kPower 1) and of their squares (2). Pieces are signed.
template <int kPower>
struct PieceWords {
  static constexpr int64_t kUntouched = 0;
  static constexpr uint32_t kCount = kPower == 1 ? kDoubleSumWords : kDoubleSquareWords;
  static constexpr uint32_t kUsed = kCount;
  using Sum = ExactSum<double, kPower>;

  static constexpr int kBits = kPieceBits;
  static constexpr uint32_t kMask = (1u << kBits) - 1;
  static constexpr uint32_t kPieces = (Sum::kBits + kBits - 1) / kBits;
  static_assert((kPieces + 1) / 2 <= kCount);

  __device__ static int Unit(uint32_t i) {
    return Sum::kLowestExponent + 2 * kBits * static_cast<int>(i);
  }

  __device__ static void Reset(WordColumn words) {
#pragma unroll 4
    for (uint32_t i = 0; i < kCount; ++i) words[i] = 0;
  }

  // Adds a partial sum. Finite.
  __device__ __noinline__ static void AddDouble(WordColumn words, double x) { AddNumber(words, x); }
  // Adds an element, or a partial sum. Finite.
  __device__ static void AddNumber(WordColumn words, double x) {
    constexpr uint32_t kUnit = FloatFormat<double>::kLowestExponent - Sum::kLowestExponent;
    const Parts parts = PartsOf(x);
    const uint64_t magnitude = uint64_t{parts.upper} << 32 | parts.lower;
    const uint64_t number = __double2hiint(x) < 0 ? ~magnitude + 1 : magnitude;
    const Place place(parts.position + kUnit);
    const uint32_t lower = static_cast<uint32_t>(number);
    const uint32_t upper = static_cast<uint32_t>(number >> 32);
    const uint32_t sign = static_cast<uint32_t>(static_cast<int32_t>(upper) >> 31);
    const uint32_t bits[3] = {lower << place.shift, __funnelshift_l(lower, upper, place.shift),
                              __funnelshift_l(upper, sign, place.shift)};
    const PieceColumn pieces(words, place.piece);
    pieces.Add(0, bits[0] & kMask);
    pieces.Add(1, __funnelshift_r(bits[0], bits[1], kBits) & kMask);
    pieces.Add(2, bits[1] >> (2 * kBits - 32) & kMask);
    pieces.Add(3, __funnelshift_r(bits[1], bits[2], 3 * kBits - 32));
  }
  // Adds the square of an element. Finite.
  __device__ static void AddSquare(WordColumn words, double x) requires(kPower == 2) {
    const Parts parts = PartsOf(x);
    const uint64_t mixed = uint64_t{parts.lower} * parts.upper;
    const uint64_t lowest = uint64_t{parts.lower} * parts.lower;
    const uint64_t middle = (mixed << 1) + (lowest >> 32);
    const uint64_t highest = uint64_t{parts.upper} * parts.upper + (middle >> 32);
    const uint32_t square[4] = {static_cast<uint32_t>(lowest), static_cast<uint32_t>(middle),
                                static_cast<uint32_t>(highest),
                                static_cast<uint32_t>(highest >> 32)};
    const Place place(2 * parts.position);
    const uint32_t bits[4] = {square[0] << place.shift,
                              __funnelshift_l(square[0], square[1], place.shift),
                              __funnelshift_l(square[1], square[2], place.shift),
                              __funnelshift_l(square[2], square[3], place.shift)};
    const PieceColumn pieces(words, place.piece);
    pieces.Add(0, bits[0] & kMask);
    pieces.Add(1, __funnelshift_r(bits[0], bits[1], kBits) & kMask);
    pieces.Add(2, bits[1] >> (2 * kBits - 32) & kMask);
    pieces.Add(3, __funnelshift_r(bits[1], bits[2], 3 * kBits - 32) & kMask);
    pieces.Add(4, __funnelshift_r(bits[2], bits[3], 4 * kBits - 64) & kMask);
    pieces.Add(5, bits[3] >> (5 * kBits - 96));
  }

  // Moves on to the next pieces what does not fit those that it is in, while other threads may add
  // and settle too. Nearly all pieces have nothing to move.
  __device__ __noinline__ static void Settle(WordColumn words) {
    constexpr uint32_t kTogether = 8;
    static_assert(kPieces + kTogether <= 2 * kCount);
#pragma unroll 1
    for (uint32_t i = 0; i < kPieces; i += kTogether) {
      const PieceColumn pieces(words, i);
      int32_t seen[kTogether];
#pragma unroll
      for (uint32_t k = 0; k < kTogether; ++k) seen[k] = pieces.Read(k);
#pragma unroll
      for (uint32_t k = 0; k < kTogether; ++k) {
        if (IsSettled(seen[k])) continue;
        const int32_t piece = pieces.Take(k);
        pieces.Add(k, static_cast<uint32_t>(piece) & kMask);
        pieces.Add(k + 1, static_cast<uint32_t>(piece >> kBits));
      }
    }
  }

  __device__ static int64_t Integer(uint32_t, int64_t word, uint32_t&) {
    const int32_t lower = static_cast<int32_t>(word);
    const int32_t upper = static_cast<int32_t>(word >> 32);
    return lower + int64_t{upper} * (int64_t{1} << kBits);
  }

  __device__ static void AddTo(Sum& sum, uint32_t i, Int128 integer) {
    sum.AddInteger(MagnitudeOfInteger(integer), 2 * kBits * i, integer < 0);
  }

 private:
  // +-(upper * 2^32 + lower) * 2^(lowest exponent + position).
  struct Parts {
    uint32_t lower;
    uint32_t upper;
    uint32_t position;
  };
  __device__ static Parts PartsOf(double x) {
    const uint32_t bits = static_cast<uint32_t>(__double2hiint(x));
    const uint32_t biased = bits >> 20 & 0x7FF;
    const uint32_t is_normal = min(biased, 1u);
    return {static_cast<uint32_t>(__double2loint(x)), (bits & 0xF'FFFF) | is_normal << 20,
            biased - is_normal};
  }
  struct Place {
    uint32_t piece;
    uint32_t shift;
    __device__ explicit Place(uint32_t position)
        : piece(position * kReciprocal >> 16), shift(position - piece * kBits) {}
    // Exact: the error, which is below 2^-16 of a position, does not reach a 21st.
    static constexpr uint32_t kReciprocal = (1u << 16) / kBits + 1;
    static constexpr uint32_t kPositionMax = Sum::kBits;
    static_assert((kReciprocal * kBits - (1u << 16)) * kPositionMax < (1u << 16));
  };

  __device__ static bool IsSettled(int32_t piece) {
    constexpr int32_t kLimit = 1 << (kBits + 1);
    return piece >= -kLimit && piece < kLimit;
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_PIECE_WORDS_CUH_
