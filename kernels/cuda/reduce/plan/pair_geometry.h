// PlanPairSums says how sums that are kept in pairs (reduce/core/pairs.cuh) are laid out on the
// device; part of geometry.h.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_PAIR_GEOMETRY_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_PAIR_GEOMETRY_H_

#include <cstdint>

#include "kernels/contract/reduction.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/reduce/plan/geometry.h"

namespace gridfold::kernels::cuda {

// The layout for a plan with groups: one of the forms ...Sums, or kBlocks where groups are so long
// that they are cut into chunks, of which nothing else is said. Segments that are longer than
// tile_elements_max go to blocks, through a queue, of which nothing else is said either.
// `wanted` is as PlanReductionGeometry has it.
ReductionGeometry PlanPairSums(const ReductionPlan& plan, const DeviceProperties& properties,
                               WantedKernel wanted);

// The layout of several statistics of columns by MomentColumns: kColumnItems or kWholeColumns.
ReductionGeometry PlanMomentColumns(const ReductionPlan& plan, const DeviceProperties& properties,
                                    WantedKernel wanted);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_PAIR_GEOMETRY_H_
