// Plans of histograms in two steps, for servers: an outline, in time and memory in proportion to
// the specification however many bins it asks for, and what takes time in proportion to the bins.
//
// An outline is a HistogramPlan with entries of `bins` as they were specified: one where all
// channels, or both axes, have the same, and no edges yet where bins are logarithmic, but their
// bounds. Engines take complete plans only.
//
//   absl::StatusOr<HistogramPlan> plan = OutlineHistogram(array, spec, bin_count_max);  // At once.
//   absl::Status status = CompletePlan(stop, *plan);                                   // On a
//   lane.
#ifndef GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_OUTLINE_H_
#define GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_OUTLINE_H_

#include <cstdint>
#include <stop_token>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels {

// Errors: those of PlanHistogram, but for edges that are yet to be computed.
absl::StatusOr<HistogramPlan> OutlineHistogram(const ArrayDescription& array, HistogramSpec spec,
                                               uint64_t bin_count_max);

// Makes an outline complete; nothing where it is. Errors: two equal edges of even or logarithmic
// bins, as PlanHistogram names them; CANCELLED.
absl::Status CompletePlan(const std::stop_token& stop, HistogramPlan& plan);

// How many channels, or axes, have each of the plan's `bins`: 1 where it is complete.
uint64_t UsesOfBins(const HistogramPlan& plan);

// Whether a table's edges are yet to be computed, between its bounds.
bool LacksEdges(const PlannedBins& bins);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_OUTLINE_H_
