// Trying a call again.
#ifndef GRIDFOLD_CLIENT_LIBRARY_RETRY_H_
#define GRIDFOLD_CLIENT_LIBRARY_RETRY_H_

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

// Runs `attempt` as RetryPolicy says and returns the last attempt's status. A retry delay that the
// server asks for is waited for, where it is longer than the policy's.
absl::Status RetryWhileUnavailable(const RetryPolicy& policy, absl::Time deadline,
                                   RetryEnvironment& environment,
                                   absl::FunctionRef<absl::Status()> attempt);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_RETRY_H_
