// Times of a job's stages on the device, by events between them. Move-only; not thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_JOB_TIMER_H_
#define GRIDFOLD_KERNELS_CUDA_JOB_TIMER_H_

#include <cuda_runtime_api.h>

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

  // Forgets the last job.
  void Reset() { mark_count_ = 0; }

  // Marks a point of the stream: the start, then the ends of staging in, of the kernels and of
  // staging out, in this order. A job that fails leaves the later ones out.
  absl::Status Mark(cudaStream_t stream);

  // Waits for the last mark and fills in the times of the stages that were passed.
  absl::Status Fill(RunStatistics& statistics) const;

 private:
  static constexpr size_t kMarkCountMax = 4;

  explicit JobTimer(std::vector<Event> events) : events_(std::move(events)) {}

  std::vector<Event> events_;
  size_t mark_count_ = 0;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_JOB_TIMER_H_
