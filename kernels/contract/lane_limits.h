// Whether a job fits a lane; checked by every engine before anything else, with the same words.
//
// Errors: RESOURCE_EXHAUSTED where the job is larger than the lane; INTERNAL where a span does not
// have the size that the plan says, which is a bug of the caller.
#ifndef GRIDFOLD_KERNELS_CONTRACT_LANE_LIMITS_H_
#define GRIDFOLD_KERNELS_CONTRACT_LANE_LIMITS_H_

#include "absl/status/status.h"
#include "kernels/contract/engine.h"

namespace gridfold::kernels {

// Bytes of a reduction's answer, states included, that each group takes in a lane.
uint64_t OutputBytesPerGroup(const ReductionPlan& plan);

absl::Status CheckReductionFits(const LaneOptions& options, const ReductionPlan& plan,
                                const InputSpan& input);
// Of ReduceInto, whose states are not in the lane.
absl::Status CheckReduceIntoFits(const LaneOptions& options, ReductionPlan plan,
                                 const InputSpan& input);

absl::Status CheckScanFits(const LaneOptions& options, const ScanPlan& plan, const InputSpan& input,
                           const OutputSpan& output);

absl::Status CheckHistogramFits(const LaneOptions& options, const HistogramPlan& plan,
                                const HistogramInput& input);

// All of a job but for its groups, and those that were found.
absl::Status CheckKeyedReductionFits(const LaneOptions& options, const KeyedReductionPlan& plan,
                                     const KeyedInput& input);
absl::Status CheckGroupsFit(const LaneOptions& options, const ReductionPlan& plan);
absl::Status CheckGroupsFit(const LaneOptions& options, const QuantilePlan& plan);

absl::Status CheckQuantilesFit(const LaneOptions& options, const QuantilePlan& plan,
                               const InputSpan& input);

absl::Status CheckTopFits(const LaneOptions& options, const TopPlan& plan, const InputSpan& input);

absl::Status CheckPairedFits(const LaneOptions& options, const PairedPlan& plan,
                             const PairedInput& input);

absl::Status CheckRearrangementFits(const LaneOptions& options, const Rearrangement& order,
                                    uint64_t element_bytes, const InputSpan& from,
                                    const OutputSpan& to);

absl::Status CheckSelectionFits(const LaneOptions& options, const SelectionPlan& plan,
                                const InputSpan& input, const ResidentSpan& mask,
                                const MutableResidentSpan& scratch,
                                const MutableResidentSpan& selected);
// Of FindSelected.
absl::Status CheckPlacesFit(const LaneOptions& options, uint64_t place_count);
absl::Status CheckReplacementFits(const LaneOptions& options, uint64_t element_bytes,
                                  const InputSpan& input, const ResidentSpan& mask,
                                  const MutableResidentSpan& output);

absl::Status CheckCopy(const InputSpan& from, const OutputSpan& to);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_LANE_LIMITS_H_
