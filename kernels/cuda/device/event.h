// A CUDA event that takes the time, and its owner. Move-only; not thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_EVENT_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_EVENT_H_

#include <cuda_runtime_api.h>

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

class Event {
 public:
  static absl::StatusOr<Event> Create() {
    cudaEvent_t event = nullptr;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaEventCreate(&event));
    return Event(event);
  }

  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }

  absl::Status Record(cudaStream_t stream) const {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaEventRecord(event_, stream));
    return absl::OkStatus();
  }

  // Blocks until what was enqueued before the last Record has run; at once where there was none.
  absl::Status Synchronize() const {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaEventSynchronize(event_));
    return absl::OkStatus();
  }

  // What is enqueued on `stream` from now on waits for what was enqueued before the last Record.
  absl::Status Await(cudaStream_t stream) const {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamWaitEvent(stream, event_, 0));
    return absl::OkStatus();
  }

  // Time from `start` to this event. Requires both to be recorded and this one to have been
  // reached.
  absl::StatusOr<std::chrono::nanoseconds> TimeSince(const Event& start) const {
    float milliseconds = 0;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6));
  }

 private:
  explicit Event(cudaEvent_t event) : event_(event) {}

  cudaEvent_t event_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_EVENT_H_
