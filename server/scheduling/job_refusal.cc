#include "server/scheduling/job_refusal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error_reason.h"

namespace gridfold::server {

absl::Status Draining() {
  return WithReason(absl::UnavailableError("the server is stopping"), kReasonDraining);
}

absl::Status EngineLost() {
  return WithReason(absl::UnavailableError("the engine has failed and needs a restart"),
                    kReasonEngineLost);
}

absl::Status DeadlinePassed() {
  return absl::DeadlineExceededError("the deadline passed before the job was complete");
}

absl::Status DeadlineUnmeetable(std::chrono::nanoseconds time_needed) {
  return WithReason(
      absl::DeadlineExceededError(absl::StrCat(
          "the deadline cannot be met: by what jobs have taken of late, this one needs at least ",
          std::chrono::duration_cast<std::chrono::microseconds>(time_needed).count(),
          " microseconds from now")),
      kReasonDeadlineUnmeetable);
}

std::chrono::milliseconds RetryDelay(const Backlog& backlog, double speed) {
  if (backlog.cost == std::chrono::nanoseconds(0)) return kRetryDelay;
  const double part = std::max(1.0 / kRetryQueuePart,
                               1.0 / static_cast<double>(std::max<uint64_t>(backlog.jobs, 1)));
  const double delay_ms =
      std::ceil(std::chrono::duration<double, std::milli>(backlog.cost).count() * part / speed);
  return std::chrono::milliseconds(
      static_cast<int64_t>(std::clamp(delay_ms, static_cast<double>(kRetryDelayMin.count()),
                                      static_cast<double>(kRetryDelayMax.count()))));
}

absl::Status JobRefusal::ToStatus(const Limits& limits) const {
  const auto queue_full = [this](absl::string_view what) {
    return QueueFull(absl::StrCat("the queue is full: ", what), retry_delay);
  };
  switch (cause) {
    case Cause::kDraining: return Draining();
    case Cause::kEngineLost: return EngineLost();
    case Cause::kDeadlinePassed: return DeadlinePassed();
    case Cause::kDeadlineUnmeetable: return server::DeadlineUnmeetable(time_needed);
    case Cause::kQueueJobs:
      return queue_full(absl::StrCat(limits.queued_jobs_max, " jobs are waiting"));
    case Cause::kQueueBytes:
      return queue_full(absl::StrCat("of ", limits.queued_bytes_max, " bytes that may wait, ",
                                     backlog.bytes, " are taken"));
    case Cause::kTenantShare:
      return queue_full(absl::StrCat("what is left of it is for other tenants; this one has ",
                                     backlog.jobs, " jobs waiting, of ", backlog.bytes, " bytes"));
  }
  return absl::InternalError("unknown refusal");
}

}  // namespace gridfold::server
