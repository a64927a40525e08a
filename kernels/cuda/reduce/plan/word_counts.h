// Words of moments in shared memory (reduce/core/words.cuh): how many a thread needs, who shares
// them, and what they take before they are full.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_WORD_COUNTS_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_WORD_COUNTS_H_

#include <cstdint>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Words of shared memory that a thread needs for a moment of floating-point elements; see
// reduce/core/words.cuh. Single: elements of up to 32 bits.
inline constexpr uint32_t kSingleSumWords = 16;
inline constexpr uint32_t kSingleSquareWords = 35;
// Words of float16 sums that are kept beside squares: most are for digits only (MergeSplits).
inline constexpr uint32_t kFloat16SumWords = 12;
inline constexpr uint32_t kFloat16SquareWords = 20;
inline constexpr uint32_t kDoubleSumWords = 68;
inline constexpr uint32_t kDoubleSquareWords = 134;

// Words of all moments among `parts`.
template <class T>
constexpr uint32_t MomentWordCount(uint32_t parts) {
  if (!FloatingElement<T>) return 0;
  const bool is_float16 = std::is_same_v<T, Float16>;
  const uint32_t sum = sizeof(T) == 8                                     ? kDoubleSumWords
                       : is_float16 && (parts & kMomentParts) != kSumPart ? kFloat16SumWords
                                                                          : kSingleSumWords;
  const uint32_t squares = sizeof(T) == 8 ? kDoubleSquareWords
                           : is_float16   ? kFloat16SquareWords
                                          : kSingleSquareWords;
  return ((parts & kSumPart) != 0 ? sum : 0) + ((parts & kSquaresPart) != 0 ? squares : 0) +
         ((parts & kMagnitudesPart) != 0 ? sum : 0);
}

// Threads of a block that share words where a group has whole blocks (reduce/long/blocks.cuh):
// those of squares of float64 are so many that a block of threads with words of their own would be
// too small to keep memory busy, and so seldom needed that threads rarely meet.
template <class T>
constexpr uint32_t WordSharersOf(uint32_t parts) {
  return FloatingElement<T> && sizeof(T) == 8 && (parts & kSquaresPart) != 0 ? 4 : 1;
}
// Elements of a thread that keep its words exact (reduce/core/words.cuh): additions that float64
// words take, less some for those of windows. Digits take 2^31, of all threads that share them.
template <class T>
constexpr uint64_t WordAdditionsMax(uint32_t parts) {
  if (sizeof(T) == 8) return uint64_t{1} << 28;
  const bool has_own_words = std::is_same_v<T, Float16> && (parts & kMomentParts) == kSumPart;
  return has_own_words ? uint64_t{1} << 13 : (uint64_t{1} << 14) - (uint64_t{1} << 10);
}
// Elements of a thread on average where warps draw them: then there is room for whatever a warp
// leaves, and for those that take more than others.
template <class T>
constexpr uint64_t DrawnAdditionsMax(uint32_t parts) {
  return WordAdditionsMax<T>(parts) * 3 / 4;
}

// Bytes of what the blocks of a group have in common, with so many words: reduce/core/join.cuh.
constexpr uint64_t GroupTotalBytes(uint64_t words) {
  return 32 + (words == 0 ? 1 : words) * 2 * sizeof(uint64_t);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_WORD_COUNTS_H_
