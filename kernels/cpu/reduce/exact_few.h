// Exact sums of a few floating-point elements, without lanes: as integers of 128 bits, in units of
// the smallest element's last bit, where these are wide enough.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_EXACT_FEW_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_EXACT_FEW_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/cpu/reduce/addend.h"
#include "kernels/cpu/reduce/moment.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cpu {

// At most so many elements are few.
inline constexpr uint32_t kFewMax = 32;

// Adds `count` elements, at most kFewMax, to `sum`.
template <FloatingElement T, Moment kMoment>
inline void AddFew(const std::byte* data, uint32_t count, bool ignore_nan,
                   typename Addend<ComputeType<T>, kMoment>::Sum& sum) {
  using S = ComputeType<T>;
  using A = Addend<S, kMoment>;
  constexpr uint32_t kCountBits = std::bit_width(kFewMax) - 1;
  constexpr uint32_t kMagnitudeBits = 127;  // What ExactSum::AddInteger takes.
  constexpr uint32_t kPower = A::kPower;
  S elements[kFewMax];
  for (uint32_t i = 0; i < count; ++i) elements[i] = ToCompute(LoadUnaligned<T>(data, i));

  uint32_t flags = 0;
  uint32_t lowest = ~uint32_t{0};
  uint32_t highest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const S x = elements[i];
    if (ignore_nan && IsNan(x)) continue;
    flags |= A::FlagsOf(x);
    const DecomposedFloat d = Decompose(x);
    if (d.significand == 0) continue;
    lowest = std::min(lowest, d.position);
    highest = std::max(highest, d.position);
  }
  sum.AddFlags(flags);
  const bool has_numbers = lowest <= highest;
  if (!sum.is_finite() || !has_numbers) return;  // Any NaN below is one that is ignored.

  if (kPower * (highest - lowest + FloatFormat<S>::kPrecision) + kCountBits > kMagnitudeBits) {
    for (uint32_t i = 0; i < count; ++i) {
      const S x = elements[i];
      if (!IsNan(x)) A::AddTo(sum, x);
    }
    return;
  }
  Int128 total = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const S x = elements[i];
    if (IsNan(x)) continue;
    const DecomposedFloat d = Decompose(x);
    if (d.significand == 0) continue;
    Uint128 magnitude = d.significand;
    if (kPower == 2) magnitude *= d.significand;
    magnitude <<= kPower * (d.position - lowest);
    const bool negative = kMoment == Moment::kSum && d.negative;
    total += negative ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
  }
  A::AddTotal(sum, total, kPower * (static_cast<int>(lowest) + FloatFormat<S>::kLowestExponent));
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_EXACT_FEW_H_
