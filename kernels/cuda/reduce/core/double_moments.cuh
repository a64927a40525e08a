// A thread keeps the moments of float64 elements while it reads.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_DOUBLE_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_DOUBLE_MOMENTS_CUH_

#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/double_window.cuh"
#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/piece_words.cuh"
#include "kernels/cuda/reduce/core/window_moments.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// A window, and what is counted beside it.
template <uint32_t kParts>
struct DoubleSums {
  DoubleWindow<kParts> sums;
  uint32_t additions = 0;
  uint32_t misses = 0;     // Where there are squares.
  uint32_t unsettled = 0;  // Additions to any moment's words since Settle.
};

// The moments among kParts. Words hold finite numbers alone, and cannot tell of signs of zeros:
// flags note the others.
template <uint32_t kParts>
class DoubleMoments : public WindowMoments<double, kParts, DoubleSums<kParts>> {
  using Window = DoubleSums<kParts>;
  using Base = WindowMoments<double, kParts, Window>;
  using Base::flags_;
  using Base::window_;
  using Base::words_;

 public:
  using Base::Base;
  using Base::kVectorElements;
  using typename Base::Words;

  // Takes elements of any kind; returns what is known of them: they lie in the window, and so are
  // finite, as they nearly always do.
  template <uint32_t kCount, uint32_t kSize>
  __device__ KnownOfElements Add(const double (&values)[kCount][kSize]) {
    bool has_zero = false;
    const MagnitudeRange range = RangeOfElements(values, has_zero);
    NoteSigns(values, has_zero);
    if (!Takes(range) && !MoveWindow(range, 1)) {
      this->ForEachValue(values, [&](double x) { AddOutside(x); });
      CountUnsettled(kCount * kSize);
      return {};
    }
    this->ForEachValue(values, [&](double x) { AddToWindow(x); });
    if (this->CountAdditions(kCount * kSize)) Flush();
    return {.are_finite = true, .are_not_zero = !has_zero};
  }

  // Whether the window takes elements of a range.
  __device__ bool Takes(const MagnitudeRange& range) const {
    return window_.sums.bounds().Takes(range);
  }
  // Whether the window takes the elements of a turn, after it has moved if that helps.
  __device__ bool TakesMoved(const MagnitudeRange& range) {
    return Takes(range) || MoveWindow(range, kMissesMax / 2);
  }
  // Adds a vector of elements that the window takes. What follows such calls is FinishTaken, before
  // there are more than kGroupElementsMax elements.
  __device__ void AddTaken(const double (&values)[kVectorElements]) {
#pragma unroll
    for (const double x : values) AddToWindow(x);
  }
  // `count` elements were added, which may all be negative zeros.
  __device__ void FinishTaken(uint32_t count, bool are_negative_zeros) {
    NoteZeros(are_negative_zeros);
    if (this->CountAdditions(count)) Flush();
  }

  // Adds finite elements of a turn straight to the words, without a branch. Leaves nothing of use
  // in `raw`.
  template <uint32_t kCount>
  __device__ void AddToPieces(uint4 (&raw)[kCount], bool are_negative_zeros) {
    constexpr uint32_t kTogether = 4;
    static_assert(kCount % kTogether == 0);
#pragma unroll 1
    for (uint32_t i = 0; i < kCount; i += kTogether) {
#pragma unroll
      for (uint32_t k = 0; k < kTogether; ++k) {
        for (const double x : BatchOf<double>(raw[k]).values) AddFiniteToWords(words_, x);
      }
#pragma unroll
      for (uint32_t k = 0; k + kTogether < kCount; ++k) raw[k] = raw[k + kTogether];
    }
    NoteZeros(are_negative_zeros);
    CountUnsettled(kCount * kVectorElements);
  }
  // Notes an element that is not finite, and is not added.
  __device__ void NoteNotFinite(double x) { flags_.Merge(FlagsOfNotFinite(x)); }

  // Brings everything into the words. What follows is Reset.
  __device__ MomentFlags Close() {
    Flush();
    return flags_;
  }

 private:
  // Squares need narrow windows, which few elements of wide data may lie in.
  static constexpr bool kHasNarrowWindow = Words::kHasSquares;
  // Such a window follows smaller elements after so many misses, of which there are some among
  // ordinary data, between two times that it is emptied, and at once where all of a turn are below
  // it. It leaves more room above where it has to move up soon after it was emptied.
  static constexpr uint32_t kMissesMax = 16;
  static constexpr uint32_t kAdditionsOfDrift = 128;
  static constexpr int kSlackOfDrift = 6;
  // Elements that are added to words one by one, at most, before these are settled.
  static constexpr uint32_t kUnsettledMax =
      kPieceAdditionsMax / WordSharersOf<double>(kParts) - ReduceTuning::kGroupElementsMax;

  // Flags that words cannot tell afterwards.
  template <uint32_t kCount, uint32_t kSize>
  __device__ void NoteSigns(const double (&values)[kCount][kSize], bool has_zero) {
    this->NoteUnsigned();
    if constexpr (Words::kHasSum) {
      uint32_t other = has_zero ? 0 : 1;
      if (has_zero) {
        this->ForEachValue(values, [&](double x) { other |= BitsOtherThanOfNegativeZero(x); });
      }
      flags_.sum |= other != 0 ? kSawOtherThanNegativeZero : 0;
    }
  }
  // Flags zeros where it is known whether all elements are negative zeros.
  __device__ void NoteZeros(bool are_negative_zeros) {
    this->NoteUnsigned();
    if (!are_negative_zeros) flags_.sum |= kSawOtherThanNegativeZero;
  }

  // Moves the window to where it takes a range that it does not, which is worth so many misses;
  // returns whether it did.
  __device__ bool MoveWindow(const MagnitudeRange& range, [[maybe_unused]] uint32_t misses) {
    using Bounds = typename DoubleWindow<kParts>::Bounds;
    Bounds moved = window_.sums.bounds();
    const bool is_smaller = range.largest < moved.limit;
    int slack = Bounds::kSlack;
    if constexpr (kHasNarrowWindow) {
      const bool drifts = moved.HoldsNumbers() && window_.additions <= kAdditionsOfDrift;
      if (!is_smaller && drifts) slack = kSlackOfDrift;
    }
    int biased_max = 0;
    if (!moved.MoveTo(range, biased_max, slack)) return false;
    if constexpr (kHasNarrowWindow) {
      if (range.largest < window_.sums.bounds().least_less_one) misses = kMissesMax;
      if (is_smaller) window_.misses += misses;
      if (is_smaller && window_.misses < kMissesMax) return false;
    }
    Flush();
    window_.sums.Clear(moved);
    return true;
  }

  __device__ void AddToWindow(double x) { window_.sums.Add(x); }

  // Brings the window's sums into the words.
  __device__ void Flush() {
    AddWindow(words_, window_);
    window_.sums.Clear(window_.sums.bounds());
    window_.misses = 0;
    CountUnsettled(DoubleWindow<kParts>::kAddendsMax);
    window_.additions = 0;
  }
  // Not inlined: it is long, and called from several places.
  __device__ __noinline__ static void AddWindow(WordColumn words, Window window) {
    window.sums.ForEachAddend([&](auto part, double addend) {
      if constexpr (part() == kSumPart) {
        Words::SumWords::AddDouble(words.From(Words::kSumFirst), addend);
      } else if constexpr (part() == kMagnitudesPart) {
        Words::SumWords::AddDouble(words.From(Words::kMagnitudesFirst), addend);
      } else {
        Words::SquareWords::AddDouble(words.From(Words::kSquaresFirst), addend);
      }
    });
  }

  // `count` additions were made to each moment's words, or fewer.
  __device__ void CountUnsettled(uint32_t count) {
    window_.unsettled += count;
    if (window_.unsettled <= kUnsettledMax) return;
    Words::ForEach([&](auto kind, uint32_t first, auto) { kind.Settle(words_.From(first)); });
    window_.unsettled = 0;
  }

  // An element of a batch that the window does not take as a whole.
  __device__ void AddOutside(double x) {
    if constexpr ((kParts & kMomentParts) == kSumPart) {
      if (IsFinite(x)) {
        Words::SumWords::AddNumber(words_, x);
      } else {
        flags_.sum |= ExactSumFlagsOf(x);
      }
    } else {
      flags_.Merge(AddOne(words_, x));
    }
  }
  // An element of any kind, straight into the words. Returns what words cannot tell.
  __device__ __noinline__ static MomentFlags AddOne(WordColumn words, double x) {
    if (!IsFinite(x)) return FlagsOfNotFinite(x);
    AddFiniteToWords(words, x);
    return {};
  }
  __device__ static void AddFiniteToWords(WordColumn words, double x) {
    const WordColumn sums = words.From(Words::kSumFirst);
    const WordColumn magnitudes = words.From(Words::kMagnitudesFirst);
    if constexpr (Words::kHasSum) Words::SumWords::AddNumber(sums, x);
    if constexpr (Words::kHasMagnitudes) Words::SumWords::AddNumber(magnitudes, fabs(x));
    if constexpr (Words::kHasSquares) {
      Words::SquareWords::AddSquare(words.From(Words::kSquaresFirst), x);
    }
  }
  __device__ static MomentFlags FlagsOfNotFinite(double x) {
    return {ExactSumFlagsOf(x), ExactSumFlagsOf(x * x), ExactSumFlagsOf(fabs(x))};
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_DOUBLE_MOMENTS_CUH_
