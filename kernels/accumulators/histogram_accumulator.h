// Accumulators of histograms: the counts, or the exact sums of weights, of all bins, as bytes that
// any server can merge.
//
// Merging is associative and commutative, bit for bit. Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_ACCUMULATOR_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_ACCUMULATOR_H_

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels {

struct HistogramMerge {
  HistogramResult result;
  std::string accumulator;
};

// A plan for the states of `plan`: with return_states, dense and without quantiles.
HistogramPlan PlanStates(HistogramPlan plan);

// The accumulator for `plan`, of what an engine returned for PlanStates(plan). Errors: INTERNAL
// where it returned no dense counts or, with weights, no states.
absl::StatusOr<std::string> MakeHistogramAccumulator(const HistogramPlan& plan,
                                                     const HistogramResult& result);

// The accumulator of the samples, as above, and the answer for the part that the samples are.
// Further errors: CANCELLED.
absl::StatusOr<HistogramMerge> MakeHistogramPart(const HistogramPlan& plan,
                                                 const HistogramResult& result,
                                                 const std::stop_token& stop);

// The most bytes that an accumulator of `plan`, or the states that it is made of, can take.
uint64_t HistogramAccumulatorBytesMax(const HistogramPlan& plan);

// The plan that the accumulator with this body answers, with resolved bins and as many elements as
// it has samples. Errors: INVALID_ARGUMENT, without a field: bytes that do not follow the format;
// more than kAccumulatedElementsMax samples; more channels than `channel_count_max`; those of
// PlanHistogram.
absl::StatusOr<HistogramPlan> PlanOfHistogramBody(absl::string_view body, uint64_t bin_count_max,
                                                  uint32_t channel_count_max);

// The number of samples of `body`. INVALID_ARGUMENT that says in what `body` differs from `first`,
// where they cannot be merged. Both are bodies of histograms; PlanOfHistogramBody accepts the
// first.
absl::StatusOr<uint64_t> SamplesOfAgreeingBody(absl::string_view first, absl::string_view body);

// Folds accumulators with these bodies, all of the same header as the first, which `plan` was made
// of. Takes memory in proportion to the bodies and to the plan's bins, time in proportion to the
// same. Errors: INVALID_ARGUMENT as AccumulatorError gives it, for bytes that do not follow the
// format or for more than kAccumulatedElementsMax samples; that names `subtrahends`, where what is
// taken out was not in the minuend, or cannot be told from it (state_difference.h); CANCELLED.
absl::StatusOr<HistogramMerge> FoldHistograms(Combination combination, const HistogramPlan& plan,
                                              std::span<const absl::string_view> bodies,
                                              const std::stop_token& stop);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_ACCUMULATOR_H_
