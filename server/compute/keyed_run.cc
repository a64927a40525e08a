#include "server/compute/keyed_run.h"

#include <cstdint>
#include <utility>

#include "kernels/accumulators/keyed_accumulator.h"
#include "server/compute/planned_run.h"
#include "server/wire/answer_conversion.h"

namespace gridfold::server {

namespace {

absl::StatusOr<v1::ReduceByKeyResponse> Run(const PlannedKeyedReduction& planned,
                                            kernels::Lane& lane, const std::stop_token& stop,
                                            kernels::RunStatistics& statistics) {
  kernels::KeyedReductionPlan plan = planned.plan;
  if (absl::Status status = CompletePlan(stop, plan); !status.ok()) return status;
  const bool is_part = plan.reduction.return_states;
  const kernels::KeyedReductionPlan for_lane = is_part ? PlanStates(plan) : plan;
  absl::StatusOr<kernels::KeyedReductionResult> result = RunWithRoom(
      for_lane, planned.input, planned.arrays, planned.room_engine, lane, stop, statistics);
  if (!result.ok()) return result.status();
  kernels::ShiftIndices(planned.first_index, result->reduction);
  v1::ReduceByKeyResponse response;
  if (!plan.refuses_outside) FillOutcomes(*result, response);
  if (!is_part) {
    FillResponse(plan, kernels::SpreadGroups(plan, *std::move(result)), response);
    return response;
  }
  absl::StatusOr<kernels::KeyedPart> part =
      kernels::MakeKeyedPart(plan, planned.key_count_max, *std::move(result), stop);
  if (!part.ok()) return part.status();
  FillResponse(plan, part->answer, response);
  response.set_accumulator(std::move(part->accumulator));
  return response;
}

}  // namespace

absl::StatusOr<kernels::KeyedReductionResult> RunWithRoom(const kernels::KeyedReductionPlan& plan,
                                                          kernels::KeyedInput input,
                                                          const TenantArrays& arrays,
                                                          uint32_t engine, kernels::Lane& lane,
                                                          const std::stop_token& stop,
                                                          kernels::RunStatistics& statistics) {
  ArrayLease room;
  if (const uint64_t room_bytes = lane.KeyedRoomBytes(plan); room_bytes > 0) {
    absl::StatusOr<ArrayLease> allocated = arrays.Allocate(
        kernels::ArrayDescription::Vector(kernels::ElementType::kUint8, room_bytes), engine);
    if (!allocated.ok()) return allocated.status();
    room = *std::move(allocated);
    input.room = room->span();
  }
  return lane.RunKeyedReduction(plan, input, stop, statistics);
}

absl::StatusOr<v1::ReduceByKeyResponse> RunPlanned(const PlannedKeyedReduction& planned,
                                                   kernels::Lane& lane, std::stop_token stop,
                                                   kernels::RunStatistics& statistics) {
  absl::StatusOr<v1::ReduceByKeyResponse> response = Run(planned, lane, stop, statistics);
  for (const RegionLease& region : planned.regions) {
    if (absl::Status status = EndUse(region); !status.ok()) return status;
  }
  return response;
}

}  // namespace gridfold::server
