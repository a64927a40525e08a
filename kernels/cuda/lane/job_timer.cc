#include "kernels/cuda/lane/job_timer.h"

#include <algorithm>

namespace gridfold::kernels::cuda {

using std::chrono::nanoseconds;

absl::StatusOr<JobTimer> JobTimer::Create() {
  std::vector<Event> events;
  while (events.size() < kPointCount) {
    absl::StatusOr<Event> event = Event::Create();
    if (!event.ok()) return event.status();
    events.push_back(*std::move(event));
  }
  return JobTimer(std::move(events));
}

void JobTimer::Start() {
  is_marked_ = {};
  by_clock_ = false;
  started_at_ = std::chrono::steady_clock::now();
}

void JobTimer::WatchKernels(cudaStream_t stream) {
  kernel_stream_ = stream;
  WatchNextLaunch(this);
}

absl::Status JobTimer::BeforeLaunch() { return Mark(Point::kKernelsBegin, kernel_stream_); }

absl::Status JobTimer::Mark(Point point, cudaStream_t stream) {
  const auto index = static_cast<size_t>(point);
  if (is_marked_[index]) return absl::OkStatus();
  // What was not begun needs no end.
  const bool is_needed =
      point != Point::kStagingEnds || is_marked_[static_cast<size_t>(Point::kStagingBegins)];
  if (!is_needed) return absl::OkStatus();
  // Also where there is an event: a job may turn out to be small behind its first mark.
  marked_at_[index] = std::chrono::steady_clock::now();
  absl::Status status = by_clock_ ? absl::OkStatus() : events_[index].Record(stream);
  is_marked_[index] = status.ok();
  return status;
}

void JobTimer::OnStreamIdle() {
  marked_at_[static_cast<size_t>(Point::kKernelsEnd)] = std::chrono::steady_clock::now();
}

absl::StatusOr<nanoseconds> JobTimer::Between(Point begin, Point end) const {
  const auto from = static_cast<size_t>(begin);
  const auto to = static_cast<size_t>(end);
  if (!is_marked_[from] || !is_marked_[to]) return nanoseconds(0);
  if (by_clock_) return marked_at_[to] - marked_at_[from];
  return events_[to].TimeSince(events_[from]);
}

absl::Status JobTimer::Fill(RunStatistics& statistics) const {
  const auto staging = Between(Point::kStagingBegins, Point::kStagingEnds);
  if (!staging.ok()) return staging.status();
  const auto kernels = Between(Point::kKernelsBegin, Point::kKernelsEnd);
  if (!kernels.ok()) return kernels.status();
  statistics.stage_in_time = *staging;
  statistics.kernel_time = *kernels;
  if (!is_marked_[static_cast<size_t>(Point::kKernelsEnd)]) return absl::OkStatus();
  const nanoseconds elapsed = std::chrono::steady_clock::now() - started_at_;
  statistics.stage_out_time = std::max(nanoseconds(0), elapsed - *staging - *kernels);
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
