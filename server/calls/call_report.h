// What is recorded of one call of ComputeService, ArrayService or RegionService, for its answer,
// the log and the metrics.
#ifndef GRIDFOLD_SERVER_CALLS_CALL_REPORT_H_
#define GRIDFOLD_SERVER_CALLS_CALL_REPORT_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "kernels/contract/engine.h"
#include "kernels/types/element_type.h"
#include "server/base/rpc.h"
#include "server/base/trace_context.h"
#include "server/process/audit_log.h"

namespace gridfold::server {

struct CallReport {
  // The call arrives now.
  CallReport(Rpc called, uint64_t call_id) : rpc(called), id(call_id) {}

  std::chrono::nanoseconds Elapsed() const { return std::chrono::steady_clock::now() - arrived_at; }

  // Adds the time of a job of the call, which may have several.
  void AddQueueTime(std::chrono::nanoseconds time) {
    queue_time = queue_time.value_or(std::chrono::nanoseconds(0)) + time;
  }

  // One line: at level error where the server is at fault, else debug.
  void Log(const absl::Status& status, uint64_t response_bytes) const;

  Rpc rpc;
  uint64_t id;
  TraceContext trace = {};            // The caller's own.
  std::shared_ptr<AuditNotes> audit;  // None without an audit log.
  // Says who calls, where a line tells of it; null where nobody does. Valid until the call is
  // logged.
  const grpc::CallbackServerContext* context = nullptr;
  std::chrono::steady_clock::time_point arrived_at = std::chrono::steady_clock::now();
  uint64_t request_bytes = 0;
  std::optional<kernels::ElementType> element_type;        // Of the array, once it is validated.
  std::optional<std::chrono::nanoseconds> admission_time;  // Until the scheduler took the job.
  std::optional<std::chrono::nanoseconds> queue_time;      // From there until a lane took it.
  kernels::RunStatistics run;
  uint32_t device_count = 1;  // That worked on it.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_CALL_REPORT_H_
