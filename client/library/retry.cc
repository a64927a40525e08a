#include "client/library/retry.h"

#include <algorithm>

#include "absl/random/random.h"
#include "client/library/part_run.h"
#include "gridfold/error_details.h"

namespace gridfold::client {
namespace {

absl::Duration Jittered(absl::Duration backoff, double jitter, double fraction) {
  return backoff * (1 + jitter * (2 * fraction - 1));
}

}  // namespace

double SystemRandomFraction() {
  thread_local absl::InsecureBitGen generator;
  return absl::Uniform(generator, 0.0, 1.0);
}

std::optional<absl::Duration> RetrySchedule::WaitAfter(const absl::Status& error, absl::Time now,
                                                       double fraction) {
  const bool is_refused = waits_while_refused_ && IsRefusedForNow(error);
  if (!is_refused && (!absl::IsUnavailable(error) || ++attempts_ >= policy_.attempts_max)) {
    return std::nullopt;
  }
  const absl::Duration wait = std::max(Jittered(backoff_, policy_.jitter, fraction),
                                       RetryDelay(error).value_or(absl::ZeroDuration()));
  if (now + wait >= deadline_) return std::nullopt;
  if (!is_refused) backoff_ = std::min(backoff_ * policy_.backoff_multiplier, policy_.backoff_max);
  return wait;
}

absl::Status RetryWhileUnavailable(RetrySchedule schedule, RetryEnvironment& environment,
                                   absl::FunctionRef<absl::Status()> attempt) {
  while (true) {
    absl::Status status = attempt();
    if (status.ok()) return status;
    const std::optional<absl::Duration> wait =
        schedule.WaitAfter(status, environment.Now(), environment.RandomFraction());
    if (!wait) return status;
    environment.Sleep(*wait);
  }
}

}  // namespace gridfold::client
