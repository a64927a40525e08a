// Histograms of samples that arrive in pieces: which batches an engine is to run, and how their
// counts become the answer of one run over all samples, bit for bit, however they were cut.
//
// Holds the counters of all bins; of the samples nothing. Not thread-safe.
#ifndef GRIDFOLD_KERNELS_FOLDS_HISTOGRAM_FOLD_H_
#define GRIDFOLD_KERNELS_FOLDS_HISTOGRAM_FOLD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/accumulators/histogram_accumulator.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels {

// What each batch of a fold hands out beside the counts of what is in no bin, and the fold holds.
uint64_t CounterBytes(const HistogramPlan& plan);

class HistogramFold {
 public:
  // Whether samples can come in pieces at all: INVALID_ARGUMENT that names bins[i] with an
  // automatic range, which only all samples together tell. `plan` may be an outline.
  static absl::Status Check(const HistogramPlan& plan);

  // `plan` is for no samples; its return_states says whether the answer comes with an accumulator.
  // Errors: those of Check.
  static absl::StatusOr<std::unique_ptr<HistogramFold>> Make(HistogramPlan plan,
                                                             const LaneOptions& lane);

  const HistogramPlan& plan() const { return plan_; }

  uint64_t counter_bytes() const { return CounterBytes(plan_); }

  // The plan for the first of the samples that are there, to be run with return_states; null where
  // there are too few. Valid until the next call.
  const HistogramPlan* NextBatch(uint64_t available_samples);

  // Takes the result of the last batch; the counters of the first one stay where they are.
  void Add(HistogramResult result);

  // The answer for all samples; `rest_samples` are left and no batch. The accumulator is empty
  // where none was asked for. Errors: INVALID_ARGUMENT that names "channel_count" where samples are
  // left; CANCELLED.
  absl::StatusOr<HistogramMerge> Finish(uint64_t rest_samples, const std::stop_token& stop);

  // In place of Finish: what an engine returns for the plan of all samples.
  HistogramResult TakeResult() &&;

 private:
  HistogramFold(HistogramPlan plan, const LaneOptions& lane);

  HistogramPlan plan_;
  HistogramPlan batch_;
  const uint64_t samples_max_;  // Of a batch.
  // Dense, with the exact sums of weights where there are weights; none before the first batch.
  std::optional<HistogramResult> total_;
};

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_HISTOGRAM_FOLD_H_
