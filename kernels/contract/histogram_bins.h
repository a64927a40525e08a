// Bins before samples are looked at: from a BinSpec to PlannedBins. For histogram*.cc only.
#ifndef GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_BINS_H_
#define GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_BINS_H_

#include <cstdint>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/histogram.h"

namespace gridfold::kernels {

// Number of bins of `spec`, which is the i-th of the request; at most 2^64 - 1. Errors: no bins.
absl::StatusOr<uint64_t> BinCountOf(const BinSpec& spec, size_t i);

// The field that says how many bins the i-th spec has, for example "bins[0].even.bin_count".
std::string BinCountField(const BinSpec& spec, size_t i);

// Checks everything of the i-th spec but its bin count, which the caller has bounded, in time and
// memory in proportion to the spec. Errors: those that PlanHistogram lists for bins, but for edges
// that are computed.
absl::StatusOr<PlannedBins> OutlineBins(const BinSpec& spec, size_t i, ElementType sample_type);

// Computes the edges of a table of the i-th spec, and checks that computed edges increase. Takes
// time and memory in proportion to the bins. Errors: two equal edges; CANCELLED.
absl::Status CompleteBins(size_t i, const std::stop_token& stop, PlannedBins& bins);

// INVALID_ARGUMENT, without a field, where an edge of resolved even bins, of a finite range, is not
// greater than the one before it; CANCELLED. Takes constant time where steps are not extremely
// small beside the bounds.
absl::Status CheckEvenEdges(const PlannedBins& bins, const std::stop_token& stop);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_BINS_H_
