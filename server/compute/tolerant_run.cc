#include "server/compute/tolerant_run.h"

#include <utility>

#include "server/compute/planned_run.h"
#include "server/compute/rearranged_run.h"
#include "server/compute/selected_run.h"

namespace gridfold::server {

namespace {

// The result of a plan, with the indices of the whole; nothing where it has no statistics.
absl::StatusOr<kernels::ReductionResult> RunPlan(const PlannedReduction& planned,
                                                 const kernels::ReductionPlan& plan,
                                                 kernels::Lane& lane, const std::stop_token& stop,
                                                 kernels::RunStatistics& statistics) {
  if (plan.statistics.empty()) return kernels::ReductionResult{};
  kernels::RunStatistics run;
  absl::StatusOr<kernels::ReductionResult> result =
      ReduceInOrder(planned, PlanForLane(plan), lane, stop, run);
  statistics.Add(run);
  if (result.ok()) kernels::ShiftIndices(planned.first_index, *result);
  return result;
}

absl::StatusOr<kernels::TolerantResult> Reduce(const PlannedReduction& planned, kernels::Lane& lane,
                                               const std::stop_token& stop,
                                               kernels::RunStatistics& statistics) {
  const kernels::TolerantReduction& reduction = *planned.tolerant;
  const absl::StatusOr<kernels::ReductionResult> values =
      RunPlan(planned, reduction.values_plan(), lane, stop, statistics);
  if (!values.ok()) return values.status();
  const absl::StatusOr<kernels::ReductionResult> places =
      RunPlan(planned, reduction.places_plan(), lane, stop, statistics);
  if (!places.ok()) return places.status();
  if (statistics.strategy.empty()) statistics.strategy = "reduce/nothing";
  return reduction.Finish(*values, *places);
}

}  // namespace

absl::StatusOr<v1::ReduceArrayResponse> RunTolerantly(const PlannedReduction& planned,
                                                      kernels::Lane& lane,
                                                      const std::stop_token& stop,
                                                      kernels::RunStatistics& statistics) {
  absl::StatusOr<kernels::TolerantResult> result =
      planned.selection ? ReduceSelected(planned, lane, stop, statistics)
                        : Reduce(planned, lane, stop, statistics);
  if (!result.ok()) return result.status();
  v1::ReduceArrayResponse response;
  FillAnswer(planned, result->result, response);
  for (size_t i = 0; i < result->validity.size(); ++i) {
    v1::StatisticValues& entry = *response.mutable_results(static_cast<int>(i));
    entry.set_validity(std::move(result->validity[i]));
  }
  return response;
}

}  // namespace gridfold::server
