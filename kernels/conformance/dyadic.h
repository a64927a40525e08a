// Exact numbers of the form integer * 2^exponent, of any size: what sums, products and squares of
// floating-point numbers are. An oracle for tests: plain and slow, shares nothing with numerics/.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_DYADIC_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_DYADIC_H_

#include <cstdint>
#include <vector>

#include "kernels/conformance/element_codec.h"

namespace gridfold::kernels::conformance {

class Dyadic {
 public:
  Dyadic() = default;
  Dyadic(bool negative, std::vector<uint32_t> magnitude, int exponent);

  // A finite x.
  static Dyadic FromDouble(double x);
  static Dyadic FromInteger(__int128 x);

  Dyadic Plus(const Dyadic& other) const;
  Dyadic Minus(const Dyadic& other) const;
  Dyadic Times(const Dyadic& other) const;

  // The quotient, cut off no earlier than 192 bits below its leading bit; a bit set at the very end
  // stands for all that was cut off, so that rounding it later is rounding the exact quotient.
  Dyadic DividedBy(uint64_t divisor) const;

  // -1, 0 or 1.
  int Sign() const;
  bool operator==(const Dyadic& other) const { return Minus(other).Sign() == 0; }

  // Nearest number of the format, ties to even; infinite past the largest number. Zero is +0.0.
  double RoundedTo(FloatFormat format) const;
  double ToDouble() const { return RoundedTo({52, 11}); }
  // Cut off after 64 bits.
  long double ToLongDouble() const;

 private:
  int BitLength() const;
  bool Bit(int i) const;
  // magnitude / 2^count, cut off.
  uint64_t TopBits(int count) const;
  Dyadic ShiftedTo(int exponent) const;  // exponent <= exponent_.
  void Normalize();

  bool negative_ = false;
  std::vector<uint32_t> magnitude_;  // Little end first; no zero at the big end.
  int exponent_ = 0;
};

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_DYADIC_H_
