// DeviceTotals are the totals of a part as a launcher leaves them in scratch. Plain data.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_DEVICE_TOTALS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_DEVICE_TOTALS_H_

#include <cstddef>
#include <cstdint>

namespace gridfold::kernels::cuda {

// Device memory, valid until the scratch is used anew.
struct DeviceTotals {
  const std::byte* data = nullptr;
  uint64_t size_bytes = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_DEVICE_TOTALS_H_
