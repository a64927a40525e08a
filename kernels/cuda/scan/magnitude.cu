#include <bit>

#include "kernels/cuda/scan/magnitude_kernel.h"

namespace gridfold::kernels::cuda {

namespace {

__global__ void LargestMagnitude(const double* elements, uint64_t count, uint64_t* bits) {
  constexpr uint64_t kMagnitude = ~uint64_t{0} >> 1;
  constexpr uint64_t kInfinity = uint64_t{0x7FF} << 52;
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  uint64_t largest = 0;  // Magnitudes are in the order of their bits.
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const uint64_t magnitude = std::bit_cast<uint64_t>(elements[i]) & kMagnitude;
    if (magnitude < kInfinity && magnitude > largest) largest = magnitude;
  }
  if (largest > 0) {
    static_assert(sizeof(unsigned long long) == sizeof(uint64_t));    // NOLINT
    atomicMax(reinterpret_cast<unsigned long long*>(bits), largest);  // NOLINT
  }
}

}  // namespace

LargestMagnitudeKernel FindLargestMagnitudeKernel() { return LargestMagnitude; }

}  // namespace gridfold::kernels::cuda
