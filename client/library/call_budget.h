// One call that is made of several: what is left of its time, and what its caller is told.
#ifndef GRIDFOLD_CLIENT_LIBRARY_CALL_BUDGET_H_
#define GRIDFOLD_CLIENT_LIBRARY_CALL_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/library/part_run.h"
#include "gridfold/client_options.h"

namespace gridfold::client {

// Thread-safe.
class CallBudget {
 public:
  CallBudget(CallOptions options, absl::Duration default_timeout)
      : options_(std::move(options)),
        deadline_(absl::Now() + options_.timeout.value_or(default_timeout)) {
    // Only the whole call has something to tell.
    options_.progress = nullptr;
  }

  // Of a call that is a part of this one: it has the time that is left.
  CallOptions Rest() const {
    CallOptions options = options_;
    options.timeout = deadline_ - absl::Now();
    return options;
  }
  CallOptions Rest(const StopRequest& is_stopped) const {
    CallOptions options = Rest();
    options.is_cancelled = is_stopped;
    return options;
  }

  const StopRequest& is_cancelled() const { return options_.is_cancelled; }

  // Runs `attempt` again, after the delay that the server asks for, as long as it refuses for now
  // and there is time.
  absl::Status RetryWhileRefused(absl::FunctionRef<absl::Status()> attempt) const;

 private:
  CallOptions options_;
  const absl::Time deadline_;
};

// Adds up what the parts of a call have sent. Thread-safe.
class ProgressTally {
 public:
  // `progress` may be empty.
  ProgressTally(const CallOptions& options, uint64_t size_bytes)
      : progress_(options.progress), size_bytes_(size_bytes) {}

  // So many bytes of `part` have been sent. Where they are sent again, they are not told again.
  void Sent(size_t part, uint64_t sent_bytes);

 private:
  const std::function<void(uint64_t, uint64_t)>& progress_;
  const uint64_t size_bytes_;
  absl::Mutex mutex_;
  std::vector<uint64_t> parts_ ABSL_GUARDED_BY(mutex_);
  uint64_t sum_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_CALL_BUDGET_H_
