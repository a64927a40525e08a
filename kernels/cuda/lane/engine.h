// The CUDA engine: runs plans on one GPU. See kernels/contract/engine.h for the contract.
//
// Plain C++: needs neither the CUDA toolkit's headers nor, to be called, a driver or a GPU.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_ENGINE_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_ENGINE_H_

#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"

namespace gridfold::kernels {

// Errors: FAILED_PRECONDITION where there is no such device, or it is of a kind that the program
// was not built for; INTERNAL where it fails.
absl::StatusOr<std::unique_ptr<Engine>> CreateCudaEngine(int device);

// Lets each of these devices copy directly from the others, where the machine has a way between
// them. To be called after their engines were created. Thread-safe.
void ConnectDevices(std::span<const int> devices);

// GPUs that the driver offers; 0 where there is no driver.
int CudaDeviceCount();

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_ENGINE_H_
