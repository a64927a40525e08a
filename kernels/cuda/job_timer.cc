#include "kernels/cuda/job_timer.h"

#include <algorithm>

namespace gridfold::kernels::cuda {

absl::StatusOr<JobTimer> JobTimer::Create() {
  std::vector<Event> events;
  while (events.size() < kMarkCountMax) {
    absl::StatusOr<Event> event = Event::Create();
    if (!event.ok()) return event.status();
    events.push_back(*std::move(event));
  }
  return JobTimer(std::move(events));
}

absl::Status JobTimer::Start(cudaStream_t stream) {
  mark_count_ = 0;
  started_at_ = std::chrono::steady_clock::now();
  return Mark(stream);
}

absl::Status JobTimer::Mark(cudaStream_t stream) {
  absl::Status status = events_[mark_count_].Record(stream);
  if (status.ok()) ++mark_count_;
  return status;
}

absl::Status JobTimer::Fill(RunStatistics& statistics) const {
  std::chrono::nanoseconds* const times[] = {&statistics.stage_in_time, &statistics.kernel_time};
  for (size_t i = 1; i < mark_count_; ++i) {
    const absl::StatusOr<std::chrono::nanoseconds> time = events_[i].TimeSince(events_[i - 1]);
    if (!time.ok()) return time.status();
    *times[i - 1] = *time;
  }
  if (mark_count_ < kMarkCountMax) return absl::OkStatus();
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - started_at_;
  statistics.stage_out_time = std::max(std::chrono::nanoseconds(0),
                                       elapsed - statistics.stage_in_time - statistics.kernel_time);
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
