// The bins of a histogram in device memory, as kernels take them. For histogram/ only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_TABLES_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_TABLES_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/histogram.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/histogram/plan/arguments.h"

namespace gridfold::kernels::cuda {

// The place of each table of edges among all of them. Neighbours with equal tables share one.
struct EdgeTables {
  explicit EdgeTables(const std::vector<PlannedBins>& bins);

  std::vector<uint64_t> first_edges;  // Of each PlannedBins; not used where it has no table.
  uint64_t edge_count = 0;
};

struct HistogramTables {
  const ChannelBins* channels = nullptr;  // Null where few_channels has them.
  std::array<ChannelBins, kFewChannels> few_channels = {};
  const double* edges = nullptr;
  uint64_t edge_count = 0;
};

uint64_t HistogramTablesBytes(uint64_t bins_count, uint64_t edge_count);

// The tables of edges that kernels need, in the order in which they stand in device memory. Empty
// where the plan has none. They lie in the plan.
std::vector<HostSpan> EdgeTableSpans(const HistogramPlan& plan);

// Enqueues the copies of resolved `bins` to memory of `scratch`, where they have tables, unless
// these are at `edges` already, or belong to more than few channels; `bins` may change on return.
absl::StatusOr<HistogramTables> UploadTables(const std::vector<PlannedBins>& bins,
                                             const double* edges, Scratch& scratch,
                                             cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_TABLES_H_
