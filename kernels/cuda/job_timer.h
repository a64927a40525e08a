// Times of a job's stages: on the device by events around the kernels, the rest by the clock.
// Move-only; not thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_JOB_TIMER_H_
#define GRIDFOLD_KERNELS_CUDA_JOB_TIMER_H_

#include <cuda_runtime_api.h>

#include <chrono>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/event.h"
#include "kernels/engine.h"

namespace gridfold::kernels::cuda {

class JobTimer {
 public:
  static absl::StatusOr<JobTimer> Create();

  // Forgets the last job and marks the start of one.
  absl::Status Start(cudaStream_t stream);

  // Marks a point of the stream: the end of staging in, then that of the kernels. A job that fails
  // leaves the later ones out.
  absl::Status Mark(cudaStream_t stream);

  // Fills in the times of the stages that were passed, of which the last, staging out, ends now.
  // The stream is idle.
  absl::Status Fill(RunStatistics& statistics) const;

 private:
  static constexpr size_t kMarkCountMax = 3;

  explicit JobTimer(std::vector<Event> events) : events_(std::move(events)) {}

  std::vector<Event> events_;
  size_t mark_count_ = 0;
  std::chrono::steady_clock::time_point started_at_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_JOB_TIMER_H_
