// What stands before the groups of an accumulator of a reduction, by key or not. For
// *_accumulator.cc and keyed_merge.cc only.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_HEADER_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_HEADER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

struct ReductionHeader {
  ElementType element_type{};
  NanPolicy nan_policy{};
  OverflowPolicy overflow_policy{};
  uint64_t delta_degrees_of_freedom = 0;
  std::vector<Statistic> statistics;
  uint64_t group_count = 0;
};

// Reads what WriteReductionHeader (reduction_finish.h) has written. The reader fails where more
// groups are claimed than bytes follow.
ReductionHeader ReadReductionHeader(AccumulatorReader& reader);

// INVALID_ARGUMENT, without a field, where there are more groups.
absl::Status CheckGroupCount(const ReductionHeader& header, uint64_t group_count_max);

// The spec of a header, with return_states and without a grouping.
ReductionSpec SpecOf(ReductionHeader header);

// In what headers differ, but for the number of groups; null where they are alike.
const char* DifferenceOf(const ReductionHeader& a, const ReductionHeader& b);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_REDUCTION_HEADER_H_
