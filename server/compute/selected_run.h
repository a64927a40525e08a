// Runs operations on the elements of an array that a mask selects. Copies of mask and elements
// take room beside resident arrays, and go when they have been read. Statistics are of all steps
// together; the strategy is the operation's own.
//
// Blocks until the result is there. Thread-safe for different lanes. Errors: those of
// kernels::Lane; those of ArrayStore where there is no room for the copies; INVALID_ARGUMENT for
// groups of which too few elements count, and for a mask of other bytes than 0 and 1.
#ifndef GRIDFOLD_SERVER_COMPUTE_SELECTED_RUN_H_
#define GRIDFOLD_SERVER_COMPUTE_SELECTED_RUN_H_

#include <stop_token>

#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/scan.h"
#include "kernels/contract/selection.h"
#include "kernels/contract/tolerant_reduction.h"
#include "server/arrays/array_store.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

// Requires planned.selection. Indices are those of the array, first_index not yet added.
absl::StatusOr<kernels::TolerantResult> ReduceSelected(const PlannedReduction& planned,
                                                       kernels::Lane& lane,
                                                       const std::stop_token& stop,
                                                       kernels::RunStatistics& statistics);

// The samples that count, with what goes with them; `plan` becomes that of as many.
struct SelectedSamples {
  kernels::HistogramInput input;
  std::vector<ArrayLease> leases;  // Of the copies.
};
absl::StatusOr<SelectedSamples> SelectSamples(const PlannedHistogram& planned, kernels::Lane& lane,
                                              const std::stop_token& stop,
                                              kernels::HistogramPlan& plan,
                                              kernels::RunStatistics& statistics);

// What stands for elements that do not count in a scan: the identity of its operation, as an
// element of its input, or NaN where that is ignored.
kernels::ElementBytes IdentityOf(const kernels::ScanPlan& plan, bool is_bool);

// A copy of a scan's input, with the operation's identity where elements do not count.
absl::StatusOr<ArrayLease> ReplaceUnselected(const PlannedScan& planned, kernels::Lane& lane,
                                             const std::stop_token& stop,
                                             kernels::RunStatistics& statistics);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_COMPUTE_SELECTED_RUN_H_
