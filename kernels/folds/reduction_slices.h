// States of groups that all parts of an array have, as its columns: made one, and rounded, by
// slices of the groups, in as many threads as there are. The states are the host's, or were left
// with the engines that made them, which then merge them.
//
//   std::unique_ptr<ReductionSlices> slices = ReductionSlices::Make(plan, states of parts, count);
//   in any threads, for every slice:
//     status = slices->Merge(slice, lane, stop)
//   when all of them have returned OK:
//     result = slices->Finish()
#ifndef GRIDFOLD_KERNELS_FOLDS_REDUCTION_SLICES_H_
#define GRIDFOLD_KERNELS_FOLDS_REDUCTION_SLICES_H_

#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

class ReductionSlices {
 public:
  // `plan` is that of the whole array, of one group or of columns, and must outlive the slices.
  // Each part has a state for every group, with the indices of the whole; none where there are no
  // elements. Takes no time in proportion to the groups, but room for their values.
  static std::unique_ptr<ReductionSlices> Make(const ReductionPlan& plan,
                                               std::vector<ReductionStates> parts,
                                               size_t slice_count);
  // Of what Lane::ReduceInto left of each part, of columns: as many slices as parts, each for a
  // lane of the engine that has the part of its number.
  static std::unique_ptr<ReductionSlices> MakeResident(const ReductionPlan& plan,
                                                       std::vector<ResidentStates> parts);
  virtual ~ReductionSlices() = default;

  // Thread-safe for different slices; once for each. Errors: CANCELLED; of resident states, those
  // of Lane::MergeStates but for those of values, which Finish tells.
  virtual absl::Status Merge(size_t slice, Lane& lane, const std::stop_token& stop) = 0;

  // The values, and where the plan asks for them the states. Once. Errors: that of the first group
  // which has one, as of a run of the whole array.
  virtual absl::StatusOr<ReductionResult> Finish() = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_REDUCTION_SLICES_H_
