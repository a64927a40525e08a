// Runs merges and subtractions of accumulators.
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "kernels/accumulators/accumulator.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/output_type.h"
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

// Takes the output type of a request into the plan: accumulators do not hold one.
absl::Status SetOutputType(std::optional<kernels::ElementType> output_type,
                           kernels::MergePlan& plan) {
  if (!output_type) return absl::OkStatus();
  auto* reduction = std::get_if<kernels::ReductionPlan>(&plan.operation);
  if (auto* const keyed = std::get_if<kernels::KeyedMergePlan>(&plan.operation)) {
    reduction = &keyed->keyed.reduction;
  }
  if (reduction == nullptr) return kernels::InvalidField("output_type", "histograms have none");
  reduction->output_type = *output_type;
  return kernels::CheckOutputType(*output_type, reduction->statistics,
                                  reduction->array.element_type);
}

// The answer of a plan, of which the field `first` has the operation. `planned` is the request.
template <class Planned>
absl::StatusOr<v1::MergeAccumulatorsResponse> FoldAccumulators(
    const Planned& planned, absl::StatusOr<kernels::MergePlan> plan, absl::string_view first,
    const std::stop_token& stop) {
  if (!plan.ok()) return plan.status();
  if (absl::Status status = SetOutputType(planned.output_type, *plan); !status.ok()) return status;
  const absl::Status size = Bound(planned.limits, *plan);
  if (!size.ok()) return kernels::AboveLimit(first, size.message());
  absl::StatusOr<kernels::MergedAnswer> folded = kernels::RunMerge(*plan, planned.partial, stop);
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
      planned, kernels::PlanMerge(planned.accumulators, AccumulatorLimitsOf(planned.limits), stop),
      "accumulators", stop);
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
      FoldAccumulators(planned,
                       kernels::PlanSubtraction(planned.minuend, planned.subtrahends,
                                                AccumulatorLimitsOf(planned.limits), stop),
                       "minuend", stop);
  if (!remainder.ok()) return remainder.status();
  statistics.strategy = remainder->has_reduction() ? "subtract/reduction" : "subtract/histogram";
  statistics.kernel_time = std::chrono::steady_clock::now() - start;
  v1::SubtractAccumulatorsResponse response;
  *response.mutable_remainder() = *std::move(remainder);
  return response;
}

}  // namespace gridfold::server
