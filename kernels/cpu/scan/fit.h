// How scans on the CPU find out whether all results fit (Store of numerics/scans/operator.h): bits
// of the results that are looked at, or-ed, tell. They are as wide as values, for vectors' sake.
//
//   uint64_t misfits = 0;
//   if (row % Fit::kRowsApart == 0) misfits |= Fit::BitsOf(value, Store(value, ...));
//   return Fit::AllFit(misfits);
#ifndef GRIDFOLD_KERNELS_CPU_SCAN_FIT_H_
#define GRIDFOLD_KERNELS_CPU_SCAN_FIT_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/arithmetic/scaled_product.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cpu {

template <class Operator, class T>
struct FitOf {
  static constexpr uint64_t kRowsApart = 1;  // Consecutive results of a group of which one will do.
  static uint64_t BitsOf(const typename Operator::Value&, bool fits) { return fits ? 0 : 1; }
  static bool AllFit(uint64_t misfits) { return misfits == 0; }
};

// Plain products: whether exponents are in the window of IsInRunningWindow(), by subtractions,
// which take a third less time than comparisons in vectors.
//
// Elements of a shorter type than float64 are below 2^128 and, unless they are 0, no less than
// 2^-149. So one of three running products will do, if it is looked at more closely: behind one
// that is from 2^-212 to 2^212 and right, the next two are from 2^-510 to 2^468, and right too,
// unless an element is 0, infinite or NaN. That makes of them, and of the next one that is looked
// at, what it makes of ScaledProducts.
template <FloatingElement T>
struct FitOf<ScanOperator<T, ScanOperation::kProduct>, T> {
  static constexpr uint64_t kRowsApart = std::is_same_v<T, double> ? 1 : 3;

  static uint64_t BitsOf(double value, bool) {
    using namespace scaled_product_internal;  // NOLINT
    constexpr uint64_t kEnd = std::is_same_v<T, double> ? 510 : 212;
    // Either has the bit where an exponent is not in one half of all: that from -kEnd on, and that
    // up to kEnd - 1.
    const auto bits = std::bit_cast<uint64_t>(value);
    return (bits - ((kExponentBias - kEnd) << kMantissaBits)) |
           (bits - ((kEnd - 1) << kMantissaBits));
  }
  static bool AllFit(uint64_t misfits) { return !IsOutsideWindow(misfits); }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_SCAN_FIT_H_
