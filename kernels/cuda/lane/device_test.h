// A fixture for tests that run launchers directly on device memory, and arrays for them. Tests are
// skipped where there is no device.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_DEVICE_TEST_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_DEVICE_TEST_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/lane/engine.h"

namespace gridfold::kernels::cuda {

// An array of T in device memory, `misalignment` elements behind an aligned address.
template <class T>
class DeviceArray {
 public:
  // Filled with the byte 0xA5, so that what a kernel leaves out is seen, as is what it takes from
  // before the array.
  explicit DeviceArray(uint64_t count, uint64_t misalignment = 0)
      : buffer_(DeviceBuffer::Allocate((count + misalignment) * sizeof(T)).value()),
        data_(reinterpret_cast<T*>(buffer_.data()) + misalignment),
        count_(count) {
    if (count == 0) return;
    EXPECT_EQ(cudaMemset(buffer_.data(), 0xA5, (count + misalignment) * sizeof(T)), cudaSuccess);
  }
  explicit DeviceArray(std::span<const T> values, uint64_t misalignment = 0)
      : DeviceArray(values.size(), misalignment) {
    Write(0, values);
  }

  T* data() const { return data_; }
  uint64_t size() const { return count_; }

  void Write(uint64_t first, std::span<const T> values) {
    if (values.empty()) return;
    EXPECT_EQ(cudaMemcpy(data_ + first, values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    if (count_ == 0) return values;
    EXPECT_EQ(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }

 private:
  DeviceBuffer buffer_;
  T* data_;
  uint64_t count_;
};

class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (CudaDeviceCount() == 0) GTEST_SKIP() << "there is no CUDA device";
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    properties_ = QueryDeviceProperties(0).value();
    stream_.emplace(Stream::Create().value());
  }

  const DeviceProperties& properties() const { return properties_; }
  cudaStream_t stream() const { return stream_->get(); }

  // Waits for the stream; fails the test where anything on it failed. Buffers are filled on the
  // default stream, which this one does not wait for: call it before a launch too.
  void Synchronize() { ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess); }

  static uint64_t FreeBytes() {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    EXPECT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
    return free_bytes;
  }

 private:
  DeviceProperties properties_;
  std::optional<Stream> stream_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_DEVICE_TEST_H_
