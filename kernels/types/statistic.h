// The statistics of a reduction, their names and the kinds of their values.
#ifndef GRIDFOLD_KERNELS_TYPES_STATISTIC_H_
#define GRIDFOLD_KERNELS_TYPES_STATISTIC_H_

#include <cstdint>

#include "kernels/types/element_type.h"

namespace gridfold::kernels {

enum class Statistic : uint8_t {
  kCount,
  kSum,
  kProduct,
  kMin,
  kMax,
  kArgmin,
  kArgmax,
  kMean,
  kVariance,
  kStandardDeviation,
  kL1Norm,
  kL2Norm,
  kNonzeroCount,
  kNanCount,
  kInfinityCount,
  kAll,
  kAny,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
};

inline constexpr int kStatisticCount = 20;

// How the 8 bytes of a value are read.
enum class ValueKind : uint8_t { kInt64, kUint64, kDouble, kBool };

// "count", "sum", ... "bitwise_xor".
const char* StatisticName(Statistic statistic);

// Whether the statistic of no elements is an error.
bool NeedsElements(Statistic statistic);

bool IsBitwise(Statistic statistic);

// Kind of the values of `statistic` for elements of `type`.
ValueKind ValueKindOf(Statistic statistic, ElementType type);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_STATISTIC_H_
