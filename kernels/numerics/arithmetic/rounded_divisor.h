// Quotients of many integers by one divisor, rounded once to the nearest, ties to even: as
// IntegerQuotient's, in fewer steps and the same for all of them. Host and device; compiled without
// contraction.
#ifndef GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ROUNDED_DIVISOR_H_
#define GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ROUNDED_DIVISOR_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

class RoundedDivisor {
 public:
  // Requires a divisor other than 0.
  GRIDFOLD_HD explicit RoundedDivisor(uint64_t divisor)
      : size_(static_cast<double>(divisor)),
        inverse_(1 / size_),
        shift_(LeadingZeros(divisor)),
        limb_divisor_(divisor << shift_) {}

  // Of an integer of up to 53 bits, or the negative of one, by a divisor of up to 53.
  //
  // The second quotient is one of the two numbers around the true one, and a number so near that is
  // not the nearest becomes it by the step that follows, which takes the remainder as it is
  // (Markstein 1990, "Computation of elementary functions on the IBM RISC System/6000 processor").
  GRIDFOLD_HD double QuotientOfDouble(double x) const {
    double quotient = x * inverse_;
    quotient = fma(fma(-quotient, size_, x), inverse_, quotient);
    return fma(fma(-quotient, size_, x), inverse_, quotient);
  }

  // Limbs are chosen and not branched for: threads with numbers of any size do the same.
  GRIDFOLD_HD double Quotient(const Uint192& x) const {
    const uint64_t(&limbs)[3] = x.limbs;
    const bool has_third = limbs[2] != 0;
    const bool has_second = limbs[1] != 0;
    const uint64_t first = has_third ? limbs[2] : has_second ? limbs[1] : limbs[0];
    const uint64_t second = has_third ? limbs[1] : has_second ? limbs[0] : 0;
    const uint64_t third = has_third ? limbs[0] : 0;
    const int unit = has_third ? kLimbBits : has_second ? 0 : -kLimbBits;
    return first == 0 ? 0 : QuotientOfLimbs(first, second, third, unit);
  }
  GRIDFOLD_HD double Quotient(Uint128 x) const {
    return Quotient(Uint192{{static_cast<uint64_t>(x), static_cast<uint64_t>(x >> kLimbBits), 0}});
  }
  GRIDFOLD_HD double Quotient(Int128 x) const {
    const double magnitude = Quotient(x < 0 ? -static_cast<Uint128>(x) : static_cast<Uint128>(x));
    return x < 0 ? -magnitude : magnitude;
  }

 private:
  // Of (first * 2^128 + second * 2^64 + third) * 2^(unit - 64). Requires a first other than 0.
  //
  // Both numbers are shifted to where their first bits are set, and the dividend down by one, so
  // that its upper limb is smaller than the divisor: the quotient has 63 or 64 bits. Its last bit
  // tells of what is cut off too, which is all that rounding it to 53 needs.
  GRIDFOLD_HD double QuotientOfLimbs(uint64_t first, uint64_t second, uint64_t third,
                                     int unit) const {
    const int shift = LeadingZeros(first);
    const uint64_t high = first << shift | (second >> 1) >> (kLimbBits - 1 - shift);
    const uint64_t low = second << shift | (third >> 1) >> (kLimbBits - 1 - shift);
    uint64_t rest = high >> 1;
    const uint64_t quotient = limb_divisor_.Divide(rest, high << (kLimbBits - 1) | low >> 1);
    const bool has_fraction = (rest | (low & 1) | third << shift) != 0;
    const double rounded = static_cast<double>(quotient | (has_fraction ? 1 : 0));
    constexpr int kExponentBegin = 52;
    const int64_t scale = unit + 1 + shift_ - shift;
    return std::bit_cast<double>(std::bit_cast<uint64_t>(rounded) +
                                 (static_cast<uint64_t>(scale) << kExponentBegin));
  }

  double size_;
  double inverse_;
  int shift_;
  LimbDivisor limb_divisor_;  // The divisor, shifted.
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_ARITHMETIC_ROUNDED_DIVISOR_H_
