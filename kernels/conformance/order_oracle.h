// Quantiles and the largest or smallest elements by sorting, in code of its own.
#ifndef GRIDFOLD_KERNELS_CONFORMANCE_ORDER_ORACLE_H_
#define GRIDFOLD_KERNELS_CONFORMANCE_ORDER_ORACLE_H_

#include "absl/status/statusor.h"
#include "kernels/conformance/test_array.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/top.h"

namespace gridfold::kernels::conformance {

// Fails the running test where the results are not those of the specs. Require groups that are
// large enough.
void CheckQuantiles(const TestArray& array, const QuantileSpec& spec,
                    const absl::StatusOr<QuantileResult>& result);
void CheckTop(const TestArray& array, const TopSpec& spec, const absl::StatusOr<TopResult>& result);

}  // namespace gridfold::kernels::conformance

#endif  // GRIDFOLD_KERNELS_CONFORMANCE_ORDER_ORACLE_H_
