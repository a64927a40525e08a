// The moments of floating-point elements as a thread keeps them while it reads: words in shared
// memory, and for all but sums of floats alone a window in registers.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_MOMENTS_CUH_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/reduce_double_window.cuh"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_piece_words.cuh"
#include "kernels/cuda/reduce_tuning.h"
#include "kernels/cuda/reduce_windows.cuh"
#include "kernels/cuda/reduce_words.cuh"
#include "kernels/numerics/reduction_state.h"

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
  // The same in memory that other blocks merge to.
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

struct KnownOfElements {
  bool are_finite = false;
  bool are_not_zero = false;
};

// Where the words of each moment stand among a thread's.
template <class T, uint32_t kParts>
struct MomentWords {
  static constexpr bool kIsDouble = std::is_same_v<T, double>;
  static constexpr bool kHasSum = (kParts & kSumPart) != 0;
  static constexpr bool kHasSquares = (kParts & kSquaresPart) != 0;
  static constexpr bool kHasMagnitudes = (kParts & kMagnitudesPart) != 0;
  // Float sums alone have words for their own type and need no window.
  static constexpr bool kHasWindow = kIsDouble || (kParts & kMomentParts) != kSumPart;

  using SingleType = std::conditional_t<kHasWindow, float, T>;
  static_assert(WordSharersOf<T>(kParts) == 1 || kIsDouble);
  using SumWords = std::conditional_t<kIsDouble, PieceWords<1>, SingleWords<SingleType>>;
  using SquareWords = std::conditional_t<kIsDouble, PieceWords<2>, SingleSquareWords>;

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

// The moments among kParts of elements of type T, of which S is the compute type.
template <class T, uint32_t kParts>
class MomentAccumulator {
 public:
  using S = ComputeType<T>;
  using Words = MomentWords<T, kParts>;
  static constexpr uint32_t kVectorElements = kVectorSize<T>;

  __device__ explicit MomentAccumulator(WordColumn words) : words_(words) { Reset(); }

  __device__ void Reset() {
    Words::ForEach([&](auto kind, uint32_t first, auto) { kind.Reset(words_.From(first)); });
    flags_ = {};
    window_ = {};
  }

  // Takes elements of any kind; returns what is known of them: they lie in the window, and so are
  // finite, as they nearly always do.
  template <uint32_t kCount, uint32_t kSize>
  __device__ KnownOfElements Add(const S (&values)[kCount][kSize]) {
    if constexpr (!Words::kHasWindow) {
#pragma unroll
      for (uint32_t b = 0; b < kCount; ++b) AddToWords(values[b]);
      return {};
    } else {
      bool has_zero = false;
      const MagnitudeRange range = RangeOfElements(values, has_zero);
      NoteSigns(values, has_zero);
      if (!Takes(range) && !MoveWindow(range, 1)) {
        ForEachValue(values, [&](S x) { AddOutside(x); });
        CountUnsettled(kCount * kSize);
        return {};
      }
      ForEachValue(values, [&](S x) { AddToWindow(x); });
      CountAdditions(kCount * kSize);
      return {.are_finite = true, .are_not_zero = !has_zero};
    }
  }

  // Whether the window takes elements of a range.
  __device__ bool Takes(const MagnitudeRange& range) const {
    if constexpr (Words::kIsDouble) {
      return window_.sums.bounds().Takes(range);
    } else {
      return window_.bounds.Takes(range);
    }
  }
  // The same, after the window has moved if that helps. Of a turn.
  __device__ bool TakesMoved(const MagnitudeRange& range) {
    return Takes(range) || MoveWindow(range, kMissesMax / 2);
  }
  // Whether AddTaken does for elements of a range that the window takes.
  __device__ static bool TakesByVector(const MagnitudeRange& range) {
    if constexpr (HalfElement<T>) {
      return SquaresHaveExactSum<SingleWords<T>::kPrecision, kVectorElements>(range);
    } else {
      return true;
    }
  }
  // Adds a vector of elements that the window takes, and TakesByVector. What follows such calls is
  // FinishTaken, before there are more than kGroupElementsMax elements.
  __device__ void AddTaken(const S (&values)[kVectorElements]) {
    if constexpr (Words::kIsDouble) {
#pragma unroll
      for (const double x : values) window_.sums.Add(x);
    } else {
      AddTakenButSquares(values);
      if constexpr (Words::kHasSquares && HalfElement<T>) {
        window_.squares.AddSum(SumOfSquares(values));
      } else if constexpr (Words::kHasSquares) {
#pragma unroll
        for (const double x : values) window_.squares.Add(x);
      }
    }
  }
  // The same of elements of any range that the window takes.
  __device__ void AddTakenOneByOne(const S (&values)[kVectorElements]) {
    if constexpr (HalfElement<T>) {
      AddTakenButSquares(values);
      if constexpr (Words::kHasSquares) {
#pragma unroll
        for (const double x : values) window_.squares.Add(x);
      }
    } else {
      AddTaken(values);
    }
  }
  // Adds finite elements straight to the words, wherever they lie, with the same instructions for
  // all.
  __device__ void AddWide(const S (&values)[kVectorElements]) requires(!Words::kIsDouble) {
#pragma unroll
    for (const S x : values) {
      if constexpr (Words::kHasSum) Words::SumWords::Add(words_.From(Words::kSumFirst), x);
      if constexpr (Words::kHasMagnitudes) {
        Words::SumWords::Add(words_.From(Words::kMagnitudesFirst), fabs(x));
      }
      if constexpr (Words::kHasSquares) {
        SingleSquareWords::AddSquare<SingleWords<T>::kPrecision>(words_.From(Words::kSquaresFirst),
                                                                 x);
      }
    }
  }
  // `count` elements were added, which may all be negative zeros. Words of floats see that.
  __device__ void FinishTaken(uint32_t count, bool are_negative_zeros) {
    NoteUnsigned();
    if (Words::kIsDouble && !are_negative_zeros) flags_.sum |= kSawOtherThanNegativeZero;
    CountAdditions(count);
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
    NoteUnsigned();
    if (!are_negative_zeros) flags_.sum |= kSawOtherThanNegativeZero;
    CountUnsettled(kCount * kVectorElements);
  }
  // Notes an element that is not finite, and is not added.
  __device__ void NoteNotFinite(double x) { flags_.Merge(FlagsOfNotFinite(x)); }

  // Takes a load of elements of any kind. Words alone.
  __device__ void AddVector(const uint4& raw) requires(!Words::kHasWindow) {
    if constexpr (HalfElement<T>) {
      if (AddPacked(raw)) return;
    }
    struct Elements {
      T values[sizeof(uint4) / sizeof(T)];
    };
    const Elements elements = std::bit_cast<Elements>(raw);
#pragma unroll
    for (const T x : elements.values) Words::SumWords::Add(words_, ToCompute(x));
  }

  // Takes a load of 16-bit elements, if one addition does for all of them as it nearly always does:
  // where they belong to the same word and are finite. Returns whether it did.
  __device__ bool AddPacked(const uint4& raw) requires(HalfElement<T>) {
    using Packed = PackedHalves<T>;
    const uint32_t pairs[4] = {raw.x, raw.y, raw.z, raw.w};
    const uint32_t first = Packed::Classes(pairs[0]) & 0xFFFF;
    uint32_t difference = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      difference |= Packed::Classes(pairs[k]) ^ (first | first << 16);
    }
    if (difference != 0 || Packed::MayNotBeFinite(first)) return false;
    double sum = Packed::Lower(pairs[0]) + Packed::Upper(pairs[0]);
#pragma unroll
    for (uint32_t k = 1; k < 4; ++k)
      sum = (sum + Packed::Lower(pairs[k])) + Packed::Upper(pairs[k]);
    words_.AddDouble(first >> 12, sum * PowerOfTwo(-Packed::kScale));
    return true;
  }

  // Brings everything into the words. What follows is Reset.
  __device__ MomentFlags Close() {
    if constexpr (Words::kHasWindow) Flush();
    return flags_;
  }

 private:
  // Squares need narrow windows, which few elements of wide data may lie in.
  static constexpr bool kHasNarrowWindow = Words::kIsDouble && Words::kHasSquares;
  // Such a window follows smaller elements after so many misses, of which there are some among
  // ordinary data, between two times that it is emptied. It leaves more room above where it has to
  // move up soon after it was emptied.
  static constexpr uint32_t kMissesMax = 16;
  static constexpr uint32_t kAdditionsOfDrift = 128;
  static constexpr int kSlackOfDrift = 6;
  // Elements that are added to words one by one, at most, before these are settled.
  static constexpr uint32_t kUnsettledMax =
      kPieceAdditionsMax / WordSharersOf<T>(kParts) - ReduceTuning::kGroupElementsMax;

  struct FloatWindow {
    static constexpr int kPrecision = SingleWords<T>::kPrecision;
    using Bounds =
        WindowBounds<S, false, kPrecision, SingleWords<T>::kLowestExponent + 126 + kPrecision>;
    Bounds bounds;
    double square_anchor = 0;
    double sum = -0.0;  // Addition's identity.
    SquareSum squares;
    double magnitudes = 0;
    uint32_t additions = 0;
  };
  struct DoubleSums {
    DoubleWindow<kParts> sums;
    uint32_t additions = 0;
    uint32_t misses = 0;     // kHasNarrowWindow.
    uint32_t unsettled = 0;  // additions to any moment's words since Settle.
  };
  struct NoWindow {};
  using Window = std::conditional_t<Words::kIsDouble, DoubleSums, FloatWindow>;

  template <uint32_t kCount, uint32_t kSize, class F>
  __device__ static void ForEachValue(const S (&values)[kCount][kSize], F f) {
#pragma unroll
    for (uint32_t i = 0; i < kCount * kSize; ++i) f(values[i / kSize][i % kSize]);
  }

  template <uint32_t kSize>
  __device__ void AddToWords(const S (&values)[kSize]) {
#pragma unroll
    for (uint32_t k = 0; k < kSize; ++k) Words::SumWords::Add(words_, values[k]);
  }

  // Squares and magnitudes are no negative zeros.
  __device__ void NoteUnsigned() {
    flags_.squares |= kSawOtherThanNegativeZero;
    flags_.magnitudes |= kSawOtherThanNegativeZero;
  }

  // Flags that neither windows nor integer words can tell afterwards.
  template <uint32_t kCount, uint32_t kSize>
  __device__ void NoteSigns(const S (&values)[kCount][kSize], bool has_zero) {
    NoteUnsigned();
    if constexpr (Words::kIsDouble && Words::kHasSum) {
      uint32_t other = has_zero ? 0 : 1;
      if (has_zero) ForEachValue(values, [&](S x) { other |= BitsOtherThanOfNegativeZero(x); });
      flags_.sum |= other != 0 ? kSawOtherThanNegativeZero : 0;
    }
  }

  // Moves the window to where it takes a range that it does not; returns whether it did.
  __device__ bool MoveWindow(const MagnitudeRange& range, [[maybe_unused]] uint32_t misses) {
    if constexpr (Words::kIsDouble) {
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
        if (is_smaller) window_.misses += misses;
        if (is_smaller && window_.misses < kMissesMax) return false;
      }
      Flush();
      window_.sums.Clear(moved);
      return true;
    } else {
      typename FloatWindow::Bounds moved;
      int biased_max = 0;
      if (!moved.MoveTo(range, biased_max)) return false;
      Flush();
      window_.bounds = moved;
      window_.square_anchor = SquareAnchor(biased_max);
      window_.squares.high = window_.square_anchor;
      return true;
    }
  }

  __device__ void AddToWindow(S x) {
    if constexpr (Words::kIsDouble) {
      window_.sums.Add(x);
    } else {
      AddToWindowButSquare(x);
      if constexpr (Words::kHasSquares) window_.squares.Add(x);
    }
  }
  __device__ void AddToWindowButSquare(double x) requires(!Words::kIsDouble) {
    if constexpr (Words::kHasSum) window_.sum += x;
    if constexpr (Words::kHasMagnitudes) window_.magnitudes += fabs(x);
  }
  __device__ void AddTakenButSquares(const S (&values)[kVectorElements]) requires(
      !Words::kIsDouble) {
    if constexpr (Words::kHasSum) window_.sum += SumOfVector(values);
    if constexpr (Words::kHasMagnitudes) {
      S magnitudes[kVectorElements];
#pragma unroll
      for (uint32_t k = 0; k < kVectorElements; ++k) magnitudes[k] = fabs(values[k]);
      window_.magnitudes += SumOfVector(magnitudes);
    }
  }

  __device__ void CountAdditions(uint32_t count) {
    window_.additions += count;
    if (window_.additions > kWindowAdditions - ReduceTuning::kGroupElementsMax) Flush();
  }

  // Brings the window's sums into the words.
  __device__ void Flush() {
    AddWindow(words_, window_);
    if constexpr (Words::kIsDouble) {
      window_.sums.Clear(window_.sums.bounds());
      window_.misses = 0;
      CountUnsettled(DoubleWindow<kParts>::kAddendsMax);
    } else {
      window_.sum = -0.0;
      window_.magnitudes = 0;
      window_.squares = {window_.square_anchor, 0};
    }
    window_.additions = 0;
  }

  // `count` additions were made to each moment's words, or fewer.
  __device__ void CountUnsettled(uint32_t count) {
    if constexpr (Words::kIsDouble) {
      window_.unsettled += count;
      if (window_.unsettled <= kUnsettledMax) return;
      Words::ForEach([&](auto kind, uint32_t first, auto) { kind.Settle(words_.From(first)); });
      window_.unsettled = 0;
    }
  }

  // Not inlined: it is long, and called from several places.
  __device__ __noinline__ static void AddWindow(WordColumn words,
                                                DoubleSums window) requires(Words::kIsDouble) {
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

  __device__ __noinline__ static void AddWindow(WordColumn words,
                                                FloatWindow window) requires(!Words::kIsDouble) {
    using SumWords = typename Words::SumWords;
    using SquareWords = typename Words::SquareWords;
    if constexpr (Words::kHasSum) {
      SumWords::AddDouble(words.From(Words::kSumFirst), window.sum);
    }
    if constexpr (Words::kHasMagnitudes) {
      SumWords::AddDouble(words.From(Words::kMagnitudesFirst), window.magnitudes);
    }
    if constexpr (Words::kHasSquares) {
      const WordColumn squares = words.From(Words::kSquaresFirst);
      // A word that is added to counts as touched.
      const double high = window.squares.high - window.square_anchor;
      if (high != 0) SquareWords::AddDouble(squares, high);
      if (window.squares.low != 0) SquareWords::AddDouble(squares, window.squares.low);
    }
  }

  // An element of a batch that the window does not take as a whole.
  __device__ void AddOutside(S x) {
    if constexpr (Words::kIsDouble && (kParts & kMomentParts) == kSumPart) {
      if (IsFinite(x)) {
        Words::SumWords::AddNumber(words_, x);
      } else {
        flags_.sum |= ExactSumFlagsOf(x);
      }
    } else {
      flags_.Merge(AddOne(words_, x));
    }
  }

  // Adds to all moments among words of float64.
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

  // An element of any kind, straight into the words. Returns what words cannot tell.
  __device__ __noinline__ static MomentFlags AddOne(WordColumn words, S x) {
    if constexpr (Words::kIsDouble) {
      if (!IsFinite(x)) return FlagsOfNotFinite(x);
      AddFiniteToWords(words, x);
    } else {
      const S magnitude = fabs(x);
      const WordColumn sums = words.From(Words::kSumFirst);
      const WordColumn squares = words.From(Words::kSquaresFirst);
      const WordColumn magnitudes = words.From(Words::kMagnitudesFirst);
      const double value = x;
      if constexpr (Words::kHasSum) Words::SumWords::Add(sums, x);
      if constexpr (Words::kHasMagnitudes) Words::SumWords::Add(magnitudes, magnitude);
      if constexpr (Words::kHasSquares) SingleSquareWords::AddDouble(squares, value * value);
    }
    return {};
  }

  WordColumn words_;
  MomentFlags flags_;
  std::conditional_t<Words::kHasWindow, Window, NoWindow> window_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_MOMENTS_CUH_
