#include "kernels/cuda/device/launch.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kPortableClusterSize = 8;
constexpr uint32_t kClusterSizeMax = 16;

// A launch configuration together with the attributes that it points to.
class Configuration {
 public:
  Configuration(const LaunchShape& shape, cudaStream_t stream) {
    config_.gridDim = shape.grid;
    config_.blockDim = shape.block;
    config_.dynamicSmemBytes = shape.shared_bytes;
    config_.stream = stream;
    config_.attrs = attributes_;
    if (shape.cluster_size > 1) {
      cudaLaunchAttribute& attribute = attributes_[config_.numAttrs++];
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = shape.cluster_size;
      attribute.val.clusterDim.y = 1;
      attribute.val.clusterDim.z = 1;
    }
    if (shape.cooperative) {
      cudaLaunchAttribute& attribute = attributes_[config_.numAttrs++];
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    }
  }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  const cudaLaunchConfig_t* get() const { return &config_; }

 private:
  cudaLaunchAttribute attributes_[2] = {};
  cudaLaunchConfig_t config_ = {};
};

// Dynamic shared memory that a block of the kernel can have on the device.
absl::StatusOr<int> SharedBytesMax(const void* kernel, int device) {
  int shared_bytes_max = 0;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaDeviceGetAttribute(&shared_bytes_max, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  cudaFuncAttributes attributes;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaFuncGetAttributes(&attributes, kernel));
  return shared_bytes_max - static_cast<int>(attributes.sharedSizeBytes);
}

// What a kernel is permitted before a launch that needs it.
enum class Permit : uint8_t {
  // All the shared memory that the kernel can have, not what this launch needs: the limit is the
  // kernel's, and lanes that launch it at the same time would lower it for each other.
  kSharedMemory,
  kLargeClusters,
};

absl::Status Grant(Permit permit, const void* kernel, int device) {
  if (permit == Permit::kLargeClusters) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    return absl::OkStatus();
  }
  const absl::StatusOr<int> shared_bytes_max = SharedBytesMax(kernel, device);
  if (!shared_bytes_max.ok()) return shared_bytes_max.status();
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, *shared_bytes_max));
  return absl::OkStatus();
}

// Which kernels have been permitted what: asking the runtime at each launch would take as long as
// launching. Thread-safe.
class Permits {
 public:
  absl::Status Ensure(Permit permit, const void* kernel) {
    int device = 0;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
    const absl::MutexLock lock(&mutex_);
    if (permitted_.contains({permit, device, kernel})) return absl::OkStatus();
    absl::Status status = Grant(permit, kernel, device);
    if (status.ok()) permitted_.insert({permit, device, kernel});
    return status;
  }

 private:
  absl::Mutex mutex_;
  std::set<std::tuple<Permit, int, const void*>> permitted_ ABSL_GUARDED_BY(mutex_);
};

absl::Status PermitShape(const void* kernel, const LaunchShape& shape) {
  static Permits* const permits = new Permits;  // Outlives all threads.
  absl::Status status;
  if (shape.shared_bytes > 0) status = permits->Ensure(Permit::kSharedMemory, kernel);
  if (status.ok() && shape.cluster_size > kPortableClusterSize) {
    status = permits->Ensure(Permit::kLargeClusters, kernel);
  }
  return status;
}

// How large clusters of kernels can be. Thread-safe.
class ClusterSizes {
 public:
  absl::StatusOr<uint32_t> Of(const void* kernel, uint32_t block_threads) {
    int device = 0;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
    const absl::MutexLock lock(&mutex_);
    const auto known = sizes_.find({device, kernel});
    if (known != sizes_.end()) return known->second;
    const absl::StatusOr<uint32_t> size = Ask(kernel, block_threads, device);
    if (size.ok()) sizes_[{device, kernel}] = *size;
    return size;
  }

 private:
  static absl::StatusOr<uint32_t> Ask(const void* kernel, uint32_t block_threads, int device) {
    const absl::StatusOr<int> shared_bytes = SharedBytesMax(kernel, device);
    if (!shared_bytes.ok()) return shared_bytes.status();
    LaunchShape shape{.block = dim3(block_threads),
                      .shared_bytes = static_cast<size_t>(*shared_bytes)};
    for (uint32_t size = kClusterSizeMax; size > 1; size /= 2) {
      shape.cluster_size = size;
      shape.grid = dim3(size);
      const absl::StatusOr<int> clusters = ResidentClusters(kernel, shape);
      if (!clusters.ok()) return clusters.status();
      if (*clusters > 0) return size;
    }
    return 1;
  }

  absl::Mutex mutex_;
  std::map<std::pair<int, const void*>, uint32_t> sizes_ ABSL_GUARDED_BY(mutex_);
};

thread_local LaunchWatcher* next_launch_watcher = nullptr;

}  // namespace

void WatchNextLaunch(LaunchWatcher* watcher) { next_launch_watcher = watcher; }

absl::Status LaunchErased(const void* kernel, const LaunchShape& shape, void** arguments,
                          cudaStream_t stream) {
  if (absl::Status status = PermitShape(kernel, shape); !status.ok()) return status;
  if (LaunchWatcher* const watcher = std::exchange(next_launch_watcher, nullptr)) {
    if (absl::Status status = watcher->BeforeLaunch(); !status.ok()) return status;
  }
  const Configuration configuration(shape, stream);
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaLaunchKernelExC(configuration.get(), kernel, arguments));
  return absl::OkStatus();
}

absl::StatusOr<int> ResidentBlocksPerMultiprocessor(const void* kernel, int block_threads,
                                                    size_t shared_bytes) {
  LaunchShape shape;
  shape.shared_bytes = shared_bytes;
  if (absl::Status status = PermitShape(kernel, shape); !status.ok()) return status;
  int blocks = 0;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads, shared_bytes));
  return blocks;
}

absl::StatusOr<int> ResidentClusters(const void* kernel, const LaunchShape& shape) {
  if (absl::Status status = PermitShape(kernel, shape); !status.ok()) return status;
  const Configuration configuration(shape, nullptr);
  int clusters = 0;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaOccupancyMaxActiveClusters(&clusters, kernel, configuration.get()));
  return clusters;
}

absl::StatusOr<uint32_t> ClusterBlocksMax(const void* kernel, uint32_t block_threads) {
  static ClusterSizes* const sizes = new ClusterSizes;  // Outlives all threads.
  return sizes->Of(kernel, block_threads);
}

}  // namespace gridfold::kernels::cuda
