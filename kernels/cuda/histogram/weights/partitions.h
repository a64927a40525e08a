// Weights of many bins are summed by partitions (histogram/partitions/partitions.h) whose sums are
// in windows of words in shared memory (numerics/sums/weight_window.h). For histogram/ only.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_PARTITIONS_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_PARTITIONS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/histogram.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/plan/launch.h"

namespace gridfold::kernels::cuda {

// Device memory that NewWeightQueue takes of a Scratch, and the most of it for plans of up to
// `bin_count` bins.
uint64_t WeightQueueBytes(const HistogramPlan& plan);
uint64_t WeightQueueBytesMax(uint64_t bin_count);

// A queue for the samples of a plan whose strategy has partitions. Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<PartitionQueue> NewWeightQueue(const HistogramPlan& plan,
                                              const CountingLaunch& launch, Scratch& scratch);

// Enqueues the addition of the samples of `arguments`, which has that queue, to the sums of its
// pass. Errors: INTERNAL from CUDA.
absl::Status SumByPartitions(const HistogramPlan& plan, const CountingLaunch& launch,
                             HistogramArguments arguments, cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_PARTITIONS_H_
