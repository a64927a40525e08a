// DeviceProperties is what launchers need to know of a device, asked once when its engine is
// created.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_PROPERTIES_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_PROPERTIES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gridfold::kernels::cuda {

// The oldest compute capability, major version, that the kernels are written for.
inline constexpr int kComputeCapabilityMajorMin = 8;

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

// FAILED_PRECONDITION, saying what `name` is and what is needed, where the device is too old.
absl::Status CheckComputeCapability(const DeviceProperties& properties, absl::string_view name);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_PROPERTIES_H_
