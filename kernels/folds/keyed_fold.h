// Reductions by key of keys and values that arrive in pieces: which batches an engine is to run,
// and how their groups become the answer of one run over all values, bit for bit, however they were
// cut.
//
//   while (const KeyedReductionPlan* batch = fold->NextBatch(keys that are there)) {
//     used = fold->Add(lane.RunKeyedReduction(*batch, the first of them, ...), keys of the batch)
//     the first `used` keys and values are done with
//   }
//   fold->Finish(stop)
//
// Holds the states of the groups that have elements; of those nothing. Not thread-safe.
#ifndef GRIDFOLD_KERNELS_FOLDS_KEYED_FOLD_H_
#define GRIDFOLD_KERNELS_FOLDS_KEYED_FOLD_H_

#include <cstdint>
#include <memory>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/accumulators/keyed_accumulator.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/keyed_reduction.h"

namespace gridfold::kernels {

// What a fold is made of.
struct KeyedFoldSpec {
  // Complete, of no keys. Planned with return_states, which refuses what cannot be merged;
  // `reduction.return_states` says whether the answer comes with an accumulator.
  KeyedReductionPlan plan;
  uint64_t key_count_max = 0;  // Of the request, for the accumulator of found keys.
  uint64_t first_index = 0;    // Of the first value, in argmin and argmax.
  LaneOptions lane;            // Of the lanes that run the batches.
};

class KeyedFold {
 public:
  static std::unique_ptr<KeyedFold> Make(KeyedFoldSpec spec);
  virtual ~KeyedFold() = default;

  // Of what is known of the keys so far.
  virtual const KeyedReductionPlan& plan() const = 0;

  virtual uint64_t state_bytes() const = 0;

  // What to run of the keys that are there; null where there are none. Valid until the next call.
  virtual const KeyedReductionPlan* NextBatch(uint64_t available_keys) = 0;

  // Takes the result of the last batch, whose keys these are; returns how many of them it has used,
  // which is none where NextBatch will ask for fewer of the same: those have more groups than a
  // lane takes. Errors: those of the run; more found keys than there may be; INVALID_ARGUMENT that
  // names "first_index" where indices do not fit in 64 bits.
  virtual absl::StatusOr<uint64_t> Add(absl::StatusOr<KeyedReductionResult> result,
                                       const HostSlices& keys) = 0;

  // The answer for all keys. The accumulator is empty where none was asked for. To be called once,
  // last. Errors: those of a run of all keys; CANCELLED.
  virtual absl::StatusOr<KeyedPart> Finish(const std::stop_token& stop) = 0;

  // The bins, and how many keys are in none of them.
  virtual const KeyedReductionResult& outcomes() const = 0;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_KEYED_FOLD_H_
