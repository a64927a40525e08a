// What came of reading files again while the server runs, for the log and the metrics.
#ifndef GRIDFOLD_SERVER_PROCESS_RELOAD_REPORT_H_
#define GRIDFOLD_SERVER_PROCESS_RELOAD_REPORT_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"

namespace gridfold::server {

// Of one thing that is read again. Counts are read from any thread.
class ReloadReport {
 public:
  // `failure_event` is the log's name for a failure, which is logged at level error when it begins
  // and when its reason changes.
  explicit ReloadReport(const char* failure_event) : failure_event_(failure_event) {}

  // Calls `reload`, which says whether there was something new, and counts what came of it.
  // Exceptions are failures.
  bool Try(const std::function<absl::StatusOr<bool>()>& reload);

  uint64_t reloads() const { return reloads_; }
  uint64_t failures() const { return failures_; }

 private:
  const char* const failure_event_;
  absl::Status last_error_;
  std::atomic<uint64_t> reloads_ = 0;
  std::atomic<uint64_t> failures_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_RELOAD_REPORT_H_
