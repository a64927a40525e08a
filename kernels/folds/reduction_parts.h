// Reductions of an array that is all there, part by part: where it is cut, and the ReductionFold
// that makes one answer of the parts, with the bits of one run.
//
//   fold = MakePartsFold(plan, lane)
//   for (begin = 0; begin < element_count; begin += count)
//     count = PartElements(plan, begin, elements that there is room for)
//     run batches of the fold until they have used the bytes of these elements
//   result = fold->Finish(0)->result
//
// Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_FOLDS_REDUCTION_PARTS_H_
#define GRIDFOLD_KERNELS_FOLDS_REDUCTION_PARTS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/reduction.h"
#include "kernels/folds/reduction_fold.h"

namespace gridfold::kernels {

// Whether the plan can be run in parts, of which none hands out more than `state_bytes_max` of
// states. Floating-point products cannot, and neither can segments, whose offsets every part would
// have to be searched for, nor rows whose states are asked for.
bool CanReduceInParts(const ReductionPlan& plan, uint64_t state_bytes_max);

// The next part is of the elements from `begin` on: as many as one fold uses up, no more than
// `elements_max`, which are kWholeGroupBytesMax bytes or more, and a row or more. `begin` is where
// another part has ended.
uint64_t PartElements(const ReductionPlan& plan, uint64_t begin, uint64_t elements_max);

// The fold of a plan that can be run in parts. Its answer has the states that the plan asks for;
// `lane` has room for every part and its states.
absl::StatusOr<std::unique_ptr<ReductionFold>> MakePartsFold(const ReductionPlan& plan,
                                                             const LaneOptions& lane);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_REDUCTION_PARTS_H_
