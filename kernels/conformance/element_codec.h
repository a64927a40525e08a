// Elements of every type as long double, in which all of them are exact. Formats are read and
// written by their definition, with no code of numerics/.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_ELEMENT_CODEC_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_ELEMENT_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/types/element_type.h"

namespace gridfold::kernels::conformance {

static_assert(std::numeric_limits<long double>::digits >= 64,
              "64-bit integers and float64 numbers must both be exact in the oracles' type");

// A binary floating-point format of 16, 32 or 64 bits.
struct FloatFormat {
  int significand_bits;  // Explicit ones.
  int exponent_bits;

  int max_exponent() const { return (1 << (exponent_bits - 1)) - 1; }
  int min_exponent() const { return 1 - max_exponent(); }
};

FloatFormat FloatFormatOf(ElementType type);

// The number that `bits` stand for in `format`.
double DecodeFloat(FloatFormat format, uint64_t bits);

// x rounded to `format`, to the nearest, ties to even, infinite past the largest number. NaN
// becomes one with the highest bit of the significand set.
uint64_t EncodeFloat(FloatFormat format, double x);

long double ReadElement(ElementType type, const std::byte* data);

// Integers must be values of the type; floating-point numbers are rounded.
void WriteElement(ElementType type, long double value, std::byte* data);

// Largest and smallest finite values of a type.
long double LargestElement(ElementType type);
long double SmallestElement(ElementType type);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_ELEMENT_CODEC_H_
