// The kernel of histogram/distributed as host code sees it. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_DISTRIBUTED_H_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_DISTRIBUTED_H_

#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels::cuda {

// Any bins, channels and dimensions, without weights. Block r of a cluster has the counters of the
// bins from r * bins_per_block on, in its dynamic shared memory, and all blocks share out the
// samples.
HistogramKernel FindDistributedHistogramKernel(ElementType type);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_PLAN_DISTRIBUTED_H_
