// Errors of a reduction that only the elements show.
#ifndef GRIDFOLD_KERNELS_CONTRACT_STATISTIC_ERROR_H_
#define GRIDFOLD_KERNELS_CONTRACT_STATISTIC_ERROR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/reduction.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {

// The error for `outcome`, which is not kOk, of the plan's statistic with this index: OUT_OF_RANGE
// for an overflow; INVALID_ARGUMENT, with the field, for a statistic of nothing.
absl::Status StatisticError(const ReductionPlan& plan, size_t statistic_index, uint64_t group,
                            ValueOutcome outcome);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_STATISTIC_ERROR_H_
