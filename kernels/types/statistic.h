// The statistics of a reduction: what is known of each besides how its value is made of a state,
// which numerics/statistics/statistic_value.h says.
#ifndef GRIDFOLD_KERNELS_TYPES_STATISTIC_H_
#define GRIDFOLD_KERNELS_TYPES_STATISTIC_H_

#include <cstdint>

#include "kernels/types/element_type.h"
#include "kernels/types/policies.h"

namespace gridfold::kernels {

// Accumulators hold these numbers: a new statistic takes the next.
enum class Statistic : uint8_t {
  kCount = 0,
  kSum = 1,
  kProduct = 2,
  kMin = 3,
  kMax = 4,
  kArgmin = 5,
  kArgmax = 6,
  kMean = 7,
  kVariance = 8,
  kStandardDeviation = 9,
  kL1Norm = 10,
  kL2Norm = 11,
  kNonzeroCount = 12,
  kNanCount = 13,
  kInfinityCount = 14,
  kAll = 15,
  kAny = 16,
  kBitwiseAnd = 17,
  kBitwiseOr = 18,
  kBitwiseXor = 19,
  kRange = 20,
  kRootMeanSquare = 21,
  kStandardError = 22,
};

// How the 8 bytes of a value are read.
enum class ValueKind : uint8_t { kInt64, kUint64, kDouble, kBool };

// How a value came out.
enum class ValueOutcome : uint8_t {
  kOk,
  kOverflow,  // An integer sum or product outside 64 bits.
  kNothing,   // The index of no element: all are ignored NaNs.
};

// What the values of a statistic are, whatever the elements' type.
enum class ValueClass : uint8_t {
  kCount,     // How many elements, or which: uint64.
  kElement,   // int64, uint64 or float64, as the elements are.
  kDistance,  // Between two elements: uint64 of integers, else float64.
  kReal,      // float64.
  kTruth,     // bool.
};

struct StatisticTraits {
  const char* name = nullptr;
  ValueClass values = ValueClass::kCount;
  bool needs_elements = false;  // The statistic of no elements is an error.
  // The statistic of no more elements than the degrees of freedom is an error.
  bool uses_degrees_of_freedom = false;
  bool needs_integers = false;
  bool is_index = false;
  // Why a group of enough elements may have no value, by the policy for it.
  ValueOutcome failure = ValueOutcome::kOk;
};

// The traits of a statistic; no name where there is none of the number.
constexpr StatisticTraits TraitsOf(Statistic statistic) {
  using enum ValueClass;
  switch (statistic) {
    case Statistic::kCount: return {.name = "count"};
    case Statistic::kSum:
      return {.name = "sum", .values = kElement, .failure = ValueOutcome::kOverflow};
    case Statistic::kProduct:
      return {.name = "product", .values = kElement, .failure = ValueOutcome::kOverflow};
    case Statistic::kMin: return {.name = "min", .values = kElement, .needs_elements = true};
    case Statistic::kMax: return {.name = "max", .values = kElement, .needs_elements = true};
    case Statistic::kArgmin:
      return {.name = "argmin",
              .needs_elements = true,
              .is_index = true,
              .failure = ValueOutcome::kNothing};
    case Statistic::kArgmax:
      return {.name = "argmax",
              .needs_elements = true,
              .is_index = true,
              .failure = ValueOutcome::kNothing};
    case Statistic::kMean: return {.name = "mean", .values = kReal, .needs_elements = true};
    case Statistic::kVariance:
      return {.name = "variance",
              .values = kReal,
              .needs_elements = true,
              .uses_degrees_of_freedom = true};
    case Statistic::kStandardDeviation:
      return {.name = "standard_deviation",
              .values = kReal,
              .needs_elements = true,
              .uses_degrees_of_freedom = true};
    case Statistic::kL1Norm: return {.name = "l1_norm", .values = kReal};
    case Statistic::kL2Norm: return {.name = "l2_norm", .values = kReal};
    case Statistic::kNonzeroCount: return {.name = "nonzero_count"};
    case Statistic::kNanCount: return {.name = "nan_count"};
    case Statistic::kInfinityCount: return {.name = "infinity_count"};
    case Statistic::kAll: return {.name = "all", .values = kTruth};
    case Statistic::kAny: return {.name = "any", .values = kTruth};
    case Statistic::kBitwiseAnd:
      return {.name = "bitwise_and", .values = kElement, .needs_integers = true};
    case Statistic::kBitwiseOr:
      return {.name = "bitwise_or", .values = kElement, .needs_integers = true};
    case Statistic::kBitwiseXor:
      return {.name = "bitwise_xor", .values = kElement, .needs_integers = true};
    case Statistic::kRange: return {.name = "range", .values = kDistance, .needs_elements = true};
    case Statistic::kRootMeanSquare:
      return {.name = "root_mean_square", .values = kReal, .needs_elements = true};
    case Statistic::kStandardError:
      return {.name = "standard_error",
              .values = kReal,
              .needs_elements = true,
              .uses_degrees_of_freedom = true};
  }
  return {};
}

constexpr int CountStatistics() {
  int count = 0;
  while (TraitsOf(static_cast<Statistic>(count)).name != nullptr) ++count;
  return count;
}
// Their numbers are those below this.
inline constexpr int kStatisticCount = CountStatistics();

// "count", "sum", ... "standard_error".
constexpr const char* StatisticName(Statistic statistic) { return TraitsOf(statistic).name; }

// Whether elements of the type have the statistic.
constexpr bool IsDefinedFor(Statistic statistic, ElementType type) {
  return !TraitsOf(statistic).needs_integers || !IsFloatingPoint(type);
}

// Kind of the values of `statistic` for elements of `type`.
ValueKind ValueKindOf(Statistic statistic, ElementType type);

// How a value may come out of a group of enough elements, if not as kOk.
ValueOutcome PossibleFailure(Statistic statistic, ElementType type, NanPolicy nan_policy,
                             OverflowPolicy overflow_policy);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_TYPES_STATISTIC_H_
