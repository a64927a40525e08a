#include "kernels/cuda/lane/engine.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/resource_counter.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/lane/device_resident_pool.h"
#include "kernels/cuda/lane/external_memory.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/plan/kernels.h"

namespace gridfold::kernels {

namespace {

using cuda::CudaLane;
using cuda::DeviceProperties;

class CudaEngine final : public Engine {
 public:
  CudaEngine(const DeviceProperties& properties, DeviceDescription description)
      : properties_(properties), description_(std::move(description)) {}

  const char* name() const override { return "cuda"; }
  const DeviceDescription& device() const override { return description_; }
  bool Healthy() const override { return healthy_.load(std::memory_order_relaxed); }
  EngineResources resources() const override {
    return {.device_bytes = cuda::g_device_memory.held_bytes(),
            .pinned_bytes = cuda::g_pinned_memory.held_bytes(),
            .registered_bytes = cuda::g_registered_memory.held_bytes(),
            .registrations = cuda::g_registered_memory.taken_count(),
            .device_allocations = cuda::g_device_memory.taken_count(),
            .pinned_allocations = cuda::g_pinned_memory.taken_count(),
            .streams_created = cuda::g_streams.taken_count()};
  }

  absl::StatusOr<std::unique_ptr<Lane>> CreateLane(const LaneOptions& options) override {
    absl::StatusOr<std::unique_ptr<Lane>> lane = CudaLane::Create(properties_, options, healthy_);
    if (cuda::IsDeviceLost(lane.status())) healthy_.store(false, std::memory_order_relaxed);
    return lane;
  }

  absl::StatusOr<std::unique_ptr<ResidentPool>> CreateResidentPool(uint64_t size_bytes) override {
    return cuda::CreateDeviceResidentPool(properties_.device, size_bytes);
  }

  absl::StatusOr<std::unique_ptr<ExternalMemory>> RegisterHostMemory(
      MutableHostSpan memory) override {
    return cuda::RegisterHostMemory(properties_.device, memory);
  }

  absl::StatusOr<std::unique_ptr<ExternalMemory>> OpenIpcMemory(const IpcHandle& handle,
                                                                uint64_t size_bytes) override {
    return cuda::OpenIpcMemory(properties_.device, handle, size_bytes);
  }

 private:
  const DeviceProperties properties_;
  const DeviceDescription description_;
  std::atomic<bool> healthy_ = true;
};

// As nvidia-smi writes it: in groups of 4, 2, 2, 2 and 6 bytes.
std::string UuidText(const cudaUUID_t& uuid) {
  const std::string digits =
      absl::BytesToHexString(absl::string_view(uuid.bytes, sizeof(uuid.bytes)));
  const absl::string_view all = digits;
  return absl::StrCat("GPU-", all.substr(0, 8), "-", all.substr(8, 4), "-", all.substr(12, 4), "-",
                      all.substr(16, 4), "-", all.substr(20));
}

absl::StatusOr<DeviceDescription> DescribeDevice(const DeviceProperties& properties) {
  cudaDeviceProp details;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaGetDeviceProperties(&details, properties.device));
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemGetInfo(&free_bytes, &all_bytes));
  return DeviceDescription{
      .name = details.name,
      .memory_bytes = details.totalGlobalMem,
      .free_bytes = free_bytes,
      .compute_units = static_cast<uint32_t>(properties.multiprocessor_count),
      .compute_capability = absl::StrCat(properties.compute_capability_major, ".",
                                         properties.compute_capability_minor),
      .uuid = UuidText(details.uuid)};
}

// Whether the program holds kernels that run on the current device: asks for one of them.
bool HasKernelsForDevice() {
  cudaFuncAttributes attributes;
  const cuda::ReductionKernels kernels = cuda::ReductionKernelsFor<float>(kSumPart);
  const cudaError_t error =
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels.blocks));
  if (error != cudaSuccess) cudaGetLastError();
  return error == cudaSuccess;
}

}  // namespace

int CudaDeviceCount() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

// Where it fails, copies between the devices go through the host. A way stays open as long as the
// process lives, and to open it again is an error.
void ConnectDevices(std::span<const int> devices) {
  static absl::Mutex mutex;
  static std::set<std::pair<int, int>>& asked = *new std::set<std::pair<int, int>>();
  const absl::MutexLock lock(&mutex);
  for (const int device : devices) {
    for (const int other : devices) {
      if (device == other || !asked.emplace(device, other).second) continue;
      int is_possible = 0;
      const bool is_there = cudaSetDevice(device) == cudaSuccess &&
                            cudaDeviceCanAccessPeer(&is_possible, device, other) == cudaSuccess &&
                            is_possible != 0;
      if (is_there) cudaDeviceEnablePeerAccess(other, 0);
      cudaGetLastError();
    }
  }
}

absl::StatusOr<std::unique_ptr<Engine>> CreateCudaEngine(int device) {
  const int count = CudaDeviceCount();
  if (device < 0 || device >= count) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no CUDA device ", device, "; this machine has ", count));
  }
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaSetDevice(device));
  const absl::StatusOr<DeviceProperties> properties = cuda::QueryDeviceProperties(device);
  if (!properties.ok()) return properties.status();
  absl::StatusOr<DeviceDescription> description = DescribeDevice(*properties);
  if (!description.ok()) return description.status();
  const absl::Status new_enough = cuda::CheckComputeCapability(*properties, description->name);
  if (!new_enough.ok()) return new_enough;
  if (!HasKernelsForDevice()) {
    return absl::FailedPreconditionError(absl::StrCat("this program has no kernels for ",
                                                      description->name, ", of compute capability ",
                                                      description->compute_capability));
  }
  if (static_cast<uint64_t>(properties->shared_bytes_per_block_max) <
      cuda::ReductionSharedBytesMin()) {
    return absl::FailedPreconditionError(absl::StrCat(
        description->name, " has ", properties->shared_bytes_per_block_max,
        " bytes of shared memory for a block; exact sums need ", cuda::ReductionSharedBytesMin()));
  }
  return std::unique_ptr<Engine>(
      std::make_unique<CudaEngine>(*properties, *std::move(description)));
}

}  // namespace gridfold::kernels
