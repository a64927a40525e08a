// LaunchProduct computes floating-point products along the fixed tree of
// numerics/arithmetic/product_tree.h, level by level. Products are not mergeable in any order, so
// they take a pass of their own beside the other statistics.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PRODUCT_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PRODUCT_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cuda/reduce/reduce.h"

namespace gridfold::kernels::cuda {

// Device memory that LaunchProduct takes of a Scratch; the most for plans of up to `input_bytes`
// and `group_count`.
uint64_t ProductScratchBytes(const ReductionPlan& plan);
uint64_t ProductScratchBytesMax(uint64_t input_bytes, uint64_t group_count);

// Enqueues the products of all groups, written to slots[group]. Requires a floating-point array.
// Errors: RESOURCE_EXHAUSTED where `scratch` is too small; INTERNAL from CUDA.
absl::Status LaunchProduct(const ReductionPlan& plan, const ReductionInput& input, uint64_t* slots,
                           Scratch& scratch, const DeviceProperties& properties,
                           cudaStream_t stream);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PRODUCT_H_
