// A ResourceCounter counts what the program has taken from the CUDA driver, over all devices, so
// that operators and tests can see that nothing is taken while jobs run. The owners of memory and
// streams count. Thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_RESOURCE_COUNTER_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_RESOURCE_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace gridfold::kernels::cuda {

class ResourceCounter {
 public:
  void Take(uint64_t size_bytes) {
    taken_count_.fetch_add(1, std::memory_order_relaxed);
    held_bytes_.fetch_add(size_bytes, std::memory_order_relaxed);
  }
  void Return(uint64_t size_bytes) { held_bytes_.fetch_sub(size_bytes, std::memory_order_relaxed); }

  // How often something was taken.
  uint64_t taken_count() const { return taken_count_.load(std::memory_order_relaxed); }
  uint64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> taken_count_ = 0;
  std::atomic<uint64_t> held_bytes_ = 0;
};

inline constinit ResourceCounter g_device_memory;
inline constinit ResourceCounter g_pinned_memory;
inline constinit ResourceCounter g_registered_memory;  // Of others, registered or opened.
inline constinit ResourceCounter g_streams;            // Without bytes.

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_RESOURCE_COUNTER_H_
