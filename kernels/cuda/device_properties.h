// What launchers need to know of a device, asked once when its engine is created.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_PROPERTIES_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_PROPERTIES_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace gridfold::kernels::cuda {

struct DeviceProperties {
  int device = 0;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  int multiprocessor_count = 1;
  int threads_per_multiprocessor_max = 1024;
  int shared_bytes_per_block_max = 48 * 1024;  // After opting in; 48 KiB need no opting in.
  int shared_bytes_per_multiprocessor = 64 * 1024;
  int l2_bytes = 0;
  bool has_clusters = false;            // Thread-block clusters, so compute capability 9.0.
  bool has_cooperative_launch = false;  // Grid-wide synchronisation.
};

// Errors: INTERNAL where the device does not exist or cannot be asked.
absl::StatusOr<DeviceProperties> QueryDeviceProperties(int device);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_PROPERTIES_H_
