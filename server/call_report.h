// What is recorded of one call of ComputeService, for its answer and for the log.
#ifndef GRIDFOLD_SERVER_CALL_REPORT_H_
#define GRIDFOLD_SERVER_CALL_REPORT_H_

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "kernels/engine.h"

namespace gridfold::server {

struct CallReport {
  // The call arrives now. `name` must outlive the report.
  CallReport(const char* name, uint64_t call_id) : rpc(name), id(call_id) {}

  std::chrono::nanoseconds Elapsed() const { return std::chrono::steady_clock::now() - arrived_at; }

  // One line: at level error where the server is at fault, else debug.
  void Log(const absl::Status& status, uint64_t response_bytes) const;

  const char* rpc;
  uint64_t id;
  std::chrono::steady_clock::time_point arrived_at = std::chrono::steady_clock::now();
  uint64_t request_bytes = 0;
  std::chrono::nanoseconds queue_time{0};
  kernels::RunStatistics run;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALL_REPORT_H_
