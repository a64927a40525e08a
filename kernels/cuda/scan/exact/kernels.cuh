// All kernels of exact scans for one element type.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_KERNELS_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_KERNELS_CUH_

#include "kernels/cuda/scan/exact/carry.cuh"
#include "kernels/cuda/scan/exact/chunks.cuh"
#include "kernels/cuda/scan/exact/kernels.h"
#include "kernels/cuda/scan/exact/tiles.cuh"

namespace gridfold::kernels::cuda {

template <FloatingElement T>
ExactScanKernels FindExactScanKernels() {
  return {.tile_totals = TotalExactTiles<T>,
          .tile_results = ScanExactTiles<T>,
          .chunk_totals = TotalExactChunks<T>,
          .chunk_results = ScanExactChunks<T>,
          .link_totals = TotalExactLinks<T>,
          .carries = CarryExactStates<T>};
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_EXACT_KERNELS_CUH_
