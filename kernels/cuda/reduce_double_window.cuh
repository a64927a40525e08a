// The window of float64 elements (reduce_windows.cuh): sums of elements, magnitudes and squares.
//
// A square has 106 bits, of which two float64 hold all: the rounded product and its error, which a
// fused multiply-add gives exactly (Dekker 1971). Each is split at a place of its own.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_DOUBLE_WINDOW_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_DOUBLE_WINDOW_CUH_

#include <cstdint>

#include "kernels/cuda/reduce_windows.cuh"
#include "kernels/cuda/reduce_words.cuh"
#include "kernels/numerics/reduction_state.h"

namespace gridfold::kernels::cuda {

// A sum whose addends are split at a fixed place: `high` begins at the anchor and is rounded as the
// anchor is as long as it stays within the anchor's binade.
struct AnchoredSum {
  double high = 0;
  double low = 0;

  __device__ void Add(double x) {
    const double sum = high + x;
    low += x - (sum - high);
    high = sum;
  }
};

// With n = 2^10 additions, biased exponents B of elements that are not 0 from `biased_max` - s to
// `biased_max`, and E = biased_max - 1022, past the largest's exponent:
//
// Elements are below 2^E and multiples of 2^(biased_max - s - 1075) = 2^(E - 53 - s). They are
// split at 2^b with b = E - 41, so that n 2^E <= 2^(51 + b), half of the anchor's binade to either
// side. The lower parts are at most 2^(b - 1), and their sum 2^(E - 32): within 53 bits where s
// <= 32.
//
// Products are at most 2^P with P = 2 E, not negative, and multiples of 2^(P - 54 - 2 s). They are
// split at 2^(P - 42): n 2^P is the anchor's binade. The sum of the lower parts is at most
// 2^(P - 33): within 53 bits where s <= 16.
//
// Errors are at most 2^(P - 54), and multiples of 2^(P - 106 - 2 s). They are split at 2^(P - 95);
// the sum of the lower parts is at most 2^(P - 86): within 53 bits where s <= 16.
//
// The last place of an error is at least 2^-1074, and the products' sum stays finite, where
// biased_max lies between the limits of WindowBounds.
template <uint32_t kParts>
class DoubleWindow {
 public:
  static constexpr bool kHasSum = (kParts & kSumPart) != 0;
  static constexpr bool kHasSquares = (kParts & kSquaresPart) != 0;
  static constexpr bool kHasMagnitudes = (kParts & kMagnitudesPart) != 0;
  using Bounds = WindowBounds<double, kHasSquares>;

  __device__ const Bounds& bounds() const { return bounds_; }

  // Requires that the bounds take x.
  __device__ void Add(double x) {
    if constexpr (kHasSum) sum_.Add(x);
    if constexpr (kHasMagnitudes) magnitudes_.Add(fabs(x));
    if constexpr (kHasSquares) {
      const double product = x * x;
      products_.Add(product);
      errors_.Add(fma(x, x, -product));
    }
  }

  // Forgets what was added.
  __device__ void Clear(const Bounds& bounds) {
    bounds_ = bounds;
    if constexpr (kHasSum) sum_ = {Anchor(), 0};
    if constexpr (kHasMagnitudes) magnitudes_ = {Anchor(), 0};
    if constexpr (kHasSquares) {
      products_ = {ProductAnchor(), 0};
      errors_ = {ErrorAnchor(), 0};
    }
  }

  // Calls f(part, addend), a moment's part being a PartSet, for numbers that are not 0 and whose
  // sums are the moments of what was added.
  template <class F>
  __device__ void ForEachAddend(F f) const {
    if (!bounds_.HoldsNumbers()) return;  // Zeros were added to sums that have no anchor.
    const auto visit = [&](auto part, const AnchoredSum& sum, double anchor) {
      if (sum.high != anchor) f(part, sum.high - anchor);
      if (sum.low != 0) f(part, sum.low);
    };
    if constexpr (kHasSum) visit(PartSet<kSumPart>{}, sum_, Anchor());
    if constexpr (kHasMagnitudes) visit(PartSet<kMagnitudesPart>{}, magnitudes_, Anchor());
    if constexpr (kHasSquares) {
      visit(PartSet<kSquaresPart>{}, products_, ProductAnchor());
      visit(PartSet<kSquaresPart>{}, errors_, ErrorAnchor());
    }
  }

 private:
  // E of the comment above.
  __device__ int Exponent() const { return bounds_.BiasedMax() - 1022; }
  __device__ double Anchor() const { return 1.5 * PowerOfTwo(52 + Exponent() - 41); }
  __device__ double ProductAnchor() const { return PowerOfTwo(52 + 2 * Exponent() - 42); }
  __device__ double ErrorAnchor() const { return 1.5 * PowerOfTwo(52 + 2 * Exponent() - 95); }

  Bounds bounds_;
  AnchoredSum sum_;
  AnchoredSum magnitudes_;
  AnchoredSum products_;
  AnchoredSum errors_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_DOUBLE_WINDOW_CUH_
