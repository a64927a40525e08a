// Scans: the running sum, product, minimum or maximum of an array or of each of its groups, and the
// moving sum or mean of its last elements.
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
//
// Moving sums and means: each result is of the last `window` elements of its group up to and with
// its own, or of all of them where there are not so many yet, and exact and rounded once in the
// same way: it has the bits of summing those elements by themselves. A mean without a window is of
// all elements up to its own. Ignored NaNs do not count, and where fewer elements than min_count
// count, or none of a mean, the result is NaN. An engine keeps, beside the array, at most a quarter
// of its bytes where a window is longer than 512 elements, and nothing else
// (numerics/scans/moving_chunk.h).
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
  std::optional<uint64_t> window{};  // Of sums and means.
  uint64_t min_count = 0;            // Of moving ones.
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
  uint64_t window = 0;     // Elements that a moving scan's results are of; 0: not a moving one.
  uint64_t min_count = 0;  // Elements that must count, or the result is NaN. Of moving scans.

  bool is_moving() const { return window != 0; }
  uint64_t output_size_bytes() const { return array.element_count * ElementSize(output_type); }
};

// Errors (INVALID_ARGUMENT, field in the payload): those of PlanGrouping; an output type that is
// neither the array's own nor its accumulator type, is not the array's own for min and max, or is
// not a floating-point one for means; an exact scan that is neither a sum nor a mean; a window of
// another operation, or of no elements; a moving scan that is exclusive; a min_count of a scan that
// is not moving, above its window, or above 1 where results are integers; more than
// kScanElementsMax elements.
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
// of rows or columns or moving, or has elements and the parts so far were not cut at
// kScanCarryElements.
absl::Status CheckScanContinues(const ScanPlan& plan, const ScanCarry& carry);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_SCAN_H_
