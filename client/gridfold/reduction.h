// Reductions: one or several statistics of an array or of each of its groups.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_REDUCTION_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gridfold/array_input.h"
#include "gridfold/element_type.h"
#include "gridfold/empty_group.h"
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
  // Any finite number; where it is no whole number from 0 to 2^32 - 1 the values are within two
  // units in the last place, and not rounded once.
  double delta_degrees_of_freedom = 0;
  // Groups that are too small for a statistic. Other than an error only where the array is reduced
  // as a whole: not in streams, or with return_accumulator.
  EmptyGroup empty_group = {};
  // Which elements count: an array of bool of the array's shape, or of its last dimensions alone.
  // argmin and argmax are places among all elements. Refused with return_accumulator, and in
  // streams, whose mask is sent beside the elements (StreamedArray::has_mask).
  std::optional<ArrayInput> where = std::nullopt;
  // An element that each group has besides: with sum, product, min, max, all and any only. A value
  // of the array's type. Refused in streams and with return_accumulator.
  std::optional<Scalar> initial = std::nullopt;
  // Whether the result comes with its accumulator, for Client::MergeAccumulators. The array is then
  // a part of a whole, and statistics for which some group is too small are left out. Not for
  // products of floating-point elements.
  bool return_accumulator = false;
  // Index of the first element of each group in that whole array; added to argmin and argmax.
  uint64_t first_index = 0;
  // Floating-point type of the values that are double otherwise, which saves a large answer half of
  // its bytes or more: each is the float64 value, rounded to the nearest, ties to even; one past
  // the type's largest becomes infinite. Nothing: float64. INVALID_ARGUMENT for other types, and
  // where no statistic has such values.
  std::optional<ElementType> output_type = std::nullopt;
  // The strategy that is to run it, as ExecutionStatistics names them, for measuring and for
  // reproducing; the bits are the same. Empty: the server's choice. INVALID_ARGUMENT, with those
  // that can, where it cannot take the request. Not for streams, nor where devices compute a
  // part each.
  std::string strategy = {};
};

// One value for each group. Statistic says which alternative is held.
using StatisticValues = std::variant<std::vector<int64_t>, std::vector<uint64_t>,
                                     std::vector<double>, std::vector<bool>>;

struct ReductionResult {
  struct Entry {
    Statistic statistic;
    StatisticValues values;  // `group_count` of them.
    // Whether each group has a value, with EmptyGroupPolicy::kNull where one has none; the values
    // of those are 0. Empty: all have.
    std::vector<bool> has_value = {};
    // Where options asked for a narrower type than float64, and `values` are doubles: that type,
    // and the same values packed as its elements, for ViewElements. Else float64, and no bytes.
    ElementType output_type = ElementType::kFloat64;
    std::string data = {};
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
