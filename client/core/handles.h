// What stands behind the handles of the C interface.
#ifndef GRIDFOLD_CLIENT_CORE_HANDLES_H_
#define GRIDFOLD_CLIENT_CORE_HANDLES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/core/gridfold_core.h"
#include "kernels/accumulators/accumulator.h"
#include "kernels/contract/engine.h"

struct gridfold_engine {
  std::unique_ptr<gridfold::kernels::Engine> engine;
};

struct gridfold_reduction {
  gridfold::kernels::ReductionResult result;
};

struct gridfold_histogram {
  gridfold::kernels::HistogramResult result;
  bool weighted = false;
  bool sparse = false;
  std::vector<std::vector<double>> edges;  // Of result.bins.
};

struct gridfold_keyed {
  gridfold::kernels::KeyedAnswer answer;
  gridfold_groups groups;  // Points into the answer.
  std::vector<gridfold::kernels::ValueKind> quantile_kinds;
  std::vector<gridfold::kernels::PlannedBins> bins;
  std::vector<std::vector<double>> edges;  // Of the bins.
};

struct gridfold_accumulator {
  std::string bytes;  // Sound: made here, or merged.
  gridfold_accumulator_description description;
};

namespace gridfold::core {

inline constexpr kernels::AccumulatorLimits kLimits{.group_count_max = GRIDFOLD_GROUPS_MAX,
                                                    .bin_count_max = GRIDFOLD_BINS_MAX,
                                                    .channel_count_max = GRIDFOLD_CHANNELS_MAX};

// A handle for the caller.
inline gridfold_histogram* NewHistogram(kernels::HistogramResult result, bool weighted,
                                        bool sparse) {
  auto handle = std::make_unique<gridfold_histogram>();
  for (const kernels::PlannedBins& bins : result.bins) {
    handle->edges.push_back(kernels::EdgesOf(bins));
  }
  handle->result = std::move(result);
  handle->weighted = weighted;
  handle->sparse = sparse;
  return handle.release();
}

}  // namespace gridfold::core

#endif  // GRIDFOLD_CLIENT_CORE_HANDLES_H_
