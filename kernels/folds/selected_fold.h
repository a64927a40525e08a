// Reductions of the elements of an array that a mask selects, where both arrive in pieces. The
// elements that count are reduced by key, the number of their group being the key, so that what
// ReductionFold does with all elements is done here whatever the groups are; the answer has the
// bits of one run over the selected elements of each group.
//
//   while (fold->NextBatch(elements of which the mask is there too) > 0) {
//     fold->Select(the first batch_size() elements, their mask)
//     used = fold->Add(lane.RunKeyedReduction(fold->plan_of_batch(), fold->input(), ...))
//     the first `used` elements and bytes of the mask are done with
//   }
//   fold->Finish(bytes that are left)
//
// Holds the states of the groups that are open, the values of those that are complete, and the
// selected elements of one batch. Not thread-safe.
#ifndef GRIDFOLD_KERNELS_FOLDS_SELECTED_FOLD_H_
#define GRIDFOLD_KERNELS_FOLDS_SELECTED_FOLD_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/folds/reduction_fold.h"

namespace gridfold::kernels {

class SelectedFold {
 public:
  // `spec` is one for ReductionFold, without an accumulator. Errors: those of ReductionFold::Make
  // but for segments that are too small.
  static absl::StatusOr<std::unique_ptr<SelectedFold>> Make(ReductionFoldSpec spec);
  virtual ~SelectedFold() = default;

  virtual uint64_t state_bytes() const = 0;

  // How many of the elements that are there are taken next. Errors: as ReductionFold::NextBatch.
  virtual absl::StatusOr<uint64_t> NextBatch(uint64_t available_elements) = 0;

  // `elements` are those of the batch, `mask` a byte, 0 or 1, for each.
  virtual void Select(const HostSlices& elements, const HostSlices& mask) = 0;

  // Of what was selected, of which there may be nothing; valid until the next Select.
  virtual const KeyedReductionPlan& plan_of_batch() const = 0;
  virtual KeyedInput input() const = 0;

  // Takes what came of the batch; returns how many elements of the array it has used, which is none
  // where NextBatch will ask for fewer of the same: those have more groups than a lane takes.
  virtual absl::StatusOr<uint64_t> Add(absl::StatusOr<KeyedReductionResult> result) = 0;

  // The answer for all elements; `rest_bytes` are left and no batch. To be called once, last.
  // Errors: a group of which too few elements count (INVALID_ARGUMENT, "statistics[i]"); those of
  // ReductionFold::Finish.
  virtual absl::StatusOr<ReductionMerge> Finish(uint64_t rest_bytes) = 0;

  // The plan of the array as far as it is known; after Finish, of all of it.
  virtual const ReductionPlan& plan() const = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_SELECTED_FOLD_H_
