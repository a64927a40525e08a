#include "kernels/cuda/rearrange/rearrange.h"

#include <limits>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"

namespace gridfold::kernels::cuda {

absl::Status LaunchRearrangement(const Rearrangement& order, uint64_t element_bytes,
                                 const void* from, void* to, cudaStream_t stream) {
  const void* const first = FirstOf(order, element_bytes, from);
  const RearrangementTiles tiles = CutRearrangement(order, element_bytes, first, to);
  if (tiles.tile_count == 0) return absl::OkStatus();
  constexpr uint64_t kAnyNumber = std::numeric_limits<uint64_t>::max();
  const LaunchShape shape{.grid = dim3(GridStrideBlocks(tiles.tile_count, 1, kAnyNumber)),
                          .block = dim3(kRearrangeThreads)};
  return Launch(ChooseRearrangeKernel(tiles), shape, stream, tiles, first, to);
}

}  // namespace gridfold::kernels::cuda
