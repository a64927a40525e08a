// Exact sums of floating-point numbers that lie near each other, as weights do: an integer of 128
// bits takes all numbers whose exponents are within a window, and the long sum only what is left
// when the window must move. Slower where exponents jump from one number to the next, but no less
// exact.
#ifndef GRIDFOLD_KERNELS_CPU_HISTOGRAM_WINDOWED_SUM_H_
#define GRIDFOLD_KERNELS_CPU_HISTOGRAM_WINDOWED_SUM_H_

#include <concepts>
#include <cstdint>

#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cpu {

// Takes up to 2^42 numbers.
template <std::floating_point F>
class WindowedSum {
 public:
  using Value = F;
  using State = ExactSum<F, 1>;

  void Add(F x) {
    const uint32_t flags = ExactSumFlagsOf(x);
    flags_ |= flags;
    const DecomposedFloat d = Decompose(x);
    if ((flags & kSawNan) != 0 || d.significand == 0) return;
    if (d.position - first_ > kOffsetMax) MoveTo(d.position);
    const Int128 addend = static_cast<Int128>(d.significand) << (d.position - first_);
    window_ += d.negative ? -addend : addend;
  }

  void Merge(const WindowedSum& other) { sum_.Merge(other.Total()); }

  State Total() const {
    State total = sum_;
    AddWindowTo(total);
    total.AddFlags(flags_);
    return total;
  }

 private:
  // Addends have at most 85 bits: 2^42 of them leave the sign bit of 128 alone.
  static constexpr uint32_t kOffsetMax = 85 - FloatFormat<F>::kPrecision;

  // Puts the position in the middle of the window.
  void MoveTo(uint32_t position) {
    AddWindowTo(sum_);
    window_ = 0;
    first_ = position < kOffsetMax / 2 ? 0 : position - kOffsetMax / 2;
  }

  void AddWindowTo(State& sum) const {
    const bool negative = window_ < 0;
    const Uint128 bits = static_cast<Uint128>(window_);
    sum.AddInteger(negative ? Uint128{0} - bits : bits, first_, negative);
  }

  Int128 window_ = 0;  // In units of 2^(kLowestExponent + first_).
  uint32_t first_ = 0;
  uint32_t flags_ = 0;
  State sum_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_HISTOGRAM_WINDOWED_SUM_H_
