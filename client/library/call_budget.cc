#include "client/library/call_budget.h"

#include "gridfold/error_details.h"

namespace gridfold::client {
absl::Status CallBudget::RetryWhileRefused(absl::FunctionRef<absl::Status()> attempt) const {
  while (true) {
    absl::Status status = attempt();
    if (!IsRefusedForNow(status)) return status;
    const absl::Duration delay = *RetryDelay(status);
    if (absl::Now() + delay >= deadline_) return status;
    Pause(delay, options_.is_cancelled);
  }
}

void ProgressTally::Sent(size_t part, uint64_t sent_bytes) {
  if (!progress_) return;
  const absl::MutexLock lock(&mutex_);
  if (parts_.size() <= part) parts_.resize(part + 1);
  if (sent_bytes <= parts_[part]) return;
  sum_bytes_ += sent_bytes - parts_[part];
  parts_[part] = sent_bytes;
  progress_(sum_bytes_, size_bytes_);
}

}  // namespace gridfold::client
