// What statistics of two columns must be, by exact arithmetic that shares no code with numerics/.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_PAIRED_ORACLE_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_PAIRED_ORACLE_H_

#include "absl/status/statusor.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/paired.h"

namespace gridfold::kernels::conformance {

// Arrays of a request, of finite elements unless the policy ignores NaNs. x is a matrix where its
// columns are related.
struct PairedArrays {
  const TestArray& x;
  const TestArray* y = nullptr;
  const TestArray* weights = nullptr;
};

// Fails the running test where a value is not the exact one, rounded to the nearest.
void CheckPaired(const PairedArrays& arrays, const PairedSpec& spec,
                 const absl::StatusOr<PairedResult>& result);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_PAIRED_ORACLE_H_
