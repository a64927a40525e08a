// LaunchCompact leaves out the zeros of an array on the device: it writes the non-zero values, and
// where they stood, without gaps and in order. See device/launch.h for the manner of launchers;
// plain C++.
//
// Three launches: non-zero values of each tile are counted, the counts scanned to allocate each
// tile's place in the output, and the values written there.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/histogram/compact_values.h"

namespace gridfold::kernels::cuda {

uint64_t CompactScratchBytes(uint64_t word_count);

// Enqueues the compaction of `word_count` words, which do not overlap the output. Errors:
// RESOURCE_EXHAUSTED where `scratch` is too small; INTERNAL from CUDA.
absl::Status LaunchCompact(const uint64_t* words, uint64_t word_count, WordKind kind,
                           const CompactOutput& output, Scratch& scratch,
                           const DeviceProperties& properties, cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_COMPACT_H_
