// Steps of PlanReduction (reduction.h), for others that plan reductions.
#ifndef GRIDFOLD_KERNELS_CONTRACT_REDUCTION_CHECKS_H_
#define GRIDFOLD_KERNELS_CONTRACT_REDUCTION_CHECKS_H_

#include "absl/status/statusor.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

// A plan whose groups may be too small for its statistics. Other errors: those of PlanReduction.
absl::StatusOr<ReductionPlan> PlanGroupsOfAnySize(const ArrayDescription& array,
                                                  ReductionSpec spec);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_REDUCTION_CHECKS_H_
