// A JobTimer takes the times of a job's stages: on the device by events around the kernels, the
// rest by the clock. Of small reductions all are taken by the clock, starting kernels included:
// events would take as long as their kernels do. Move-only; not thread-safe.
#ifndef GRIDFOLD_KERNELS_CUDA_LANE_JOB_TIMER_H_
#define GRIDFOLD_KERNELS_CUDA_LANE_JOB_TIMER_H_

#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/contract/engine.h"
#include "kernels/cuda/device/event.h"
#include "kernels/cuda/device/launch.h"

namespace gridfold::kernels::cuda {

class JobTimer final : public LaunchWatcher {
 public:
  static absl::StatusOr<JobTimer> Create();

  // Points of a job's stream. A job with nothing to stage has no begin of that, and one that fails
  // leaves the later ones out. Kernels begin with the first launch behind WatchKernels.
  enum class Point { kStagingBegins, kStagingEnds, kKernelsBegin, kKernelsEnd };

  // Forgets the last job; one begins now.
  void Start();

  // This job is small.
  void UseClock() { by_clock_ = true; }

  // The stream has come to all that was marked.
  void OnStreamIdle();

  // The job comes to this point; the first time counts.
  absl::Status Mark(Point point, cudaStream_t stream);

  // The next launch of this thread, on `stream`, is the job's first.
  void WatchKernels(cudaStream_t stream);
  absl::Status BeforeLaunch() override;

  // Fills in the times of the stages that were passed, of which the last, staging out, ends now.
  // The stream is idle.
  absl::Status Fill(RunStatistics& statistics) const;

 private:
  static constexpr size_t kPointCount = 4;

  // 0 where the job did not come to both.
  absl::StatusOr<std::chrono::nanoseconds> Between(Point begin, Point end) const;

  explicit JobTimer(std::vector<Event> events) : events_(std::move(events)) {}

  std::vector<Event> events_;
  std::array<bool, kPointCount> is_marked_{};
  std::array<std::chrono::steady_clock::time_point, kPointCount> marked_at_;
  bool by_clock_ = false;
  cudaStream_t kernel_stream_ = nullptr;
  std::chrono::steady_clock::time_point started_at_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_LANE_JOB_TIMER_H_
