// Sums of products of a run of observations at the speed of vectors, wherever the products' sizes
// allow it; the bits are those of AddProduct.
//
// Integers of up to 32 bits have products of 64, whose halves are summed. Floating-point products
// are exact as one float64, or as the sum of two (product_error.h), and are cut at places that
// follow from the largest of the run: what lies between two cuts adds up exactly in float64
// (Demmel, Nguyen 2015, "Parallel reproducible summation"). Where something lies below the last
// cut, is not finite, or might have underflowed, the run is left to digits.
#ifndef GRIDFOLD_KERNELS_CPU_PAIRED_QUICK_SUMS_H_
#define GRIDFOLD_KERNELS_CPU_PAIRED_QUICK_SUMS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/base/instruction_set.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/product_error.h"
#include "kernels/numerics/paired/product_sum.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cpu {

// Observations of a run; a multiple of the lanes.
inline constexpr int kQuickRun = 1024;
inline constexpr int kQuickLanes = 16;

// Whether there is such a way at all.
template <class T, int kFactors>
constexpr bool HasQuickSums() {
  if constexpr (std::is_same_v<T, double>) return kFactors <= 2;
  if constexpr (FloatingElement<T>) return true;
  return sizeof(T) <= 4 && kFactors <= 2;
}

namespace quick_internal {

// The numbers, at most 2^exponent in size, in two layers that lie one below the other.
struct Layers {
  double upper = 0;
  double lower = 0;
  bool is_all = false;  // Nothing lies below.
};

// Requires numbers below 2^exponent in size, and an exponent that HasRoom.
constexpr bool HasRoom(int exponent) { return exponent < 1000 && exponent > -800; }
inline void SumLayers(const double* numbers, int exponent, Layers& layers) {
  // A sum of 2^10 numbers below 2^e has 53 bits where they are multiples of 2^(e - 42). Adding 1.5
  // times 2^52 of these rounds to such a multiple.
  const double upper_cut = std::ldexp(1.5, exponent - 42 + 52);
  const double lower_cut = std::ldexp(1.5, exponent - 85 + 52);
  double upper[kQuickLanes] = {};
  double lower[kQuickLanes] = {};
  double below[kQuickLanes] = {};
  for (int i = 0; i < kQuickRun; i += kQuickLanes) {
    for (int k = 0; k < kQuickLanes; ++k) {
      const double x = numbers[i + k];
      const double high = (x + upper_cut) - upper_cut;
      const double rest = x - high;
      const double low = (rest + lower_cut) - lower_cut;
      upper[k] += high;
      lower[k] += low;
      below[k] += std::fabs(rest - low);
    }
  }
  double left = 0;
  layers = {};
  for (int k = 0; k < kQuickLanes; ++k) {
    layers.upper += upper[k];
    layers.lower += lower[k];
    left += below[k];
  }
  layers.is_all = left == 0;
}

struct Sizes {
  double largest = 0;   // In size.
  double smallest = 0;  // The least number, which may be negative.
  bool is_finite = false;
};
inline void FindSizes(const double* numbers, Sizes& sizes) {
  double largest[kQuickLanes] = {};
  double smallest[kQuickLanes] = {};
  double not_finite[kQuickLanes] = {};
  for (int i = 0; i < kQuickRun; i += kQuickLanes) {
    for (int k = 0; k < kQuickLanes; ++k) {
      const double x = numbers[i + k];
      const double size = std::fabs(x);
      largest[k] = largest[k] < size ? size : largest[k];
      smallest[k] = x < smallest[k] ? x : smallest[k];
      not_finite[k] += x - x;
    }
  }
  sizes = {};
  double sum = 0;
  for (int k = 0; k < kQuickLanes; ++k) {
    sizes.largest = std::fmax(sizes.largest, largest[k]);
    sizes.smallest = std::fmin(sizes.smallest, smallest[k]);
    sum += not_finite[k];
  }
  sizes.is_finite = sum == 0;
}

// What Run finds out about a run.
struct Found {
  Sizes sizes;
  Layers products;
  Sizes error_sizes;
  Layers errors;
  bool is_exact = false;
};

// Products as float64 numbers, and their errors where they have some. `is_exact` is false where
// they may be neither.
template <class T, int kFactors>
struct FloatRun {
  static constexpr bool kHasErrors = std::is_same_v<T, double> ? kFactors > 1 : kFactors > 2;

  static void Run(const T* const* factors, Found* result) {
    Found& found = *result;
    alignas(64) double products[kQuickRun];
    alignas(64) double errors[kHasErrors ? kQuickRun : 1];
    found = {};
    bool is_safe = true;
    for (int i = 0; i < kQuickRun; ++i) {
      double x = static_cast<double>(ToCompute(factors[0][i]));
      if constexpr (kFactors == 3) x *= static_cast<double>(ToCompute(factors[1][i]));
      if constexpr (!kHasErrors) {
        if constexpr (kFactors > 1) x *= static_cast<double>(ToCompute(factors[1][i]));
        products[i] = x;
      } else {
        const double y = static_cast<double>(ToCompute(factors[kFactors - 1][i]));
        products[i] = x * y;
        errors[i] = ProductError(x, y, products[i]);
        // Zeros are as good as what is far from underflow.
        const bool is_large = std::fabs(products[i]) > 0x1p-900;
        is_safe = is_safe & (is_large | (x == 0) | (y == 0));
      }
    }
    FindSizes(products, found.sizes);
    if (!found.sizes.is_finite || !is_safe || found.sizes.largest == 0) return;
    if constexpr (kHasErrors) {
      // An infinite part of a factor makes its error none.
      FindSizes(errors, found.error_sizes);
      if (!found.error_sizes.is_finite) return;
      if (!Layer(errors, found.error_sizes, found.errors)) return;
    }
    found.is_exact = Layer(products, found.sizes, found.products);
  }

 private:
  static bool Layer(const double* numbers, const Sizes& sizes, Layers& layers) {
    if (sizes.largest == 0) return true;
    int exponent = 0;
    (void)std::frexp(sizes.largest, &exponent);
    if (!HasRoom(exponent)) return false;
    SumLayers(numbers, exponent, layers);
    return layers.is_all;
  }
};

struct IntegerSums {
  int64_t low = 0;   // Of the products' lower 32 bits.
  int64_t high = 0;  // Of the others.
  bool has_negative = false;
  bool has_other = false;  // Than zeros of a sign that is negative.
};
template <class T, int kFactors>
struct IntegerRun {
  static void Run(const T* const* factors, IntegerSums* result) {
    IntegerSums& sums = *result;
    using Product = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    sums = {};
    Product negative = 0;
    bool has_other = false;
    for (int i = 0; i < kQuickRun; ++i) {
      Product product = factors[0][i];
      Product signs = 0;  // Below 0 where one of the factors is.
      if constexpr (kFactors > 1) {
        const Product other_factor = factors[1][i];
        if constexpr (std::is_signed_v<T>) signs = product ^ other_factor;
        product *= other_factor;
      }
      has_other |= (product != 0) | (signs >= 0);
      sums.low += static_cast<uint32_t>(product);
      sums.high += static_cast<int64_t>(product >> 32);
      negative |= product;
    }
    if constexpr (std::is_signed_v<T>) sums.has_negative = negative < 0;
    sums.has_other = has_other;
  }
};

// Adds a number that is a multiple of 2^lowest_exponent.
template <class Add>
void AddNumber(double x, int lowest_exponent, Add add) {
  if (x == 0) return;
  const DecomposedFloat parts = Decompose(x);
  const int position =
      static_cast<int>(parts.position) + FloatFormat<double>::kLowestExponent - lowest_exponent;
  // Bits below the unit are 0.
  const int zeros = position < 0 ? -position : 0;
  ForEachDigit<FloatFormat<double>::kPrecision>(
      parts.significand >> zeros, static_cast<uint32_t>(position + zeros), parts.negative, add);
}

}  // namespace quick_internal

// Adds the products of kQuickRun observations, of which `factors` point to the first, as so many
// calls of AddProduct would, and adds their flags; or returns false and does nothing.
template <class T, int kFactors, class Add>
bool AddRun(const T* const* factors, Add add, uint32_t& flags) {
  using namespace quick_internal;
  constexpr ProductSumFormat kFormat = ProductSumFormatOf<T>(kFactors);
  if constexpr (FloatingElement<T>) {
    Found found;
    RunForProcessor<FloatRun<T, kFactors>>(factors, &found);
    if (!found.is_exact) return false;
    for (const double part :
         {found.products.upper, found.products.lower, found.errors.upper, found.errors.lower}) {
      AddNumber(part, kFormat.lowest_exponent, add);
    }
    flags |= kSawOtherThanNegativeZero | (found.sizes.smallest < 0 ? kSawNegativeProduct : 0);
  } else {
    IntegerSums sums;
    RunForProcessor<IntegerRun<T, kFactors>>(factors, &sums);
    add(0, sums.low);
    add(1, sums.high);
    flags |= (sums.has_other ? kSawOtherThanNegativeZero : 0) |
             (sums.has_negative ? kSawNegativeProduct : 0);
  }
  return true;
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_PAIRED_QUICK_SUMS_H_
