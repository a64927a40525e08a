// Runs a planned batch on a lane: the small reductions together, then the other operations one
// after the other, in their order.
#ifndef GRIDFOLD_SERVER_COMPUTE_BATCH_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_BATCH_RUN_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

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

// One for each operation, empty as yet.
void AddResults(const PlannedBatch& batch, v1::BatchComputeResponse& response);

// Runs those operations of a batch that are not marked in `left_out`, as below. Different
// operations of one batch may be run at the same time by different lanes: `response` has a result
// for each, empty as yet.
absl::Status RunOperations(const PlannedBatch& batch, std::vector<bool> left_out,
                           kernels::Lane& lane, std::stop_token stop,
                           kernels::RunStatistics& statistics, v1::BatchComputeResponse& response);

// Whether an operation's error is that of the whole batch.
bool ConcernsTheBatch(const absl::Status& status);

// Put an answer into a batch's: as it is, since copying it into the arena would copy its elements.
void Give(v1::ReduceArrayResponse answer, v1::BatchResult& result);
void Give(v1::ScanArrayResponse answer, v1::BatchResult& result);
void Give(v1::ComputeHistogramResponse answer, v1::BatchResult& result);
void Give(v1::ReduceByKeyResponse answer, v1::BatchResult& result);

// The answer without `execution`; an operation that fails has its error in it. Errors are those of
// the whole: CANCELLED, also between operations, and INTERNAL. Blocks until all is done.
// `statistics` are sums over the operations.
absl::StatusOr<ArenaMessage<v1::BatchComputeResponse>> RunPlanned(
    const PlannedBatch& batch, kernels::Lane& lane, std::stop_token stop,
    kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_BATCH_RUN_H_
