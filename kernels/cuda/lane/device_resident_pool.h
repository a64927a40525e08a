// A pool of resident memory on a device: one allocation, split without a call of the driver.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_DEVICE_RESIDENT_POOL_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_DEVICE_RESIDENT_POOL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contract/resident_memory.h"

namespace gridfold::kernels::cuda {

// Memory is reused as soon as it is given back, which is safe since lanes leave their streams idle
// behind every job. Errors: RESOURCE_EXHAUSTED where the device has not so much memory.
absl::StatusOr<std::unique_ptr<ResidentPool>> CreateDeviceResidentPool(int device,
                                                                       uint64_t size_bytes);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_DEVICE_RESIDENT_POOL_H_
