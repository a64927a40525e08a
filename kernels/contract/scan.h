// Scans: the running sum, product, minimum or maximum of an array or of each of its groups.
//
// The result has the input's shape and order. Every engine gives the same bits in every run,
// however the work was cut.
//
// Floating-point sums and products accumulate along the fixed tree of numerics/scans/tree.h, and
// are rounded once to the output type: sums in float64, products with an exponent that has no
// bounds (numerics/arithmetic/scaled_product.h). A running sum that ends at the position p of its
// group (0 is where the scan starts) is off by at most
//
//     d * 2^-53 * (|x_0| + ... + |x_p|) / (1 - d * 2^-53),
//     d = min(p, 35 + p / 131072); along axis 0: min(p, 105 + p / 8192)
//
// before that last rounding, d being the most additions that an element passes through;
// numerics/scans/tree.h proves it. Adding in float64 one element after the other has the bound with
// d = p, which is never smaller. A running sum is infinite only where its elements, or its own
// rounded value, are: parts of the tree that pass the largest float64 do no harm
// (numerics/arithmetic/unbounded_sum.h).
//
// A running minimum or maximum that ignores NaN is NaN until its group's first number. Only the
// first result of an exclusive scan stands for no elements at all: it is the identity.
//
// Exact sums: every result is the exact sum of the elements up to there, rounded once, to the
// nearest, ties to even, whatever the order of additions. A result that is not finite stands for an
// infinity or a NaN among those elements, or for a sum past the largest number of the output type;
// the results after it do not suffer from the latter.
#ifndef GRIDFOLD_KERNELS_CONTRACT_SCAN_H_
#define GRIDFOLD_KERNELS_CONTRACT_SCAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/types/policies.h"
#include "kernels/types/scan_operation.h"

namespace gridfold::kernels {

enum class ScanMode : uint8_t { kInclusive, kExclusive };
enum class ScanDirection : uint8_t { kForward, kReverse };

const char* ScanOperationName(ScanOperation operation);

struct ScanSpec {
  ScanOperation operation = ScanOperation::kSum;
  ScanMode mode = ScanMode::kInclusive;
  ScanDirection direction = ScanDirection::kForward;
  GroupingSpec grouping;
  // Absent: the accumulator type for sums and products of integers, else the array's own type.
  std::optional<ElementType> output_type;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;
  bool exact = false;      // Exact sums of floating-point numbers; those of integers always are.
  std::string strategy{};  // Which is to run it (strategy_error.h); empty: the engine's choice.
};

struct ScanPlan {
  ArrayDescription array;
  ScanOperation operation = ScanOperation::kSum;
  ScanMode mode = ScanMode::kInclusive;
  ScanDirection direction = ScanDirection::kForward;
  Grouping grouping;
  ElementType output_type = ElementType::kInt64;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;
  bool exact = false;      // Only where the array is floating-point and the operation is a sum.
  std::string strategy{};  // Which is to run it; empty: the engine's choice.

  uint64_t output_size_bytes() const { return array.element_count * ElementSize(output_type); }
};

// Errors (INVALID_ARGUMENT, field in the payload): those of PlanGrouping; an output type that is
// neither the array's own nor its accumulator type, or is not the array's own for min and max; an
// exact scan that is not a sum; more than kScanElementsMax elements.
absl::StatusOr<ScanPlan> PlanScan(const ArrayDescription& array, ScanSpec spec);

// The running result of an array's parts so far; initially of none. Only for engines of the same
// kind, and scans of the same element type, operation and policies, as those that filled it.
struct ScanCarry {
  static constexpr size_t kValueBytesMax = 304;

  uint64_t element_count = 0;
  alignas(16) std::array<std::byte, kValueBytesMax> value{};
};

// What the elements of a part come to: an engine makes the carry behind the part of it, before the
// part is scanned. Only for engines and scans as of ScanCarry.
struct ScanTotals {
  uint64_t element_count = 0;
  std::vector<std::byte> values;
};

// Whether `plan`, of the next part of an array, can continue from `carry`. Errors: INVALID_ARGUMENT
// (field in the payload) for more than kScanElementsMax elements in all; INTERNAL where the plan is
// of rows or columns, or has elements and the parts so far were not cut at kScanCarryElements.
absl::Status CheckScanContinues(const ScanPlan& plan, const ScanCarry& carry);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SCAN_H_
