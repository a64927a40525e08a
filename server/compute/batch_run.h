// Runs a planned batch on a lane: the small reductions together, then the other operations one
// after the other, in their order.
#ifndef GRIDFOLD_SERVER_COMPUTE_BATCH_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_BATCH_RUN_H_

#include <cstdint>
#include <optional>
#include <stop_token>

#include "absl/status/statusor.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "kernels/folds/reduction_batch.h"
#include "server/planning/batch_validation.h"
#include "server/wire/arena_message.h"

namespace gridfold::server {

// What the reduction shares a launch by; nothing where it shares none, or its array is resident or
// larger than `array_bytes_max`.
std::optional<kernels::ReductionBatchKey> LaunchKeyOf(const PlannedReduction& planned,
                                                      uint64_t array_bytes_max);

// The answer without `execution`; an operation that fails has its error in it. Errors are those of
// the whole: CANCELLED, also between operations, and INTERNAL. Blocks until all is done.
// `statistics` are sums over the operations.
absl::StatusOr<ArenaMessage<v1::BatchComputeResponse>> RunPlanned(
    const PlannedBatch& batch, kernels::Lane& lane, std::stop_token stop,
    kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_BATCH_RUN_H_
