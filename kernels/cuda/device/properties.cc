#include "kernels/cuda/device/properties.h"

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

absl::StatusOr<DeviceProperties> QueryDeviceProperties(int device) {
  DeviceProperties properties;
  properties.device = device;
  int clusters = 0;
  int cooperative = 0;
  const struct {
    cudaDeviceAttr attribute;
    int* value;
  } queries[] = {
      {cudaDevAttrComputeCapabilityMajor, &properties.compute_capability_major},
      {cudaDevAttrComputeCapabilityMinor, &properties.compute_capability_minor},
      {cudaDevAttrMultiProcessorCount, &properties.multiprocessor_count},
      {cudaDevAttrMaxThreadsPerMultiProcessor, &properties.threads_per_multiprocessor_max},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, &properties.shared_bytes_per_block_max},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, &properties.shared_bytes_per_multiprocessor},
      {cudaDevAttrL2CacheSize, &properties.l2_bytes},
      {cudaDevAttrClusterLaunch, &clusters},
      {cudaDevAttrCooperativeLaunch, &cooperative},
  };
  for (const auto& query : queries) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaDeviceGetAttribute(query.value, query.attribute, device));
  }
  properties.has_clusters = clusters != 0;
  properties.has_cooperative_launch = cooperative != 0;
  return properties;
}

absl::Status CheckComputeCapability(const DeviceProperties& properties, absl::string_view name) {
  if (properties.compute_capability_major >= kComputeCapabilityMajorMin) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(name, " has compute capability ", properties.compute_capability_major, ".",
                   properties.compute_capability_minor, "; the CUDA engine needs ",
                   kComputeCapabilityMajorMin, ".0 or newer"));
}

}  // namespace gridfold::kernels::cuda
