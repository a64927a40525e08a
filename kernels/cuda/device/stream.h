// A CUDA stream and its owner. Move-only; not thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_STREAM_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_STREAM_H_

#include <cuda_runtime_api.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/device/resource_counter.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

class Stream {
 public:
  // A stream of the current device that does not wait for the default stream.
  static absl::StatusOr<Stream> Create() {
    cudaStream_t stream = nullptr;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    g_streams.Take(0);
    return Stream(stream);
  }

  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  cudaStream_t get() const { return stream_; }

  // Blocks until everything enqueued has run; returns the error of whatever failed meanwhile.
  absl::Status Synchronize() const {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
    return absl::OkStatus();
  }

 private:
  explicit Stream(cudaStream_t stream) : stream_(stream) {}

  cudaStream_t stream_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_STREAM_H_
