// Weighted quantiles (contract/weighted_quantiles.h) by histograms that become finer.
//
// The numbers that an element may be are cut into bins of equally many of them, and a lane sums the
// weights of each bin, exactly. The bin in which a quantile lies is cut again, until its elements
// are all equal. Bins of several quantiles are counted together. So nothing is sorted or copied,
// any engine takes part with the histograms that it has, and its answer has the same bits.
#ifndef GRIDFOLD_KERNELS_FOLDS_WEIGHTED_QUANTILES_H_
#define GRIDFOLD_KERNELS_FOLDS_WEIGHTED_QUANTILES_H_

#include <stop_token>

#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/weighted_quantiles.h"

namespace gridfold::kernels {

// Bins of one histogram, but for some more between those of several quantiles. Each takes some 300
// bytes on the host with weights of float64.
inline constexpr uint64_t kRefinedBins = uint64_t{1} << 13;

// Groups are taken one after the other, by some histograms of each, which read all of its elements
// and weights: 3 of elements of 4 bytes and 5 of 8 bytes where there are many elements and one
// quantile, 4 and 8 where there are few elements, more with many quantiles; and for each quantile
// among integers of 8 bytes one more. `statistics` are those
// of all runs. Errors: FaultyWeight, WeightsAreZero, and those of the lane.
absl::StatusOr<QuantileResult> FindWeightedQuantiles(const WeightedQuantilePlan& plan,
                                                     const InputSpan& elements,
                                                     const InputSpan& weights, Lane& lane,
                                                     const std::stop_token& stop,
                                                     RunStatistics& statistics);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_WEIGHTED_QUANTILES_H_
