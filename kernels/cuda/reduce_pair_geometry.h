// How sums that are kept in pairs (reduce_pairs.cuh) are laid out on the device; part of
// reduce_geometry.h.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PAIR_GEOMETRY_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PAIR_GEOMETRY_H_

#include <cstdint>

#include "kernels/cuda/device_properties.h"
#include "kernels/cuda/reduce_geometry.h"
#include "kernels/reduction.h"

namespace gridfold::kernels::cuda {

// The layout for a plan with groups: one of the forms ...Sums, or kBlocks where groups are so long
// that they are cut into chunks, of which nothing else is said. Of segments that are longer than
// tile_elements_max likewise: they go to blocks, through a queue.
ReductionGeometry PlanPairSums(const ReductionPlan& plan, const DeviceProperties& properties);

// The layout of several statistics of columns by MomentColumns: kColumnItems or kWholeColumns.
ReductionGeometry PlanMomentColumns(const ReductionPlan& plan, const DeviceProperties& properties);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PAIR_GEOMETRY_H_
