// Statistics of two arrays, or of each two columns of one, with weights or without.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_PAIRED_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_PAIRED_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "gridfold/array_input.h"
#include "gridfold/execution_statistics.h"
#include "gridfold/grouping.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

// Numbers are those of gridfold.v1. W is the sum of the weights w, or the number of observations.
enum class PairedStatistic {
  kDot = 1,      // Of two columns: sum of w * x * y.
  kCovariance,   // Of two columns: (W * sum(w*x*y) - sum(w*x) * sum(w*y)) / divisor.
  kCorrelation,  // Of two columns. NaN where one is constant.
  kMean,         // Of each column: sum(w*x) / W.
  kVariance,     // Of each column: its covariance with itself.
};

// What covariances and variances are divided by.
enum class WeightKind {
  kFrequency = 1,  // How often an observation was made: W * (W - ddof).
  kReliability,    // How much it says: W * W - ddof * sum(w*w).
};

struct RelateOptions {
  // At least one, none twice. Every value is the exact one, rounded once.
  std::vector<PairedStatistic> statistics = {};
  // The second array, of the type and shape of the first. Without it the first one has one or two
  // dimensions, and its columns, at most 64, are related.
  std::optional<ArrayInput> y = std::nullopt;
  // Of each observation: finite numbers of the array's type, none negative.
  std::optional<ArrayInput> weights = std::nullopt;
  uint32_t delta_degrees_of_freedom = 0;
  WeightKind weight_kind = WeightKind::kFrequency;
  // kIgnore: observations with a NaN in any column, or as their weight, are left out.
  NanPolicy nan_policy = NanPolicy::kPropagate;
  OverflowPolicy overflow_policy = OverflowPolicy::kError;  // Of dot products of integers.
};

struct RelateResult {
  struct Entry {
    PairedStatistic statistic;
    // Of a statistic of two columns: with y one value, else the square matrix of all columns, row
    // by row. Of a statistic of each column: one value for each, with y two.
    StatisticValues values;
  };
  std::vector<Entry> entries;  // In the order of the options' statistics.
  uint32_t column_count = 0;
  uint64_t observation_count = 0;  // Those that took part.
  ExecutionStatistics execution;

  // The values of a statistic; nullptr where it was not requested.
  const StatisticValues* Find(PairedStatistic statistic) const {
    for (const Entry& entry : entries) {
      if (entry.statistic == statistic) return &entry.values;
    }
    return nullptr;
  }
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_PAIRED_H_
