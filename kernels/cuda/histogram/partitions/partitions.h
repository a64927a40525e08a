// Histograms of very many bins: samples are first split by partitions of the bins, and then each
// partition is counted in shared memory. For histogram/ only.
//
// The samples of a tile become the numbers of their bins, of which the low 16 bits tell bins of a
// partition apart, ordered by partition, in a queue in device memory; a table says where in the
// tile each partition begins. So nothing depends on how many samples a partition gets. Then blocks
// take equal shares of the queue, partition by partition. The weights of a tile, if it has any, are
// ordered beside it.
//
// Example, 2^20 bins, so 32 partitions of 2^15, and a tile of three samples in bins 40000, 7 and
// 32768:
//
//   the queue has 7 | 40000 - 32768, 0        the table says 0, 1, 3, 3, ... for the tile
//   a block that counts partition 1 takes entries 1 and 2 of this tile, and goes on to the next
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_PARTITIONS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_PARTITIONS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/contract/histogram.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/launch.h"
#include "kernels/cuda/histogram/plan/partition_kernels.h"

namespace gridfold::kernels::cuda {

// A queue for so many tiles of samples, with weights of so many bytes.
struct QueueSize {
  // Tiles of the largest chunk of an array, of `tile_count` in all: the queue's memory, in which
  // arrays are counted chunk by chunk, is no more than what sums of weights of so many bins have
  // (histogram/weights/weights.cc).
  static QueueSize For(uint64_t tile_count, uint64_t partition_count, uint32_t tile_samples,
                       uint32_t weight_bytes = 0);

  uint64_t bytes() const;
  // Allocates the queue's memory. Errors: RESOURCE_EXHAUSTED.
  absl::StatusOr<PartitionQueue> Allocate(Scratch& scratch) const;

  uint64_t tiles = 0;
  uint64_t partition_count = 0;
  uint32_t tile_samples = 0;
  uint32_t weight_bytes = 0;
};

// The kernels of a chunk: one fills the queue, and the other one takes what is in it.
struct PartitionLaunch {
  HistogramKernel split = nullptr;
  LaunchShape split_shape;
  HistogramKernel take = nullptr;
  LaunchShape take_shape;
};

// Enqueues both for the tiles of `arguments`, of which samples before and behind all are the first
// one's. Errors: INTERNAL from CUDA.
absl::Status LaunchChunk(const PartitionLaunch& launch, HistogramArguments arguments,
                         uint64_t tile_count, cudaStream_t stream);

// Device memory that CountByPartitions takes of a Scratch, and the most of it for plans of up to
// `bin_count` bins.
uint64_t PartitionScratchBytes(const HistogramPlan& plan);
uint64_t PartitionScratchBytesMax(uint64_t bin_count);

// Enqueues the counting of all samples by the kernel of `launch`, a split kernel. Errors:
// RESOURCE_EXHAUSTED where `scratch` is too small; INTERNAL from CUDA.
absl::Status CountByPartitions(const HistogramPlan& plan, const CountingLaunch& launch,
                               const HistogramArguments& arguments, Scratch& scratch,
                               cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PARTITIONS_PARTITIONS_H_
