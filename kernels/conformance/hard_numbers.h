// Reproducible arrays of floating-point numbers that are hard on sums.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_HARD_NUMBERS_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_HARD_NUMBERS_H_

#include <cstdint>

#include "kernels/conformance/test_array.h"

namespace gridfold::kernels::conformance {

// Kinds of data that are hard on sums.
enum class Hard { kAnyNumbers, kCancelling, kSubnormal, kNearOverflow, kTies, kZeros, kSpecial };
inline constexpr Hard kAllHard[] = {Hard::kAnyNumbers,   Hard::kCancelling, Hard::kSubnormal,
                                    Hard::kNearOverflow, Hard::kTies,       Hard::kZeros,
                                    Hard::kSpecial};

// The smallest number of a floating-point type above 0.
long double SmallestNumber(ElementType type);

TestArray MakeHard(const ArrayDescription& description, Hard kind, uint64_t seed);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_HARD_NUMBERS_H_
