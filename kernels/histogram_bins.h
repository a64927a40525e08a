// Bins before samples are looked at: from a BinSpec to PlannedBins. For histogram*.cc only.
#ifndef GRIDFOLD_KERNELS_HISTOGRAM_BINS_H_
#define GRIDFOLD_KERNELS_HISTOGRAM_BINS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/histogram.h"

namespace gridfold::kernels {

// Number of bins of `spec`, which is the i-th of the request; at most 2^64 - 1. Errors: no bins.
absl::StatusOr<uint64_t> BinCountOf(const BinSpec& spec, size_t i);

// The field that says how many bins the i-th spec has, for example "bins[0].even.bin_count".
std::string BinCountField(const BinSpec& spec, size_t i);

// Checks everything of the i-th spec but its bin count, which the caller has bounded: takes time
// and memory in proportion to it. Errors: those that PlanHistogram lists for bins.
absl::StatusOr<PlannedBins> PlanBins(const BinSpec& spec, size_t i, ElementType sample_type);

// Whether every edge of resolved even bins, of a finite range, is greater than the one before it.
bool EvenEdgesIncrease(const PlannedBins& bins);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_HISTOGRAM_BINS_H_
