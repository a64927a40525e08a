// How row moments (row_moments.h) are laid out on a device. Plain C++, needs no device.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_ROW_MOMENT_SHAPE_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_ROW_MOMENT_SHAPE_H_

#include <cstdint>

#include "kernels/cuda/device/properties.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// The first members are those of RowMomentWork.
struct RowMomentShape {
  uint32_t width_log2 = 0;
  uint32_t parts = 0;
  uint32_t turn_rows = 0;
  uint32_t unit_rows = 0;
  uint32_t batch_passes = 0;
  uint32_t rotation_shift = 0;
  uint32_t grid_blocks = 1;
};

// For rows that LaunchRowMoments takes, some of them and of some elements.
RowMomentShape PlanRowMoments(ElementType type, uint64_t row_count, uint64_t row_size,
                              const DeviceProperties& properties);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_ROW_MOMENT_SHAPE_H_
