// Reductions of an array that arrives in pieces: which batches an engine is to run, and how their
// results become the answer of one run over the whole array, bit for bit, however it was cut.
//
//   std::unique_ptr<ReductionFold> fold = ...;
//   whenever bytes have arrived, while there is a batch of them:
//     batch = fold->NextBatch(bytes that are there)
//     used = fold->Add(*batch, lane.RunReduction(*batch, the first batch->array.size_bytes()))
//     the first `used` bytes are done with
//   fold->Finish(bytes that are left)
//
// Holds the states of the groups that are open and the values of those that are complete; of the
// elements nothing. Not thread-safe.
#ifndef GRIDFOLD_KERNELS_FOLDS_REDUCTION_FOLD_H_
#define GRIDFOLD_KERNELS_FOLDS_REDUCTION_FOLD_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {

// Groups of consecutive elements, up to this size, are never run in two parts.
inline constexpr uint64_t kWholeGroupBytesMax = uint64_t{1} << 20;

// What a fold is made of.
struct ReductionFoldSpec {
  // Of an array without elements or rows, but for segments, whose last offset is the number of
  // elements. Planned with return_states, which refuses what cannot be merged; `return_states` says
  // whether the answer comes with an accumulator.
  ReductionPlan plan;
  uint64_t first_index = 0;      // Of the first element of each group, in argmin and argmax.
  LaneOptions lane;              // Of the lanes that run the batches.
  uint64_t group_count_max = 0;  // That the answer may have.
};

class ReductionFold {
 public:
  // Errors (INVALID_ARGUMENT, field in the payload, as in the spec of the reduction): rows or their
  // states that no lane takes; where no accumulator is asked for, segments too small for a
  // statistic.
  static absl::StatusOr<std::unique_ptr<ReductionFold>> Make(ReductionFoldSpec spec);
  virtual ~ReductionFold() = default;

  // With so many bytes there is a batch.
  virtual uint64_t batch_bytes_min() const = 0;

  // What to run of the `available_bytes` that are there; nothing where more are needed. Errors
  // (INVALID_ARGUMENT, field in the payload): more elements than the segments have, more groups
  // than allowed, rows too small for a statistic, indices past 64 bits.
  virtual absl::StatusOr<std::optional<ReductionPlan>> NextBatch(uint64_t available_bytes) = 0;

  // Takes the result of the last batch; returns how many bytes it has used, which is none where
  // NextBatch will ask for the same elements in another way. Errors: those of the run; of a group
  // that is complete, as a run of the whole array.
  virtual absl::StatusOr<uint64_t> Add(const ReductionPlan& batch,
                                       absl::StatusOr<ReductionResult> result) = 0;

  // The answer for all elements; `rest_bytes` are left and no batch. The accumulator is empty where
  // none was asked for; where it was, the result of the whole array, or of columns, has their
  // states too. Errors: those of a run of the whole array; INVALID_ARGUMENT that names
  // "data" where the array ends inside an element or a row.
  virtual absl::StatusOr<ReductionMerge> Finish(uint64_t rest_bytes) = 0;

  // The plan of the array as far as it is known; after Finish, of all of it.
  virtual const ReductionPlan& plan() const = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_REDUCTION_FOLD_H_
