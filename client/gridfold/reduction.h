// Reductions: one or several statistics of an array or of each of its groups.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_REDUCTION_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_REDUCTION_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "gridfold/execution_statistics.h"
#include "gridfold/grouping.h"
#include "gridfold/statistic.h"

namespace gridfold::client {

struct ReductionOptions {
  // At least one, none twice. All are computed in one pass over the array.
  std::vector<Statistic> statistics = {};
  Grouping grouping = WholeArray{};
  // Axes that are reduced stay in the result's shape, with an extent of 1.
  bool keep_dimensions = false;
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;  // Of sums and products.
  // Variance, standard deviation and standard error divide by the count minus this: 1 for a sample.
  uint32_t delta_degrees_of_freedom = 0;
  // Whether the result comes with its accumulator, for Client::MergeAccumulators. The array is then
  // a part of a whole, and statistics for which some group is too small are left out. Not for
  // products of floating-point elements.
  bool return_accumulator = false;
  // Index of the first element of each group in that whole array; added to argmin and argmax.
  uint64_t first_index = 0;
};

// One value for each group. Statistic says which alternative is held.
using StatisticValues = std::variant<std::vector<int64_t>, std::vector<uint64_t>,
                                     std::vector<double>, std::vector<bool>>;

struct ReductionResult {
  struct Entry {
    Statistic statistic;
    StatisticValues values;  // `group_count` of them.
  };

  // One for each requested statistic that has values, in that order.
  std::vector<Entry> entries;
  uint64_t group_count = 0;
  // Of each statistic's values, which are row-major: none for one value without dimensions, and in
  // the answers of MergeAccumulators.
  std::vector<uint64_t> result_shape = {};
  ExecutionStatistics execution;
  std::string accumulator = {};  // If requested. Opaque bytes.

  // The values of a statistic; nullptr where it was not requested, or of a part without values.
  const StatisticValues* Find(Statistic statistic) const {
    for (const Entry& entry : entries) {
      if (entry.statistic == statistic) return &entry.values;
    }
    return nullptr;
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_REDUCTION_H_
