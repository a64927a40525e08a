#include "kernels/cuda/reduce/transpose.h"

#include <algorithm>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"

namespace gridfold::kernels::cuda {

namespace {

// A square, or of a matrix that has fewer rows or columns all of these.
void SetTile(TransposeWork& work) {
  constexpr uint64_t kSide = 64;
  static_assert(kSide * kSide == kTransposeTileElements);
  uint64_t rows = std::min(work.rows, kSide);
  const uint64_t columns = std::min(work.columns, kTransposeTileElements / rows);
  rows = std::min(work.rows, kTransposeTileElements / columns);
  work.tile_rows = static_cast<uint32_t>(rows);
  work.tile_columns = static_cast<uint32_t>(columns);
}

}  // namespace

absl::Status LaunchTranspose(TransposeWork work, uint64_t element_bytes, cudaStream_t stream) {
  SetTile(work);
  const uint64_t tiles =
      CeilDivide(work.rows, work.tile_rows) * CeilDivide(work.columns, work.tile_columns);
  const LaunchShape shape{.grid = dim3(static_cast<uint32_t>(tiles)),
                          .block = dim3(kTransposeThreads)};
  return Launch(FindTransposeKernel(element_bytes), shape, stream, work);
}

}  // namespace gridfold::kernels::cuda
