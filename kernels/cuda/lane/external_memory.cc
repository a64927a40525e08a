#include "kernels/cuda/lane/external_memory.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/device/resource_counter.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(IpcHandle));

// Not CudaStatus: what was asked for is at fault, and the device is as good as before.
absl::Status Refusal(absl::StatusCode code, const char* what, cudaError_t error) {
  cudaGetLastError();
  return absl::Status(code, absl::StrCat(what, ": ", cudaGetErrorString(error)));
}

class RegisteredMemory final : public ExternalMemory {
 public:
  RegisteredMemory(int device, void* host_data, MutableResidentSpan span)
      : ExternalMemory(span), device_(device), host_data_(host_data) {
    g_registered_memory.Take(span.size_bytes);
  }
  ~RegisteredMemory() override {
    cudaSetDevice(device_);
    if (cudaHostUnregister(host_data_) != cudaSuccess) cudaGetLastError();
    g_registered_memory.Return(span().size_bytes);
  }

 private:
  const int device_;
  void* const host_data_;
};

// Memory as it was opened, which is where its allocation begins.
class OpenedMemory final : public ExternalMemory {
 public:
  OpenedMemory(int device, void* data, uint64_t size_bytes)
      : ExternalMemory({static_cast<std::byte*>(data), size_bytes}), device_(device) {
    g_registered_memory.Take(size_bytes);
  }
  ~OpenedMemory() override {
    cudaSetDevice(device_);
    if (cudaIpcCloseMemHandle(span().data) != cudaSuccess) cudaGetLastError();
    g_registered_memory.Return(span().size_bytes);
  }

 private:
  const int device_;
};

// Bytes from `data` to the end of its allocation. The runtime has no such question; it knows where
// the driver's is, which the program does not link.
absl::StatusOr<uint64_t> AllocatedBytesFrom(const void* data) {
  constexpr unsigned kVersion = 12000;  // Of the driver's function that is meant.
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaGetDriverEntryPointByVersion(
      "cuMemGetAddressRange", &entry, kVersion, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || entry == nullptr) {
    return absl::InternalError("the driver has no cuMemGetAddressRange");
  }
  const auto get_range = reinterpret_cast<decltype(&cuMemGetAddressRange)>(entry);
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  CUdeviceptr base = 0;
  size_t size_bytes = 0;
  if (get_range(&base, &size_bytes, address) != CUDA_SUCCESS) {
    return absl::InternalError("the driver does not know the size of opened device memory");
  }
  return size_bytes - (address - base);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExternalMemory>> RegisterHostMemory(int device,
                                                                   MutableHostSpan memory) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaSetDevice(device));
  cudaError_t error = cudaHostRegister(memory.data, memory.size_bytes,
                                       cudaHostRegisterMapped | cudaHostRegisterPortable);
  if (error != cudaSuccess) {
    return Refusal(absl::StatusCode::kResourceExhausted,
                   "host memory cannot be locked for the device", error);
  }
  void* data = nullptr;
  error = cudaHostGetDevicePointer(&data, memory.data, 0);
  if (error != cudaSuccess) {
    cudaHostUnregister(memory.data);
    return Refusal(absl::StatusCode::kFailedPrecondition,
                   "host memory cannot be mapped for the device", error);
  }
  return std::make_unique<RegisteredMemory>(
      device, memory.data,
      MutableResidentSpan{.data = static_cast<std::byte*>(data),
                          .size_bytes = memory.size_bytes,
                          .is_mapped = true});
}

absl::StatusOr<std::unique_ptr<ExternalMemory>> OpenIpcMemory(int device, const IpcHandle& handle,
                                                              uint64_t size_bytes) {
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaSetDevice(device));
  cudaIpcMemHandle_t cuda_handle;
  std::memcpy(&cuda_handle, handle.data(), sizeof(cuda_handle));
  void* data = nullptr;
  const cudaError_t error =
      cudaIpcOpenMemHandle(&data, cuda_handle, cudaIpcMemLazyEnablePeerAccess);
  if (error != cudaSuccess) {
    return Refusal(absl::StatusCode::kInvalidArgument, "the handle cannot be opened", error);
  }
  // Closes it where something is wrong with it.
  auto memory = std::make_unique<OpenedMemory>(device, data, size_bytes);
  const absl::StatusOr<uint64_t> allocated_bytes = AllocatedBytesFrom(data);
  if (!allocated_bytes.ok()) return allocated_bytes.status();
  if (*allocated_bytes < size_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the handle is for ", *allocated_bytes, " bytes, fewer than ", size_bytes));
  }
  return memory;
}

}  // namespace gridfold::kernels::cuda
