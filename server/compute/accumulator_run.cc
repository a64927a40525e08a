// Runs merges and subtractions of accumulators.
#include <chrono>
#include <utility>
#include <variant>

#include "kernels/accumulators/accumulator.h"
#include "kernels/contract/invalid_field.h"
#include "server/compute/planned_run.h"
#include "server/planning/answer_size.h"
#include "server/wire/answer_conversion.h"

namespace gridfold::server {

namespace {

// How many keys are found shows in the fold, which ends where there are more than an answer has
// room for; other answers are bounded by the operation.
absl::Status Bound(const Limits& limits, kernels::MergePlan& plan) {
  if (auto* const keyed = std::get_if<kernels::KeyedMergePlan>(&plan.operation)) {
    BoundFoundKeys(limits, keyed->keyed);
    return absl::OkStatus();
  }
  if (const auto* const reduction = std::get_if<kernels::ReductionPlan>(&plan.operation)) {
    return CheckAnswerSize(*reduction, limits);
  }
  return CheckAnswerSize(std::get<kernels::HistogramPlan>(plan.operation), limits);
}

// The answer of a plan, of which the field `first` has the operation.
absl::StatusOr<v1::MergeAccumulatorsResponse> FoldAccumulators(
    absl::StatusOr<kernels::MergePlan> plan, absl::string_view first, bool partial,
    const Limits& limits, const std::stop_token& stop) {
  if (!plan.ok()) return plan.status();
  const absl::Status size = Bound(limits, *plan);
  if (!size.ok()) return kernels::AboveLimit(first, size.message());
  absl::StatusOr<kernels::MergedAnswer> folded = kernels::RunMerge(*plan, partial, stop);
  if (!folded.ok()) return folded.status();
  v1::MergeAccumulatorsResponse response;
  FillResponse(*plan, *std::move(folded), response);
  return response;
}

}  // namespace

absl::StatusOr<v1::MergeAccumulatorsResponse> RunPlanned(const PlannedMerge& planned,
                                                         kernels::Lane&, std::stop_token stop,
                                                         kernels::RunStatistics& statistics) {
  const auto start = std::chrono::steady_clock::now();
  for (const absl::string_view bytes : planned.accumulators) statistics.bytes_read += bytes.size();
  absl::StatusOr<v1::MergeAccumulatorsResponse> response = FoldAccumulators(
      kernels::PlanMerge(planned.accumulators, AccumulatorLimitsOf(planned.limits), stop),
      "accumulators", planned.partial, planned.limits, stop);
  if (!response.ok()) return response;
  statistics.strategy = response->has_histogram()         ? "merge/histogram"
                        : response->has_keyed_reduction() ? "merge/by-key"
                                                          : "merge/reduction";
  statistics.kernel_time = std::chrono::steady_clock::now() - start;
  return response;
}

absl::StatusOr<v1::SubtractAccumulatorsResponse> RunPlanned(const PlannedSubtraction& planned,
                                                            kernels::Lane&, std::stop_token stop,
                                                            kernels::RunStatistics& statistics) {
  const auto start = std::chrono::steady_clock::now();
  statistics.bytes_read += planned.minuend.size();
  for (const absl::string_view bytes : planned.subtrahends) statistics.bytes_read += bytes.size();
  absl::StatusOr<v1::MergeAccumulatorsResponse> remainder =
      FoldAccumulators(kernels::PlanSubtraction(planned.minuend, planned.subtrahends,
                                                AccumulatorLimitsOf(planned.limits), stop),
                       "minuend", planned.partial, planned.limits, stop);
  if (!remainder.ok()) return remainder.status();
  statistics.strategy = remainder->has_reduction() ? "subtract/reduction" : "subtract/histogram";
  statistics.kernel_time = std::chrono::steady_clock::now() - start;
  v1::SubtractAccumulatorsResponse response;
  *response.mutable_remainder() = *std::move(remainder);
  return response;
}

}  // namespace gridfold::server
