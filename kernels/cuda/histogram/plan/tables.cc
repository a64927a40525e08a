#include "kernels/cuda/histogram/plan/tables.h"

#include <algorithm>
#include <span>

#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

// Uploads from pageable memory: returns when the bytes have been taken from it.
template <class T>
absl::StatusOr<const T*> Upload(const std::vector<T>& values, Scratch& scratch,
                                cudaStream_t stream) {
  absl::StatusOr<T*> device = scratch.Allocate<T>(values.size());
  if (!device.ok()) return device.status();
  if (!values.empty()) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(*device, values.data(), values.size() * sizeof(T),
                                                  cudaMemcpyHostToDevice, stream));
  }
  return *device;
}

std::vector<double> GatherEdges(const std::vector<PlannedBins>& bins, const EdgeTables& tables) {
  std::vector<double> edges(tables.edge_count);
  for (size_t c = 0; c < bins.size(); ++c) {
    std::copy(bins[c].edges.begin(), bins[c].edges.end(), edges.begin() + tables.first_edges[c]);
  }
  return edges;
}

}  // namespace

EdgeTables::EdgeTables(const std::vector<PlannedBins>& bins) : first_edges(bins.size()) {
  const PlannedBins* last = nullptr;
  for (size_t c = 0; c < bins.size(); ++c) {
    if (bins[c].kind != BinKind::kTable) continue;
    if (last != nullptr && last->edges == bins[c].edges) {
      first_edges[c] = edge_count - bins[c].edges.size();
      continue;
    }
    last = &bins[c];
    first_edges[c] = edge_count;
    edge_count += bins[c].edges.size();
  }
}

uint64_t HistogramTablesBytes(uint64_t bins_count, uint64_t edge_count) {
  return ScratchBytes(edge_count * sizeof(double)) + ScratchBytes(bins_count * sizeof(ChannelBins));
}

std::vector<HostSpan> EdgeTableSpans(const HistogramPlan& plan) {
  const EdgeTables tables(plan.bins);
  std::vector<HostSpan> spans;
  uint64_t edge_count = 0;  // Of those before.
  for (size_t c = 0; c < plan.bins.size(); ++c) {
    const std::vector<double>& edges = plan.bins[c].edges;
    // One that shares its neighbour's table begins before the end of it.
    if (plan.bins[c].kind != BinKind::kTable || tables.first_edges[c] < edge_count) continue;
    const auto bytes = std::as_bytes(std::span(edges));
    spans.push_back({bytes.data(), bytes.size()});
    edge_count += edges.size();
  }
  return spans;
}

absl::StatusOr<HistogramTables> UploadTables(const std::vector<PlannedBins>& bins,
                                             const double* edges, Scratch& scratch,
                                             cudaStream_t stream) {
  const EdgeTables tables(bins);
  const absl::StatusOr<const double*> device_edges =
      edges != nullptr   ? absl::StatusOr<const double*>(edges)
      : bins.size() == 1 ? Upload(bins[0].edges, scratch, stream)
                         : Upload(GatherEdges(bins, tables), scratch, stream);
  if (!device_edges.ok()) return device_edges.status();

  std::vector<ChannelBins> channels(bins.size());
  uint64_t first_bin = 0;
  for (size_t c = 0; c < bins.size(); ++c) {
    channels[c] = {LayoutOf(bins[c], *device_edges + tables.first_edges[c]), first_bin};
    first_bin += bins[c].bin_count;
  }
  HistogramTables result{.edges = *device_edges, .edge_count = tables.edge_count};
  if (channels.size() <= kFewChannels) {
    std::copy(channels.begin(), channels.end(), result.few_channels.begin());
    return result;
  }
  const absl::StatusOr<const ChannelBins*> device_channels = Upload(channels, scratch, stream);
  if (!device_channels.ok()) return device_channels.status();
  result.channels = *device_channels;
  return result;
}

}  // namespace gridfold::kernels::cuda
