// Everything that reductions may ask about the elements of a group, by brute force and exactly.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_GROUP_FACTS_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_GROUP_FACTS_H_

#include <cstdint>

#include "kernels/conformance/dyadic.h"
#include "kernels/conformance/test_array.h"

namespace gridfold::kernels::conformance {

struct GroupFacts {
  uint64_t count = 0;  // Without ignored NaNs.
  uint64_t nonzero = 0;
  uint64_t nan = 0;  // Ignored ones too.
  uint64_t positive_infinity = 0;
  uint64_t negative_infinity = 0;
  bool only_negative_zeros = true;

  bool has_extremes = false;
  uint64_t argmin = 0;
  uint64_t argmax = 0;
  long double min = 0;
  long double max = 0;

  // Of the finite elements.
  Dyadic sum;
  Dyadic squares;
  Dyadic magnitudes;

  // Integers.
  __int128 integer_sum = 0;
  uint64_t wrapped_product = 1;
  bool product_fits = true;
  uint64_t bits_and = ~uint64_t{0};
  uint64_t bits_or = 0;
  uint64_t bits_xor = 0;

  double tree_product = 1;  // Floating-point.
};

GroupFacts ExamineGroup(const TestArray& array, const GroupElements& group, bool ignore_nan);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_GROUP_FACTS_H_
