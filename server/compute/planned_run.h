// Runs planned requests on a lane and makes their answers. `execution` of an answer is left empty.
// Blocks until the result is there; errors are those of kernels::Lane, and FAILED_PRECONDITION
// where a region has lost memory meanwhile. Thread-safe for different lanes.
#ifndef GRIDFOLD_SERVER_COMPUTE_PLANNED_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_PLANNED_RUN_H_

#include <cstdint>
#include <stop_token>

#include "absl/status/statusor.h"
#include "gridfold/v1/array_service.pb.h"
#include "gridfold/v1/compute_service.pb.h"
#include "gridfold/v1/region_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/planning/array_request_validation.h"
#include "server/planning/region_request_validation.h"
#include "server/planning/request_validation.h"
#include "server/wire/scan_answer.h"

namespace gridfold::server {

absl::StatusOr<v1::ReduceArrayResponse> RunPlanned(const PlannedReduction& planned,
                                                   kernels::Lane& lane, std::stop_token stop,
                                                   kernels::RunStatistics& statistics);
// Fills all of a reduction's answer but for its accumulator; indices are those of the array
// already.
void FillAnswer(const PlannedReduction& planned, const kernels::ReductionResult& result,
                v1::ReduceArrayResponse& response);
// The answer of a reduction that is not a part of a whole, from a lane's result.
v1::ReduceArrayResponse MakeResponse(const PlannedReduction& planned,
                                     kernels::ReductionResult result);

// An inline result goes to `data`, which has InlineResultBytes, and not into the answer. A result
// that becomes an array, or replaces one, does so when it is complete. Errors also those of
// ArrayStore.
absl::StatusOr<v1::ScanArrayResponse> RunPlanned(const PlannedScan& planned,
                                                 kernels::MutableHostSpan data, kernels::Lane& lane,
                                                 std::stop_token stop,
                                                 kernels::RunStatistics& statistics);
// The same with memory of its own.
absl::StatusOr<ScanAnswer> RunPlanned(const PlannedScan& planned, kernels::Lane& lane,
                                      std::stop_token stop, kernels::RunStatistics& statistics);
absl::StatusOr<v1::ComputeHistogramResponse> RunPlanned(const PlannedHistogram& planned,
                                                        kernels::Lane& lane, std::stop_token stop,
                                                        kernels::RunStatistics& statistics);
// Merges in the calling thread; the lane is only held, which bounds how many merges run at once.
absl::StatusOr<v1::MergeAccumulatorsResponse> RunPlanned(const PlannedMerge& planned,
                                                         kernels::Lane& lane, std::stop_token stop,
                                                         kernels::RunStatistics& statistics);

// Errors also those of ArrayStore.
absl::StatusOr<v1::CreateArrayResponse> RunPlanned(const PlannedCreation& planned,
                                                   kernels::Lane& lane, std::stop_token stop,
                                                   kernels::RunStatistics& statistics);

// Errors also those of RegionStore.
absl::StatusOr<v1::RegisterRegionResponse> RunPlanned(const PlannedRegistration& planned,
                                                      kernels::Lane& lane, std::stop_token stop,
                                                      kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_PLANNED_RUN_H_
