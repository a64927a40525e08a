#include "kernels/cuda/device/status.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace gridfold::kernels::cuda {

namespace {

// Present on the statuses of errors that lose the device.
constexpr char kDeviceLostUrl[] = "gridfold/cuda_device_lost";

// Errors that concern one call; the context works on afterwards.
bool IsRecoverable(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue:
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidClusterSize:
    case cudaErrorMissingConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorLaunchMaxDepthExceeded:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNotReady:
    case cudaErrorNotSupported: return true;
    default: return false;
  }
}

// __FILE__ without the folders of the machine it was compiled on.
const char* PathInRepository(const char* file) {
  const absl::string_view path(file);
  const size_t at = path.rfind("kernels/");
  return at == absl::string_view::npos ? file : file + at;
}

// How much of the device is free: what an allocation that failed has to be compared with.
std::string FreeMemory() {
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess) {
    cudaGetLastError();
    return "";
  }
  return absl::StrCat("; of the device's ", all_bytes, " bytes ", free_bytes, " are free");
}

}  // namespace

absl::Status CudaStatus(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return absl::OkStatus();
  cudaGetLastError();
  const std::string message =
      absl::StrCat(call, ": ", cudaGetErrorName(error), ": ", cudaGetErrorString(error), " (",
                   PathInRepository(file), ":", line, ")");
  if (error == cudaErrorMemoryAllocation) {
    return absl::ResourceExhaustedError(absl::StrCat(message, FreeMemory()));
  }
  absl::Status status = absl::InternalError(message);
  if (!IsRecoverable(error)) status.SetPayload(kDeviceLostUrl, absl::Cord("1"));
  return status;
}

bool IsDeviceLost(const absl::Status& status) {
  return status.GetPayload(kDeviceLostUrl).has_value();
}

}  // namespace gridfold::kernels::cuda
