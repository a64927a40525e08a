// The CPU engine: runs plans on the processor's cores with oneTBB.
//
// Results do not depend on the number of threads: arrays are cut into blocks by their shape alone,
// and the blocks' results are joined in the blocks' order.
#ifndef GRIDFOLD_KERNELS_CPU_LANE_ENGINE_H_
#define GRIDFOLD_KERNELS_CPU_LANE_ENGINE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"

namespace gridfold::kernels::cpu {

// `threads` for all lanes together; 0: one for each processor. Errors: INVALID_ARGUMENT for a
// negative number.
absl::StatusOr<std::unique_ptr<Engine>> CreateCpuEngine(int threads);

// Virtual devices, each with its part of the threads, at least one, and of the memory: what works
// on several GPUs works on them. Errors: INVALID_ARGUMENT for a negative number of threads, or no
// device.
absl::StatusOr<std::vector<std::unique_ptr<Engine>>> CreateCpuEngines(int threads, int devices);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_LANE_ENGINE_H_
