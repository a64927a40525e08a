// Histograms: counts (or sums of weights) of samples by bins; one or several interleaved channels,
// or two dimensions.
//
// Bins are half-open and the last one closed; membership is decided by exact comparison with the
// edges that the result holds. See numerics/bins/layout.h for how. Sums of weights are exact and
// rounded once, so they do not depend on the order of the samples; see numerics/sums/weight_sum.h.
#ifndef GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_H_
#define GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/array.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/bins/layout.h"
#include "kernels/numerics/sums/exact_sum.h"
#include "kernels/types/policies.h"

namespace gridfold::kernels {

struct EvenBinsSpec {
  uint64_t bin_count = 0;
  std::optional<double> lower_bound;  // Both bounds or none: then the range of the finite samples.
  std::optional<double> upper_bound;
};
struct EdgeBinsSpec {
  std::vector<double> edges;
};
struct LogarithmicBinsSpec {
  uint64_t bin_count = 0;
  double lower_bound = 0;
  double upper_bound = 0;
};
struct IntegerBinsSpec {
  int64_t first_value = 0;
  uint64_t bin_count = 0;
  // Instead of first_value, for unsigned samples; 0: not used.
  uint64_t first_unsigned_value = 0;
};
using BinSpec = std::variant<EvenBinsSpec, EdgeBinsSpec, LogarithmicBinsSpec, IntegerBinsSpec>;

struct HistogramSpec {
  std::vector<BinSpec> bins;  // One, or one for each channel, or (two-dimensional) one or two.
  uint32_t channel_count = 1;
  bool two_dimensional = false;
  std::optional<ElementType> weight_type;
  OutOfRangePolicy out_of_range_policy = OutOfRangePolicy::kDrop;
  bool sparse = false;
  std::vector<double> quantiles;
  bool return_states = false;  // With weights: whether the result holds their exact sums too.
  std::string strategy{};      // Which is to run it (strategy_error.h); empty: the engine's choice.
};

// The bins of one channel, or of one axis of a two-dimensional histogram.
struct PlannedBins {
  BinKind kind = BinKind::kEven;
  uint64_t bin_count = 0;
  bool automatic_range = false;  // kEven: the bounds follow from the samples.
  double lower_bound = 0;        // kEven
  double upper_bound = 0;        // kEven
  int64_t first_value = 0;       // kInteger
  // kInteger: the integer of bin 0 instead of first_value, where it is 2^63 or more; else 0.
  uint64_t first_unsigned_value = 0;
  // kInteger: the bits of the integer of bin 0, an int64 or, where samples are unsigned, a uint64.
  uint64_t first_value_bits() const {
    return first_unsigned_value != 0 ? first_unsigned_value : static_cast<uint64_t>(first_value);
  }
  std::vector<double> edges{};  // kTable: explicit and logarithmic bins; bin_count + 1, increasing.
  // Where the bounds followed from the samples: the extremes of those that are finite, rounded as
  // bounds are; none where none is.
  std::optional<double> smallest_sample{};
  std::optional<double> largest_sample{};
};

struct HistogramPlan {
  ArrayDescription array;
  std::vector<PlannedBins> bins;  // One for each channel; x and y in two dimensions.
  uint32_t channel_count = 1;
  bool two_dimensional = false;
  std::optional<ElementType> weight_type;
  OutOfRangePolicy out_of_range_policy = OutOfRangePolicy::kDrop;
  bool sparse = false;
  std::vector<double> quantiles;
  bool return_states = false;
  // Whether the states of negative zeros alone must differ from those of zeros.
  bool keeps_zero_signs = true;
  std::string strategy{};  // Which is to run it; empty: the engine's choice.

  // Counters of all channels together (two dimensions: the product of both bin counts).
  uint64_t total_bin_count() const;
  bool needs_range() const;  // Whether any bins have an automatic range.
};

// Errors (INVALID_ARGUMENT, field in the payload): no bins or a wrong number of them; bin_count 0
// or more than bin_count_max in all; bounds that are not finite, out of order, or only one of them;
// an even or logarithmic layout with two equal edges; edges not increasing or NaN; integer bins for
// floating-point samples or past the samples' 64-bit range; an element count that is not a multiple
// of the channels; several channels in two dimensions; a quantile outside [0, 1], or with weights,
// in two dimensions or with integer bins.
absl::StatusOr<HistogramPlan> PlanHistogram(const ArrayDescription& array, HistogramSpec spec,
                                            uint64_t bin_count_max);

// Bounds for bins with an automatic range, from the extremes of the finite samples, as
// LowerBoundFor and UpperBoundFor of numerics/bins/layout.h round them; [0, 1] where there are
// none.
//
// Where they are equal, or too near for the edges of so many bins to differ, they are widened each
// way by the least power of two with which all edges differ: at least 0.5 where they are equal,
// which is NumPy's rule where it has one. They go no further than the largest finite number.
// Errors: more bins than there are numbers.
absl::Status ResolveAutomaticRange(std::optional<double> smallest, std::optional<double> largest,
                                   PlannedBins& bins);

// Resolved bins as kernels take them. `edges` is where the table of kTable bins stands in the
// engine's memory.
BinLayout LayoutOf(const PlannedBins& bins, const double* edges);

// The edges of resolved bins, bin_count + 1 of them; empty for integer bins.
std::vector<double> EdgesOf(const PlannedBins& bins);

struct HistogramCounts {
  std::vector<uint64_t> counts;       // Without weights.
  std::vector<double> weight_sums;    // With weights: exact sums, rounded once.
  std::vector<uint64_t> bin_indices;  // Sparse: the bins listed above, increasing.
  uint64_t underflow_count = 0;
  uint64_t overflow_count = 0;
  uint64_t nan_count = 0;
  std::vector<double> quantile_values;
};

// Exact sums of the weights of bins: of float16, bfloat16 and float32; of float64; of integers.
using HistogramWeightStates = std::variant<std::monostate, std::vector<ExactSum<float, 1>>,
                                           std::vector<ExactSum<double, 1>>, std::vector<Int128>>;

struct HistogramResult {
  std::vector<HistogramCounts> channels;  // One in two dimensions.
  std::vector<PlannedBins> bins;          // The plan's, with automatic ranges resolved.
  // Where the plan asks for them and has weights: one for every bin, all channels one after the
  // other. Sparse answers have them for every bin too.
  HistogramWeightStates weight_states{};
};

// Quantiles read off dense counts; NaN where all counts are 0. `edges` has counts.size() + 1
// values.
std::vector<double> QuantilesOfCounts(const std::vector<uint64_t>& counts,
                                      const std::vector<double>& edges,
                                      const std::vector<double>& quantiles);

// Fills quantile_values and, for sparse plans, leaves out the bins that are zero. For engines: the
// last step of every histogram, on dense counts.
void FinishHistogram(const HistogramPlan& plan, HistogramResult& result);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CONTRACT_HISTOGRAM_H_
