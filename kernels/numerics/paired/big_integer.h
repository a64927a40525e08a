// Integers of any size, for what is made of exact sums: products of sums, and quotients and roots
// of them that are rounded once.
//
// Sign and magnitude. Plain and not fast: they are used once for each answer, and never for each
// element. Host only.
#ifndef GRIDFOLD_KERNELS_NUMERICS_PAIRED_BIG_INTEGER_H_
#define GRIDFOLD_KERNELS_NUMERICS_PAIRED_BIG_INTEGER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/numerics/arithmetic/exact_quotient.h"

namespace gridfold::kernels {

class BigInteger {
 public:
  BigInteger() = default;  // 0.
  explicit BigInteger(uint64_t x);
  // The number that limbs are in two's complement, least significant limb first.
  static BigInteger OfSigned(std::span<const uint64_t> limbs);

  bool is_zero() const { return magnitude_.empty(); }
  bool is_negative() const { return negative_; }
  int bit_length() const;
  // Least significant limb first; the last one is not 0.
  const std::vector<uint64_t>& magnitude() const { return magnitude_; }

  BigInteger Times(const BigInteger& other) const;
  BigInteger Minus(const BigInteger& other) const;
  // Times 2^bits.
  BigInteger ShiftedUp(int bits) const;

 private:
  void Trim();

  bool negative_ = false;  // Not of 0.
  std::vector<uint64_t> magnitude_;
};

// |numerator / denominator| * 2^exponent: its leading bits, and whether there are others. Requires
// a denominator other than 0.
LeadingBits LeadingRatio(const BigInteger& numerator, const BigInteger& denominator, int exponent);

// numerator / denominator * 2^exponent, rounded once. Requires a denominator above 0.
double RoundedRatio(const BigInteger& numerator, const BigInteger& denominator, int exponent);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_PAIRED_BIG_INTEGER_H_
