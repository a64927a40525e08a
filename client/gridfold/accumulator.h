// Accumulators: results of parts that a server folds into the result of the whole.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_ACCUMULATOR_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_ACCUMULATOR_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "gridfold/element_type.h"
#include "gridfold/histogram.h"
#include "gridfold/keyed_reduction.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

struct MergeOptions {
  // Whether more parts will follow, as at the inner nodes of a tree of merges: statistics that have
  // no value, or overflow, are then left out instead of being an error.
  bool partial = false;
  // Floating-point type of the statistics' values, as in ReductionOptions, whatever that of the
  // parts was. INVALID_ARGUMENT of histograms.
  std::optional<ElementType> output_type = std::nullopt;
};

struct SubtractOptions {
  bool partial = false;  // Whether more is to come or to go, as in MergeOptions.
  std::optional<ElementType> output_type = std::nullopt;  // As in MergeOptions.
};

// A merged histogram, with the options with which its parts were requested: bins, except integer
// bins, are given by their edges, and y_array and weights are empty views where there were such
// arrays.
struct MergedHistogram {
  HistogramResult result;
  HistogramOptions options;
};

// The answer for all parts together, with the merged accumulator inside.
struct MergeResult {
  ElementType element_type = ElementType::kFloat64;  // Of the parts' elements.
  uint64_t element_count = 0;  // In all parts and groups; 2^64 - 1 where there are more.
  // Of reductions, histograms, or reductions by found keys.
  std::variant<ReductionResult, MergedHistogram, KeyedReductionResult> answer;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ACCUMULATOR_H_
