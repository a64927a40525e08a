// What a scan must answer: integers and extremes by a loop, floating-point sums and products by the
// tree that the documentation fixes, exact sums by exact arithmetic.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_SCAN_ORACLE_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_SCAN_ORACLE_H_

#include "absl/status/statusor.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/scan.h"

namespace gridfold::kernels::conformance {

// Expects `result` to be the answer to `spec`, bit for bit (but any NaN for a NaN), or OUT_OF_RANGE
// where a result does not fit its type.
void CheckScan(const TestArray& array, const ScanSpec& spec,
               const absl::StatusOr<TestArray>& result);

// Expects every element of a floating-point running sum to lie within the bound of
// kernels/contract/scan.h, and one rounding to the output's type, of the exact one. No prefix may
// pass the largest number.
void CheckSumsAgainstExactOnes(const TestArray& array, const ScanSpec& spec,
                               const TestArray& result);

// The first element at which two arrays of one type differ, other than by which NaN; their size
// where there is none.
uint64_t FirstDifference(const TestArray& a, const TestArray& b);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_SCAN_ORACLE_H_
