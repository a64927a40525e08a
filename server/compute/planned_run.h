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
// What a lane runs for a plan: one whose states are asked for hands out nothing else.
kernels::ReductionPlan PlanForLane(const kernels::ReductionPlan& plan);
kernels::HistogramPlan PlanForLane(const kernels::HistogramPlan& plan);
// The answers, from what lanes returned for these plans; that of a histogram is complete.
absl::StatusOr<v1::ReduceArrayResponse> MakeAnswer(const PlannedReduction& planned,
                                                   absl::StatusOr<kernels::ReductionResult> result,
                                                   const std::stop_token& stop);
absl::StatusOr<v1::ComputeHistogramResponse> MakeAnswer(
    const kernels::HistogramPlan& plan, bool is_compact,
    const absl::StatusOr<kernels::HistogramResult>& result, const std::stop_token& stop);
// What was computed from, or written to, a region that has lost memory meanwhile is nothing, and
// neither is the error that came of it. OK where there is no region.
absl::Status EndUse(const RegionLease& region);
// The answer of a reduction that is not a part of a whole, from a lane's result.
v1::ReduceArrayResponse MakeResponse(const PlannedReduction& planned,
                                     kernels::ReductionResult result);

// Says in the answer what a result is that is inline or in a region.
void DescribeScanned(const PlannedScan& planned, v1::ScanArrayResponse& response);

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
absl::StatusOr<v1::ComputeQuantilesResponse> RunPlanned(const PlannedQuantiles& planned,
                                                        kernels::Lane& lane, std::stop_token stop,
                                                        kernels::RunStatistics& statistics);
absl::StatusOr<v1::SelectTopResponse> RunPlanned(const PlannedTop& planned, kernels::Lane& lane,
                                                 std::stop_token stop,
                                                 kernels::RunStatistics& statistics);
// Fold in the calling thread; the lane is only held, which bounds how many run at once.
absl::StatusOr<v1::MergeAccumulatorsResponse> RunPlanned(const PlannedMerge& planned,
                                                         kernels::Lane& lane, std::stop_token stop,
                                                         kernels::RunStatistics& statistics);
absl::StatusOr<v1::SubtractAccumulatorsResponse> RunPlanned(const PlannedSubtraction& planned,
                                                            kernels::Lane& lane,
                                                            std::stop_token stop,
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
