// Groups whose elements follow one another, for operations that look at a group several times.
#ifndef GRIDFOLD_KERNELS_CONTRACT_CONTIGUOUS_GROUPS_H_
#define GRIDFOLD_KERNELS_CONTRACT_CONTIGUOUS_GROUPS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/contract/segments.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels {

// PlanGrouping, but INTERNAL for columns, which PlanContiguousAxes (axes.h) makes rows.
absl::StatusOr<Grouping> PlanContiguousGroups(const ArrayDescription& array, GroupingSpec spec);

// INVALID_ARGUMENT that names the grouping, or the array where that is one group.
absl::Status CheckIsNotEmpty(const SmallestGroup& smallest);

// How an element's 8 bytes are read.
ValueKind ElementKind(ElementType type);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_CONTIGUOUS_GROUPS_H_
