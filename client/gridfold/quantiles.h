// Exact quantiles, and elements by their rank, of an array or of each of its groups.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_QUANTILES_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_QUANTILES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"
#include "gridfold/array_input.h"
#include "gridfold/execution_statistics.h"
#include "gridfold/grouping.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

// What a quantile is that lies between two elements, as in NumPy. The numbers are those of the
// wire.
enum class QuantileMethod {
  kLinear = 1,    // Interpolated linearly. [double]
  kLower = 2,     // The element below. [an element]
  kHigher = 3,    // The element above. [an element]
  kNearest = 4,   // The nearer one; halfway, the one whose place is even. [an element]
  kMidpoint = 5,  // Interpolated halfway. [double]
  kMean = 6,      // The mean of the two, as NumPy's median. [double]
  // With weights only: the smallest element up to which there is that part of the weights. [an
  // element]
  kInvertedCdf = 7,
};

// All of them, in the order of their numbers; and those that are to be had without weights.
std::span<const QuantileMethod> AllQuantileMethods();
std::span<const QuantileMethod> UnweightedQuantileMethods();

// As the wire spells it, in lower case: "linear", "inverted_cdf". "unknown" for any other number.
absl::string_view QuantileMethodName(QuantileMethod method);
std::optional<QuantileMethod> ParseQuantileMethod(absl::string_view name);

struct QuantileOptions {
  std::vector<double> quantiles =
      {};                            // Each from 0 to 1; with the ranks at least one, at most 256.
  std::vector<uint64_t> ranks = {};  // Elements by their place: 0 stands for the smallest.
  QuantileMethod method = QuantileMethod::kLinear;
  Grouping grouping = WholeArray{};
  // Axes that the groups run along stay in the result's shape, with an extent of 1.
  bool keep_dimensions = false;
  // kPropagate: a NaN makes all values of its group NaN. kIgnore: it is left out.
  NanPolicy nan_policy = NanPolicy::kPropagate;
  // The weight of each element, finite and not negative, of any type but bool. With them the method
  // is kInvertedCdf and there are no ranks.
  std::optional<ArrayInput> weights = std::nullopt;
};

struct QuantileResult {
  // One entry for each quantile, and for each rank, in the order of the options, with a value for
  // each group. Elements are int64 of signed integers, uint64 of unsigned ones, else double.
  std::vector<StatisticValues> quantile_values = {};
  std::vector<StatisticValues> rank_values = {};
  uint64_t group_count = 0;
  std::vector<uint64_t> result_shape = {};  // Of each entry's values, which are row-major.
  ExecutionStatistics execution;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_QUANTILES_H_
