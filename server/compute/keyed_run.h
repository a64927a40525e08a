// Runs planned requests for groups by key; see planned_run.h.
#ifndef GRIDFOLD_SERVER_COMPUTE_KEYED_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_KEYED_RUN_H_

#include <cstdint>
#include <stop_token>

#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/planning/keyed_validation.h"

namespace gridfold::server {

absl::StatusOr<v1::ReduceByKeyResponse> RunPlanned(const PlannedKeyedReduction& planned,
                                                   kernels::Lane& lane, std::stop_token stop,
                                                   kernels::RunStatistics& statistics);

// Runs a plan, complete, on a lane of the engine, in whose memory it takes room for the while.
// Further errors: those of ArrayStore where there is none.
absl::StatusOr<kernels::KeyedReductionResult> RunWithRoom(const kernels::KeyedReductionPlan& plan,
                                                          kernels::KeyedInput input,
                                                          const TenantArrays& arrays,
                                                          uint32_t engine, kernels::Lane& lane,
                                                          const std::stop_token& stop,
                                                          kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_KEYED_RUN_H_
