#include "kernels/cuda/bykey/block.cuh"
#include "kernels/cuda/bykey/kernels.h"

namespace gridfold::kernels::cuda {

namespace {

// Negative zeros have the sign bit alone.
template <class Bits>
__global__ void __launch_bounds__(kKeyThreads)
    FindNegativeZeros(const void* const elements, const uint64_t count, uint32_t* const found) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  bool is_found = false;
  for (uint64_t i = FirstElement(); i < count; i += ElementStep()) {
    is_found |= static_cast<const Bits*>(elements)[i] == kSign;
  }
  if (is_found) *found = 1;
}

}  // namespace

FindNegativeZerosKernel NegativeZerosKernelOf(uint64_t element_bytes) {
  switch (element_bytes) {
    case 2: return FindNegativeZeros<uint16_t>;
    case 4: return FindNegativeZeros<uint32_t>;
  }
  return FindNegativeZeros<uint64_t>;
}

}  // namespace gridfold::kernels::cuda
