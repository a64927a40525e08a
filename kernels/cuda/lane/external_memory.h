// Memory of other processes that the device reads and writes where it lies. See
// Engine::RegisterHostMemory and Engine::OpenIpcMemory for the contract.
//
// Host memory is locked and mapped into the device's addresses: kernels and the device's copy
// engine reach it over the bus themselves, without a staging copy. Thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_EXTERNAL_MEMORY_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_EXTERNAL_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contract/external_memory.h"

namespace gridfold::kernels::cuda {

// The memory is good for all devices of the program.
absl::StatusOr<std::unique_ptr<ExternalMemory>> RegisterHostMemory(int device,
                                                                   MutableHostSpan memory);

absl::StatusOr<std::unique_ptr<ExternalMemory>> OpenIpcMemory(int device, const IpcHandle& handle,
                                                              uint64_t size_bytes);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_EXTERNAL_MEMORY_H_
