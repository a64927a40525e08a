// A thread's moments of floating-point elements have words, of which this says where they stand,
// and what is known of moments besides.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MOMENT_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MOMENT_WORDS_CUH_

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/piece_words.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// What moments have seen besides finite numbers, as ExactSum's flags.
struct MomentFlags {
  uint32_t sum = 0;
  uint32_t squares = 0;
  uint32_t magnitudes = 0;
  __device__ void Merge(const MomentFlags& other) {
    sum |= other.sum;
    squares |= other.squares;
    magnitudes |= other.magnitudes;
  }
  // Merges flags in memory to which other blocks merge too.
  __device__ void MergeAtomically(const MomentFlags& other) {
    atomicOr(&sum, other.sum);
    atomicOr(&squares, other.squares);
    atomicOr(&magnitudes, other.magnitudes);
  }
};

// Joins those of all lanes of a warp; all of them get the result.
__device__ inline void MergeOverWarp(const Warp&, MomentFlags& flags) {
  flags = {__reduce_or_sync(~0u, flags.sum), __reduce_or_sync(~0u, flags.squares),
           __reduce_or_sync(~0u, flags.magnitudes)};
}

// What is known of elements after they were added.
struct KnownOfElements {
  bool are_finite = false;
  bool are_not_zero = false;
};

// Float sums alone have words for their own type and need no window (windows.cuh).
template <class T, uint32_t kParts>
inline constexpr bool kHasMomentWindow = std::is_same_v<T, double> ||
                                         (kParts & kMomentParts) != kSumPart;

// Where the words of each moment stand among a thread's.
template <class T, uint32_t kParts>
struct MomentWords {
  static constexpr bool kIsDouble = std::is_same_v<T, double>;
  static constexpr bool kHasSum = (kParts & kSumPart) != 0;
  static constexpr bool kHasSquares = (kParts & kSquaresPart) != 0;
  static constexpr bool kHasMagnitudes = (kParts & kMagnitudesPart) != 0;

  static_assert(WordSharersOf<T>(kParts) == 1 || kIsDouble);
  using PartialWords =
      std::conditional_t<std::is_same_v<T, Float16>, Float16PartialWords, SingleWords<float>>;
  using SingleSumWords =
      std::conditional_t<kHasMomentWindow<T, kParts>, PartialWords, SingleWords<T>>;
  using SumWords = std::conditional_t<kIsDouble, PieceWords<1>, SingleSumWords>;
  using SquareWords = std::conditional_t<kIsDouble, PieceWords<2>, SingleSquareWords<T>>;

  static constexpr uint32_t kSumFirst = 0;
  static constexpr uint32_t kSquaresFirst = kHasSum ? SumWords::kCount : 0;
  static constexpr uint32_t kMagnitudesFirst =
      kSquaresFirst + (kHasSquares ? SquareWords::kCount : 0);
  static constexpr uint32_t kCount = kMagnitudesFirst + (kHasMagnitudes ? SumWords::kCount : 0);
  static_assert(kCount == MomentWordCount<T>(kParts));

  // Calls f(words type, first word, part) for each moment, a moment's part being a PartSet.
  template <class F>
  __device__ static void ForEach(F f) {
    if constexpr (kHasSum) f(SumWords{}, kSumFirst, PartSet<kSumPart>{});
    if constexpr (kHasSquares) f(SquareWords{}, kSquaresFirst, PartSet<kSquaresPart>{});
    if constexpr (kHasMagnitudes) f(SumWords{}, kMagnitudesFirst, PartSet<kMagnitudesPart>{});
  }
};

template <uint32_t kPart>
__device__ inline uint32_t& FlagsOf(MomentFlags& flags, PartSet<kPart>) {
  if constexpr (kPart == kSumPart) return flags.sum;
  if constexpr (kPart == kSquaresPart) return flags.squares;
  return flags.magnitudes;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_MOMENT_WORDS_CUH_
