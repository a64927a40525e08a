// Runs operations whose input is brought into another order first, where the plan says so: into a
// copy in the engine's memory of resident arrays, which goes when it has been read. Statistics are
// of all steps together; the strategy is the operation's own.
//
// Blocks until the result is there. Thread-safe for different lanes. Errors: those of
// kernels::Lane; those of ArrayStore where there is no room for the copies.
#ifndef GRIDFOLD_SERVER_COMPUTE_REARRANGED_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_REARRANGED_RUN_H_

#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

// Runs `plan`, which is the plan of `planned` or one of its states.
absl::StatusOr<kernels::ReductionResult> ReduceInOrder(const PlannedReduction& planned,
                                                       const kernels::ReductionPlan& plan,
                                                       kernels::Lane& lane,
                                                       const std::stop_token& stop,
                                                       kernels::RunStatistics& statistics);

absl::StatusOr<kernels::QuantileResult> QuantilesInOrder(const PlannedQuantiles& planned,
                                                         kernels::Lane& lane,
                                                         const std::stop_token& stop,
                                                         kernels::RunStatistics& statistics);

absl::StatusOr<kernels::TopResult> TopInOrder(const PlannedTop& planned, kernels::Lane& lane,
                                              const std::stop_token& stop,
                                              kernels::RunStatistics& statistics);

// Writes the results to `output` in the order of the input.
absl::Status ScanInOrder(const PlannedScan& planned, kernels::OutputSpan output,
                         kernels::Lane& lane, const std::stop_token& stop,
                         kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_REARRANGED_RUN_H_
