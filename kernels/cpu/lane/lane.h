// A lane of the CPU engine: checks a job against the lane's limits, times it and runs it.
#ifndef GRIDFOLD_KERNELS_CPU_LANE_LANE_H_
#define GRIDFOLD_KERNELS_CPU_LANE_LANE_H_

#include <memory>

#include "kernels/contract/engine.h"
#include "kernels/cpu/base/worker_pool.h"

namespace gridfold::kernels::cpu {

// `workers` must outlive the lane.
std::unique_ptr<Lane> CreateCpuLane(WorkerPool& workers, const LaneOptions& options);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_LANE_LANE_H_
