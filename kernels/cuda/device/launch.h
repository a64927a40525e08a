// Every launch of a kernel is configured, made and checked here.
//
// The manner of launchers (reduce/reduce.h, scan/scan.h, histogram/histogram.h), which host code
// calls: plain functions of a plan, device spans, a Scratch for what they keep on the device
// meanwhile, the device's properties and a stream. They enqueue and return; nothing is allocated,
// nothing synchronises, and what they read and write must stay valid until the stream has passed.
// Each has a ...ScratchBytes function of the same plan.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_LAUNCH_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gridfold::kernels::cuda {

struct LaunchShape {
  dim3 grid{1};
  dim3 block{1};
  size_t shared_bytes = 0;    // Dynamic shared memory of a block.
  uint32_t cluster_size = 1;  // Blocks of a thread-block cluster; more than 8 is not portable.
  bool cooperative = false;   // Whether the grid synchronises.
};

// Hears of a launch before it is made: a job's clock starts there, so that planning on the host is
// not part of what kernels take.
class LaunchWatcher {
 public:
  virtual absl::Status BeforeLaunch() = 0;

 protected:
  ~LaunchWatcher() = default;
};
// Tells `watcher` of the next launch of this thread, once; null: nobody. It must outlive that, or
// be taken back.
void WatchNextLaunch(LaunchWatcher* watcher);

// The type-erased part of Launch. `arguments` points to one pointer for each parameter.
absl::Status LaunchErased(const void* kernel, const LaunchShape& shape, void** arguments,
                          cudaStream_t stream);

// Enqueues a kernel and checks that it could be launched. Raises the kernel's limit of dynamic
// shared memory to the device's where it uses any, and permits clusters of more than 8 blocks.
template <class... Parameters>
absl::Status Launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                    std::type_identity_t<Parameters>... arguments) {
  // One more than needed, so that a kernel without parameters has an array too.
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  return LaunchErased(reinterpret_cast<const void*>(kernel), shape, pointers, stream);
}

// Blocks of the kernel that one multiprocessor of the current device holds at once.
absl::StatusOr<int> ResidentBlocksPerMultiprocessor(const void* kernel, int block_threads,
                                                    size_t shared_bytes);

// Clusters of the shape that the current device holds at once; 0 where the size is not possible.
absl::StatusOr<int> ResidentClusters(const void* kernel, const LaunchShape& shape);

// Blocks of the largest cluster of the kernel that the current device holds, each with all the
// shared memory that a block can have: 16, where the device has them in one place, or fewer. A
// power of two. Asked once for each kernel and device.
absl::StatusOr<uint32_t> ClusterBlocksMax(const void* kernel, uint32_t block_threads);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_LAUNCH_H_
