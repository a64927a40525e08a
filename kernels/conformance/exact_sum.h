// Exact sums of float64 numbers and of their squares: one wide fixed-point number that reaches from
// the smallest square to past the largest (Kulisch's accumulator). Finite addends only.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_EXACT_SUM_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_EXACT_SUM_H_

#include <array>
#include <cstdint>

#include "kernels/conformance/dyadic.h"

namespace gridfold::kernels::conformance {

class ExactSum {
 public:
  void Add(double x);
  void AddSquare(double x);
  Dyadic Value() const;

 private:
  // The last bit of the square of the smallest denormal number.
  static constexpr int kMinExponent = -2148;
  static constexpr int kDigits = 136;

  // Adds integer * 2^exponent, |integer| < 2^62.
  void AddScaled(int64_t integer, int exponent);
  void Carry();

  std::array<int64_t, kDigits> digits_ =
      {};  // Of 32 bits, with room for carries; little end first.
  int additions_ = 0;
};

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_EXACT_SUM_H_
