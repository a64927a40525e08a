// Reproducible arrays of numbers that are hard on an engine in one way or another.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_TEST_DATA_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_TEST_DATA_H_

#include <cstdint>
#include <vector>

#include "kernels/conformance/test_array.h"

namespace gridfold::kernels::conformance {

enum class DataKind {
  kSmall,    // A few small numbers, halves and quarters of integers where the type has them: every
             // sum of fewer than 2^45 of them is exact in float64.
  kWide,     // The type's whole range; floating-point: either sign, many magnitudes, all finite.
  kSpecial,  // kWide with NaN, infinities, zeros of both signs, denormals and the type's extremes.
};

TestArray MakeData(const ArrayDescription& description, DataKind kind, uint64_t seed,
                   size_t misalignment = 0);
TestArray MakeVector(ElementType type, uint64_t size, DataKind kind, uint64_t seed,
                     size_t misalignment = 0);

// Numbers spread evenly over [lower, upper); integers below them where the type is one. The bounds
// must lie within the type's range.
TestArray MakeUniform(ElementType type, uint64_t size, long double lower, long double upper,
                      uint64_t seed, size_t misalignment = 0);

// Sizes at which engines change their path: none, one, around powers of two from 32 to 131,072.
std::vector<uint64_t> SizesAtEdges();

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_TEST_DATA_H_
