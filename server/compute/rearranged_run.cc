#include "server/compute/rearranged_run.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "kernels/contract/shape.h"
#include "kernels/contract/weighted_quantiles.h"
#include "kernels/folds/in_place_reduction.h"
#include "kernels/folds/weighted_quantiles.h"
#include "server/compute/selected_run.h"

namespace gridfold::server {

namespace {

// Adds what `step` says of itself to the statistics of the steps before it.
template <class Step>
auto RunStep(kernels::RunStatistics& statistics, Step step) {
  kernels::RunStatistics run;
  auto result = step(run);
  statistics.Add(run);
  return result;
}

// A copy's memory, or a part of it.
absl::StatusOr<ArrayLease> AllocateCopy(const PlannedRearrangement& rearrangement,
                                        kernels::ElementType type, uint64_t element_count) {
  return rearrangement.arrays.Allocate(kernels::ArrayDescription::Vector(type, element_count),
                                       rearrangement.engine);
}

// The input in the order of the plan.
absl::StatusOr<ArrayLease> CopyInOrder(const PlannedRearrangement& rearrangement,
                                       const InputArray& input, kernels::Lane& lane,
                                       const std::stop_token& stop,
                                       kernels::RunStatistics& statistics) {
  const kernels::ArrayDescription& array = input.description;
  absl::StatusOr<ArrayLease> copy =
      AllocateCopy(rearrangement, array.element_type, array.element_count);
  if (!copy.ok()) return copy;
  absl::Status status = RunStep(statistics, [&](kernels::RunStatistics& run) {
    return lane.Rearrange(rearrangement.order, kernels::ElementSize(array.element_type), input.data,
                          (*copy)->span(), stop, run);
  });
  if (!status.ok()) return status;
  return copy;
}

// Runs `operation` of an input span on the input in the order of the plan.
template <class Planned, class Operation>
auto RunInOrder(const Planned& planned, kernels::Lane& lane, const std::stop_token& stop,
                kernels::RunStatistics& statistics, Operation operation)
    -> decltype(operation(kernels::InputSpan(), statistics)) {
  if (!planned.rearrangement) return operation(planned.input.data, statistics);
  const absl::StatusOr<ArrayLease> input =
      CopyInOrder(*planned.rearrangement, planned.input, lane, stop, statistics);
  if (!input.ok()) return input.status();
  return RunStep(statistics, [&](kernels::RunStatistics& run) {
    return operation(kernels::ResidentSpan((*input)->span()), run);
  });
}

// Quantiles of elements that have weights, which are brought in their order.
absl::StatusOr<kernels::QuantileResult> WeightedInOrder(const PlannedQuantiles& planned,
                                                        const kernels::InputSpan& elements,
                                                        kernels::Lane& lane,
                                                        const std::stop_token& stop,
                                                        kernels::RunStatistics& statistics) {
  const kernels::WeightedQuantilePlan plan{
      .elements = planned.plan, .weight_type = planned.weights->description.element_type};
  if (!planned.rearrangement) {
    return kernels::FindWeightedQuantiles(plan, elements, planned.weights->data, lane, stop,
                                          statistics);
  }
  const absl::StatusOr<ArrayLease> weights =
      CopyInOrder(*planned.rearrangement, *planned.weights, lane, stop, statistics);
  if (!weights.ok()) return weights.status();
  return RunStep(statistics, [&](kernels::RunStatistics& run) {
    return kernels::FindWeightedQuantiles(plan, elements, kernels::ResidentSpan((*weights)->span()),
                                          lane, stop, run);
  });
}

// The reduction of the array as it stands; nothing where it must be brought into another order.
std::optional<absl::StatusOr<kernels::ReductionResult>> ReduceInPlace(
    const PlannedReduction& planned, const kernels::ReductionPlan& plan, kernels::Lane& lane,
    const std::stop_token& stop, kernels::RunStatistics& statistics) {
  const auto* const input = std::get_if<kernels::ResidentSpan>(&planned.input.data);
  if (input == nullptr || !planned.in_place) return std::nullopt;
  const kernels::InPlaceReduction reduction(plan, *planned.in_place);
  const std::optional<uint64_t> room_bytes = reduction.RoomBytes(*input, lane);
  if (!room_bytes) return std::nullopt;
  kernels::MutableResidentSpan room;
  ArrayLease lease;
  if (*room_bytes > 0) {
    absl::StatusOr<ArrayLease> states =
        AllocateCopy(*planned.rearrangement, kernels::ElementType::kUint8, *room_bytes);
    if (!states.ok()) return states.status();
    lease = *std::move(states);
    room = lease->span();
  }
  return RunStep(statistics, [&](kernels::RunStatistics& run) {
    return reduction.Run(*input, room, lane, stop, run);
  });
}

}  // namespace

absl::StatusOr<kernels::ReductionResult> ReduceInOrder(const PlannedReduction& planned,
                                                       const kernels::ReductionPlan& plan,
                                                       kernels::Lane& lane,
                                                       const std::stop_token& stop,
                                                       kernels::RunStatistics& statistics) {
  if (auto result = ReduceInPlace(planned, plan, lane, stop, statistics)) return *std::move(result);
  return RunInOrder(planned, lane, stop, statistics,
                    [&](const kernels::InputSpan& input, kernels::RunStatistics& run) {
                      return lane.RunReduction(plan, input, stop, run);
                    });
}

absl::StatusOr<kernels::QuantileResult> QuantilesInOrder(const PlannedQuantiles& planned,
                                                         kernels::Lane& lane,
                                                         const std::stop_token& stop,
                                                         kernels::RunStatistics& statistics) {
  return RunInOrder(planned, lane, stop, statistics,
                    [&](const kernels::InputSpan& input, kernels::RunStatistics& run) {
                      if (planned.weights) {
                        return WeightedInOrder(planned, input, lane, stop, run);
                      }
                      return lane.RunQuantiles(planned.plan, input, stop, run);
                    });
}

absl::StatusOr<kernels::TopResult> TopInOrder(const PlannedTop& planned, kernels::Lane& lane,
                                              const std::stop_token& stop,
                                              kernels::RunStatistics& statistics) {
  return RunInOrder(planned, lane, stop, statistics,
                    [&](const kernels::InputSpan& input, kernels::RunStatistics& run) {
                      return lane.RunTop(planned.plan, input, stop, run);
                    });
}

absl::Status ScanInOrder(const PlannedScan& planned, kernels::OutputSpan output,
                         kernels::Lane& lane, const std::stop_token& stop,
                         kernels::RunStatistics& statistics) {
  const kernels::ScanPlan& plan = planned.plan;
  InputArray array = planned.input;
  ArrayLease selected;
  if (planned.selection) {
    absl::StatusOr<ArrayLease> copy = ReplaceUnselected(planned, lane, stop, statistics);
    if (!copy.ok()) return copy.status();
    selected = *std::move(copy);
    array.data = kernels::ResidentSpan(selected->span());
  }
  if (!planned.rearrangement) {
    return RunStep(statistics, [&](kernels::RunStatistics& run) {
      return lane.RunScan(plan, array.data, output, stop, run);
    });
  }
  const PlannedRearrangement& rearrangement = *planned.rearrangement;
  absl::StatusOr<ArrayLease> input = CopyInOrder(rearrangement, array, lane, stop, statistics);
  if (!input.ok()) return input.status();
  const absl::StatusOr<ArrayLease> results =
      AllocateCopy(rearrangement, plan.output_type, plan.array.element_count);
  if (!results.ok()) return results.status();
  absl::Status status = RunStep(statistics, [&](kernels::RunStatistics& run) {
    return lane.RunScan(plan, kernels::ResidentSpan((*input)->span()), (*results)->span(), stop,
                        run);
  });
  if (!status.ok()) return status;
  const std::string strategy = statistics.strategy;
  status = RunStep(statistics, [&](kernels::RunStatistics& run) {
    return lane.Rearrange(rearrangement.order.Inverse(), kernels::ElementSize(plan.output_type),
                          kernels::ResidentSpan((*results)->span()), output, stop, run);
  });
  statistics.strategy = strategy;
  return status;
}

}  // namespace gridfold::server
