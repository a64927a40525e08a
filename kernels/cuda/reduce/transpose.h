// The transpose of a matrix on the device. See device/launch.h for the manner of launchers.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_TRANSPOSE_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_TRANSPOSE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"

namespace gridfold::kernels::cuda {

// A matrix of `rows` times `columns` elements, row by row, and where its transpose goes. Both are
// aligned to an element.
struct TransposeWork {
  const void* elements;
  void* transposed;
  uint64_t rows;
  uint64_t columns;
  // Of a tile, which a block takes through shared memory: see LaunchTranspose.
  uint32_t tile_rows = 0;
  uint32_t tile_columns = 0;
};

// Elements of a tile at most: so many that each thread has some loads under way, and of 8 bytes,
// with a spare one in each row, they fit static shared memory.
inline constexpr uint32_t kTransposeThreads = 256;
inline constexpr uint32_t kTransposeTileElements = 4096;

// Enqueues the transpose of elements of 1, 2, 4 or 8 bytes. Errors: INTERNAL from CUDA.
absl::Status LaunchTranspose(TransposeWork work, uint64_t element_bytes, cudaStream_t stream);

using TransposeKernel = void (*)(TransposeWork);
TransposeKernel FindTransposeKernel(uint64_t element_bytes);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_TRANSPOSE_H_
