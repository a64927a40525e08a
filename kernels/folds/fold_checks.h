// What folds of reductions check alike. For folds only.
#ifndef GRIDFOLD_KERNELS_FOLDS_FOLD_CHECKS_H_
#define GRIDFOLD_KERNELS_FOLDS_FOLD_CHECKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kernels/contract/reduction.h"
#include "kernels/folds/reduction_fold.h"

namespace gridfold::kernels {

// What batches have in common: all but the array and its groups, which may be many.
ReductionPlan PlanOfBatches(const ReductionPlan& plan);

// Batches that hand out the states of parts. What only the whole may be refused for is no error of
// a part.
ReductionPlan PlanOfParts(const ReductionPlan& plan);

// Whether lanes take a row, and the states of its columns.
absl::Status CheckRow(const ReductionFoldSpec& spec);

// Whether so many bytes are whole elements, and whole rows.
absl::Status CheckWholeRows(const ReductionPlan& plan, uint64_t size_bytes);

// The error of segments whose last offset is not the number of elements, which `count` says.
absl::Status WrongElementCount(const ReductionPlan& plan, const std::string& count);

// The error of more rows than the answer may have.
absl::Status TooManyRows(uint64_t group_count_max);

// The error of indices past 64 bits.
absl::Status IndicesTooLarge();

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_FOLD_CHECKS_H_
