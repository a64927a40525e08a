// The accumulators of a call's parts.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ACCUMULATOR_FOLD_H_
#define GRIDFOLD_CLIENT_LIBRARY_ACCUMULATOR_FOLD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/library/call_budget.h"
#include "gridfold/client.h"

namespace gridfold::client {

// Has the server merge them: those that have come when they become many, and all at the end.
// Thread-safe.
class AccumulatorFold {
 public:
  // No message of the server's may have more than `message_bytes_max`.
  AccumulatorFold(Client& client, const CallBudget& budget, uint64_t message_bytes_max)
      : client_(client), budget_(budget), message_bytes_max_(message_bytes_max) {}

  // Where it fails, this accumulator alone has not been added.
  absl::Status Add(std::string accumulator);

  // The answer for all that were added.
  absl::StatusOr<MergeResult> Finish(const MergeOptions& options);

 private:
  absl::StatusOr<MergeResult> Merge(const std::vector<std::string>& accumulators,
                                    const MergeOptions& options);

  Client& client_;
  const CallBudget& budget_;
  const uint64_t message_bytes_max_;
  absl::Mutex mutex_;
  std::vector<std::string> pending_ ABSL_GUARDED_BY(mutex_);
  uint64_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ACCUMULATOR_FOLD_H_
