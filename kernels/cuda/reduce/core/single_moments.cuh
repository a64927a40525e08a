// A thread keeps the moments of float32 and 16-bit floating-point elements while it reads.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_SINGLE_MOMENTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_SINGLE_MOMENTS_CUH_

#include <bit>
#include <cstdint>

#include "kernels/cuda/reduce/core/moment_words.cuh"
#include "kernels/cuda/reduce/core/window_moments.cuh"
#include "kernels/cuda/reduce/core/windows.cuh"
#include "kernels/cuda/reduce/core/words.cuh"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

// Sums alone: words see all that is to be known of them, and there is no window.
template <class T>
class SingleSums {
 public:
  using S = ComputeType<T>;
  using SumWords = SingleWords<T>;

  __device__ explicit SingleSums(WordColumn words) : words_(words) { Reset(); }

  __device__ void Reset() { SumWords::Reset(words_); }

  // Takes elements of any kind. Nothing is known of them.
  template <uint32_t kCount, uint32_t kSize>
  __device__ KnownOfElements Add(const S (&values)[kCount][kSize]) {
#pragma unroll
    for (uint32_t i = 0; i < kCount * kSize; ++i) {
      SumWords::Add(words_, values[i / kSize][i % kSize]);
    }
    return {};
  }

  // Takes a load of elements of any kind.
  __device__ void AddVector(const uint4& raw) {
    if constexpr (HalfElement<T>) {
      if (AddPacked(raw)) return;
    }
    struct Elements {
      T values[sizeof(uint4) / sizeof(T)];
    };
    const Elements elements = std::bit_cast<Elements>(raw);
#pragma unroll
    for (const T x : elements.values) SumWords::Add(words_, ToCompute(x));
  }

  // All is in the words. What follows is Reset.
  __device__ MomentFlags Close() const { return {}; }

 private:
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

  WordColumn words_;
};

// The sums of such elements, and of their squares and magnitudes, that lie in a window.
template <class T>
struct SingleWindow {
  static constexpr int kPrecision = SingleWords<T>::kPrecision;
  using Bounds = WindowBounds<ComputeType<T>, false, kPrecision,
                              SingleWords<T>::kLowestExponent + 126 + kPrecision>;
  Bounds bounds;
  double square_anchor = 0;
  double sum = -0.0;  // Addition's identity.
  SquareSum squares;
  double magnitudes = 0;
  uint32_t additions = 0;
};

// The moments among kParts, of which there are others than the sum. The words of sums are those of
// float, since partial sums are no elements of T.
template <class T, uint32_t kParts>
class SingleMoments : public WindowMoments<T, kParts, SingleWindow<T>> {
  using Window = SingleWindow<T>;
  using Base = WindowMoments<T, kParts, Window>;
  using Base::flags_;
  using Base::window_;
  using Base::words_;

 public:
  using Base::Base;
  using Base::kVectorElements;
  using typename Base::S;
  using typename Base::Words;

  // Takes elements of any kind; returns what is known of them: they lie in the window, and so are
  // finite, as they nearly always do.
  template <uint32_t kCount, uint32_t kSize>
  __device__ KnownOfElements Add(const S (&values)[kCount][kSize]) {
    bool has_zero = false;
    const MagnitudeRange range = RangeOfElements(values, has_zero);
    this->NoteUnsigned();
    if (!Takes(range) && !MoveWindow(range)) {
      this->ForEachValue(values, [&](S x) { AddOutside(x); });
      return {};
    }
    this->ForEachValue(values, [&](S x) { AddToWindow(x); });
    if (this->CountAdditions(kCount * kSize)) Flush();
    return {.are_finite = true, .are_not_zero = !has_zero};
  }

  // Whether the window takes elements of a range.
  __device__ bool Takes(const MagnitudeRange& range) const { return window_.bounds.Takes(range); }
  // Whether the window takes the elements of a turn, after it has moved if that helps.
  __device__ bool TakesMoved(const MagnitudeRange& range) {
    return Takes(range) || MoveWindow(range);
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
    if constexpr (HalfElement<T>) {
      AddTakenButSquares(values);
      if constexpr (Words::kHasSquares) window_.squares.AddSum(SumOfSquares(values));
    } else {
      AddTakenOneByOne(values);
    }
  }
  // Adds a vector of elements of any range that the window takes.
  __device__ void AddTakenOneByOne(const S (&values)[kVectorElements]) {
    AddTakenButSquares(values);
    if constexpr (Words::kHasSquares) {
#pragma unroll
      for (const double x : values) window_.squares.Add(x);
    }
  }
  // Adds finite elements straight to the words, wherever they lie, with the same instructions for
  // all.
  __device__ void AddWide(const S (&values)[kVectorElements]) {
#pragma unroll
    for (const S x : values) {
      if constexpr (Words::kHasSum) Words::SumWords::Add(words_.From(Words::kSumFirst), x);
      if constexpr (Words::kHasMagnitudes) {
        Words::SumWords::Add(words_.From(Words::kMagnitudesFirst), fabs(x));
      }
      if constexpr (Words::kHasSquares) {
        Words::SquareWords::template AddSquare<SingleWords<T>::kPrecision>(
            words_.From(Words::kSquaresFirst), x);
      }
    }
  }
  // `count` elements were added. Whether all are negative zeros is for the words to see.
  __device__ void FinishTaken(uint32_t count, bool /*are_negative_zeros*/) {
    this->NoteUnsigned();
    if (this->CountAdditions(count)) Flush();
  }

  // Brings everything into the words. What follows is Reset.
  __device__ MomentFlags Close() {
    Flush();
    return flags_;
  }

 private:
  // Moves the window to where it takes a range that it does not; returns whether it did.
  __device__ bool MoveWindow(const MagnitudeRange& range) {
    typename Window::Bounds moved;
    int biased_max = 0;
    if (!moved.MoveTo(range, biased_max)) return false;
    Flush();
    window_.bounds = moved;
    window_.square_anchor = SquareAnchor(biased_max);
    window_.squares.high = window_.square_anchor;
    return true;
  }

  __device__ void AddToWindow(double x) {
    if constexpr (Words::kHasSum) window_.sum += x;
    if constexpr (Words::kHasMagnitudes) window_.magnitudes += fabs(x);
    if constexpr (Words::kHasSquares) window_.squares.Add(x);
  }
  __device__ void AddTakenButSquares(const S (&values)[kVectorElements]) {
    if constexpr (Words::kHasSum) window_.sum += SumOfVector(values);
    if constexpr (Words::kHasMagnitudes) {
      S magnitudes[kVectorElements];
#pragma unroll
      for (uint32_t k = 0; k < kVectorElements; ++k) magnitudes[k] = fabs(values[k]);
      window_.magnitudes += SumOfVector(magnitudes);
    }
  }

  // Brings the window's sums into the words.
  __device__ void Flush() {
    AddWindow(words_, window_);
    window_.sum = -0.0;
    window_.magnitudes = 0;
    window_.squares = {window_.square_anchor, 0};
    window_.additions = 0;
  }
  // Not inlined: it is long, and called from several places.
  __device__ __noinline__ static void AddWindow(WordColumn words, Window window) {
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

  // An element of a batch that the window does not take as a whole: of any kind, and words see
  // which.
  __device__ void AddOutside(S x) { AddOne(words_, x); }
  __device__ __noinline__ static void AddOne(WordColumn words, S x) {
    const S magnitude = fabs(x);
    const WordColumn sums = words.From(Words::kSumFirst);
    const WordColumn squares = words.From(Words::kSquaresFirst);
    const WordColumn magnitudes = words.From(Words::kMagnitudesFirst);
    const double value = x;
    if constexpr (Words::kHasSum) Words::SumWords::Add(sums, x);
    if constexpr (Words::kHasMagnitudes) Words::SumWords::Add(magnitudes, magnitude);
    if constexpr (Words::kHasSquares) Words::SquareWords::AddDouble(squares, value * value);
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_CORE_SINGLE_MOMENTS_CUH_
