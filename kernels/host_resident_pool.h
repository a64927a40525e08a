// A pool of resident memory in host memory: for the CPU engine, and for tests.
#ifndef GRIDFOLD_KERNELS_HOST_RESIDENT_POOL_H_
#define GRIDFOLD_KERNELS_HOST_RESIDENT_POOL_H_

#include <cstdint>
#include <memory>

#include "kernels/resident_memory.h"

namespace gridfold::kernels {

// Takes memory from the system as it is asked for, up to `size_bytes`, and gives it back to it.
std::unique_ptr<ResidentPool> CreateHostResidentPool(uint64_t size_bytes);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_HOST_RESIDENT_POOL_H_
