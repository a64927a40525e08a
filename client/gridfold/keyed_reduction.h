// Reductions by key: statistics and exact quantiles of the values of each key, or of each bin.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_KEYED_REDUCTION_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_KEYED_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gridfold/array_input.h"
#include "gridfold/element_type.h"
#include "gridfold/execution_statistics.h"
#include "gridfold/grouping.h"
#include "gridfold/histogram.h"
#include "gridfold/quantiles.h"
#include "gridfold/reduction.h"
#include "gridfold/statistic.h"

namespace gridfold::client {

// Each key that occurs. More different keys than the maximum are an error; 0: as many as the server
// allows groups.
struct FoundKeys {
  uint64_t key_count_max = 0;
};

// Each integer of a range, whether it occurs or not. Keys outside of it are an error.
struct KeyRange {
  int64_t first_key = 0;
  uint64_t key_count = 0;
  // In place of first_key where that is 2^63 or more: for unsigned keys only. 0: not used.
  uint64_t first_unsigned_key = 0;
};

// Each bin in which keys fall, in row-major order of up to 8 dimensions. One entry for all of them,
// or one for each: for the keys, y_keys and further_keys, which are as many, each of any type but
// bool.
struct KeyBins {
  std::vector<BinSpecification> bins = {};
  std::optional<ArrayInput> y_keys = std::nullopt;
  OutOfRangePolicy out_of_range_policy = OutOfRangePolicy::kDrop;
  std::vector<ArrayInput> further_keys = {};  // Not in a stream.
};

struct KeyedReductionOptions {
  // None twice, and at least one, or a quantile.
  std::vector<Statistic> statistics = {};
  std::variant<FoundKeys, KeyRange, KeyBins> groups = FoundKeys{};
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;  // Of sums and products.
  // Variance, standard deviation and standard error divide by the count minus this.
  uint32_t delta_degrees_of_freedom = 0;
  // Whether the result comes with the accumulator of all groups, for Client::MergeAccumulators: of
  // found keys it has the keys, else it is that of a reduction with equally many groups. Statistics
  // for which some group with elements is too small are left out.
  bool return_accumulator = false;
  // Index of the first value in the whole of which the arrays are a part; added to argmin, argmax.
  uint64_t first_index = 0;
  // Floating-point type of the statistics' values, as in ReductionOptions. Quantiles are as ever.
  std::optional<ElementType> output_type = std::nullopt;
  // Exact quantiles, each from 0 to 1, at most 256; not with an accumulator, and not in a stream.
  std::vector<double> quantiles = {};
  QuantileMethod quantile_method = QuantileMethod::kLinear;
};

struct KeyedReductionResult {
  // One for each requested statistic that has values, in that order; one value for each group. Of a
  // group without elements, where a statistic needs some: 0, of an index 2^64 - 1, or NaN.
  std::vector<ReductionResult::Entry> entries;
  uint64_t group_count = 0;
  // Of found keys: the key of each group, increasing, int64 or uint64. Else empty.
  StatisticValues keys;
  std::vector<uint64_t> counts;    // Elements of each group, NaNs included.
  std::vector<ResolvedBins> bins;  // Of bins: those of each dimension.
  uint64_t underflow_count = 0;    // Of bins: values whose keys are in none of them.
  uint64_t overflow_count = 0;
  uint64_t nan_count = 0;
  ExecutionStatistics execution;
  std::string accumulator = {};  // If requested. Opaque bytes.
  // One entry for each quantile, in the order of the options, with a value for each group, as of
  // QuantileResult. Of a group without elements: NaN, of integers 0.
  std::vector<StatisticValues> quantile_values = {};

  // The values of a statistic; nullptr where it was not requested, or of a part without values.
  const StatisticValues* Find(Statistic statistic) const {
    for (const ReductionResult::Entry& entry : entries) {
      if (entry.statistic == statistic) return &entry.values;
    }
    return nullptr;
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_KEYED_REDUCTION_H_
