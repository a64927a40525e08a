#include "client/library/retry.h"

#include <algorithm>

#include "absl/random/random.h"
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

absl::Status RetryWhileUnavailable(const RetryPolicy& policy, absl::Time deadline,
                                   RetryEnvironment& environment,
                                   absl::FunctionRef<absl::Status()> attempt) {
  absl::Duration backoff = policy.initial_backoff;
  for (int attempts = 1;; ++attempts) {
    absl::Status status = attempt();
    if (!absl::IsUnavailable(status) || attempts >= policy.attempts_max) return status;
    const absl::Duration wait =
        std::max(Jittered(backoff, policy.jitter, environment.RandomFraction()),
                 RetryDelay(status).value_or(absl::ZeroDuration()));
    if (environment.Now() + wait >= deadline) return status;
    environment.Sleep(wait);
    backoff = std::min(backoff * policy.backoff_multiplier, policy.backoff_max);
  }
}

}  // namespace gridfold::client
