// Trying a call again.
#ifndef GRIDFOLD_CLIENT_LIBRARY_RETRY_H_
#define GRIDFOLD_CLIENT_LIBRARY_RETRY_H_

#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gridfold/client_options.h"

namespace gridfold::client {

// What retrying needs of the world; tests bring their own.
class RetryEnvironment {
 public:
  virtual ~RetryEnvironment() = default;
  virtual absl::Time Now() = 0;
  virtual void Sleep(absl::Duration duration) = 0;
  virtual double RandomFraction() = 0;  // In [0, 1).
};

// A number in [0, 1) of a generator that is seeded for each thread. Thread-safe.
double SystemRandomFraction();

// The attempts of one call: whether, and when, there is another. Not thread-safe.
class RetrySchedule {
 public:
  // `waits_while_refused` is that of CallOptions.
  RetrySchedule(const RetryPolicy& policy, absl::Time deadline, bool waits_while_refused = false)
      : policy_(policy),
        deadline_(deadline),
        waits_while_refused_(waits_while_refused),
        backoff_(policy.initial_backoff) {}

  // How long to wait after an attempt that has failed at `now`. Nothing: it was the last one.
  // `fraction` is RandomFraction's.
  std::optional<absl::Duration> WaitAfter(const absl::Status& error, absl::Time now,
                                          double fraction);

 private:
  const RetryPolicy policy_;
  const absl::Time deadline_;
  const bool waits_while_refused_;
  absl::Duration backoff_;
  int attempts_ = 0;
};

// Runs `attempt` as the schedule says and returns the last attempt's status. A retry delay that the
// server asks for is waited for, where it is longer than the policy's.
absl::Status RetryWhileUnavailable(RetrySchedule schedule, RetryEnvironment& environment,
                                   absl::FunctionRef<absl::Status()> attempt);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_RETRY_H_
