// Scans: the running sum, product, minimum or maximum of an array or of each of its groups.
//
// The result has the input's shape and order. Floating-point sums and products accumulate in
// float64 along the fixed tree of numerics/scan_tree.h and are rounded once for each element, so
// every engine gives the same bits in every run.
#ifndef GRIDFOLD_KERNELS_SCAN_H_
#define GRIDFOLD_KERNELS_SCAN_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "kernels/array.h"
#include "kernels/policies.h"

namespace gridfold::kernels {

enum class ScanOperation : uint8_t { kSum, kProduct, kMin, kMax };
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

  uint64_t output_size_bytes() const { return array.element_count * ElementSize(output_type); }
};

// Errors (INVALID_ARGUMENT, field in the payload): those of PlanGrouping; an output type that is
// neither the array's own nor its accumulator type, or is not the array's own for min and max; more
// than kScanElementsMax elements.
absl::StatusOr<ScanPlan> PlanScan(const ArrayDescription& array, ScanSpec spec);

// Sums of 32-bit integers accumulate in 64 bits, which 2^32 of them cannot overflow.
inline constexpr uint64_t kScanElementsMax = uint64_t{1} << 32;

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_SCAN_H_
