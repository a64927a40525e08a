// Histograms: counts, or sums of weights, of an array's elements by bins.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_HISTOGRAM_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_HISTOGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gridfold/array_input.h"
#include "gridfold/execution_statistics.h"

namespace gridfold::client {

// Except for IntegerBins, every bin is half-open, [edges[i], edges[i + 1]), but the last one
// closed, with the edges that the result holds.

// Rules for how many bins there are: those of numpy.histogram_bin_edges in NumPy 1, from exact
// statistics. The numbers are those of the wire.
enum class BinRule {
  kAuto = 1,
  kFreedmanDiaconis = 2,
  kScott = 3,
  kRice = 4,
  kSturges = 5,
  kSqrt = 6,
};

// "auto", "fd", "scott", "rice", "sturges" and "sqrt", as NumPy names them; nothing for others.
std::optional<BinRule> BinRuleOf(std::string_view name);

// Bins of equal width. Both bounds or none; without bounds the range is that of the finite
// elements.
struct EvenBins {
  uint64_t bin_count = 0;  // 0 with a rule.
  std::optional<double> lower_bound = std::nullopt;
  std::optional<double> upper_bound = std::nullopt;
  // Says how many bins there are; the result tells. With bounds of the elements between them;
  // without, all must be finite. For Client::ComputeHistogram only, of one channel without weights
  // or an accumulator.
  std::optional<BinRule> rule = std::nullopt;
};

// Bins between the given edges, which increase strictly and are one more than the bins. The first
// may be -infinity, the last +infinity.
struct EdgeBins {
  std::vector<double> edges;
};

// Bins of equal ratio; 0 < lower_bound < upper_bound, finite.
struct LogarithmicBins {
  uint64_t bin_count = 0;
  double lower_bound = 0;
  double upper_bound = 0;
};

// Bin i counts the elements equal to first_value + i. Integer elements only. The integers are those
// of int64 for signed elements, and of uint64 for unsigned ones.
struct IntegerBins {
  int64_t first_value = 0;
  uint64_t bin_count = 0;
  // The integer of bin 0 where it is 2^63 or more, which first_value cannot hold: for unsigned
  // elements only, and in place of first_value. 0: not used.
  uint64_t first_unsigned_value = 0;
};

using BinSpecification = std::variant<EvenBins, EdgeBins, LogarithmicBins, IntegerBins>;

// What happens to samples outside the bins; they are counted as underflow or overflow either way.
// The numbers are those of the wire.
enum class OutOfRangePolicy {
  kDrop = 1,   // They are in no bin.
  kClamp = 2,  // They count in the nearest bin as well.
};

// Which bins a result lists. The numbers are those of the wire.
enum class HistogramFormat {
  kDense = 1,   // All.
  kSparse = 2,  // Those that are not zero.
};

struct HistogramOptions {
  // One entry, one for each channel, or in two dimensions two, for x and y.
  std::vector<BinSpecification> bins = {};
  // Interleaved channels: element i of the samples belongs to channel i modulo channel_count.
  uint32_t channel_count = 1;
  // Makes the histogram two-dimensional: sample i is (array[i], y_array[i]). Same type and size.
  std::optional<ArrayInput> y_array = std::nullopt;
  // The weight of each sample, of any element type. The result is then sums of weights.
  std::optional<ArrayInput> weights = std::nullopt;
  // Which samples count: an array of bool of as many elements. Refused with several channels, and
  // in streams, whose mask is sent beside the samples (StreamedCompanions::mask).
  std::optional<ArrayInput> where = std::nullopt;
  OutOfRangePolicy out_of_range_policy = OutOfRangePolicy::kDrop;
  HistogramFormat format = HistogramFormat::kDense;
  // Quantiles to estimate from the counts, each in [0, 1]. Not with weights, in two dimensions, or
  // with integer bins.
  std::vector<double> quantiles = {};
  // Whether the result comes with its accumulator, for Client::MergeAccumulators. Parts can be
  // merged if their bins are the same, so EvenBins need bounds.
  bool return_accumulator = false;
  // The strategy that is to run it, as ExecutionStatistics names them, for measuring and for
  // reproducing; the bits are the same. Empty: the server's choice. INVALID_ARGUMENT, with those
  // that can, where it cannot take the request. Not for streams, nor where devices compute a
  // part each.
  std::string strategy = {};
};

// The counts of one channel.
struct HistogramCounts {
  std::vector<uint64_t> counts = {};     // Of each bin, or of each listed one. Empty with weights.
  std::vector<double> weight_sums = {};  // The same; only with weights.
  std::vector<uint64_t> bin_indices =
      {};                        // Sparse only: the number of each listed bin, increasing.
  uint64_t underflow_count = 0;  // Samples below the first edge.
  uint64_t overflow_count = 0;   // Samples above the last edge.
  uint64_t nan_count = 0;        // NaN samples; they are in no bin.
  std::vector<double> quantile_values = {};  // As requested; NaN where no sample is in a bin.
};

// The bins as they were used.
struct ResolvedBins {
  uint64_t bin_count = 0;
  std::vector<double> edges;  // bin_count + 1; empty for integer bins.
};

struct HistogramResult {
  // One for each channel; one in two dimensions, where bin (x, y) has index
  // x * bins[1].bin_count + y.
  std::vector<HistogramCounts> channels;
  std::vector<ResolvedBins> bins;  // One for each channel; two, for x and y, in two dimensions.
  ExecutionStatistics execution;
  std::string accumulator = {};  // If requested. Opaque bytes.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_HISTOGRAM_H_
