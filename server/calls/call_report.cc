#include "server/calls/call_report.h"

#include "server/calls/caller_address.h"
#include "server/process/event_log.h"

namespace gridfold::server {

namespace {

int64_t Microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

void CallReport::Log(const absl::Status& status, uint64_t response_bytes) const {
  const LogLevel level = absl::IsInternal(status) ? LogLevel::kError : LogLevel::kDebug;
  if (!LogIsEnabled(level)) return;
  const CallerAddress caller = context == nullptr ? CallerAddress() : AddressOfCaller(*context);
  LogEvent(level, "call",
           {{"id", id},
            {"rpc", RpcName(rpc)},
            {"peer", caller.peer},
            {"certificate", caller.certificate},
            {"trace_id", trace.trace_id},
            {"parent_id", trace.parent_id},
            {"code", absl::StatusCodeToString(status.code())},
            {"message", status.message()},
            {"strategy", run.strategy},
            {"request_bytes", request_bytes},
            {"response_bytes", response_bytes},
            {"queue_us", Microseconds(queue_time.value_or(std::chrono::nanoseconds(0)))},
            {"stage_in_us", Microseconds(run.stage_in_time)},
            {"kernel_us", Microseconds(run.kernel_time)},
            {"stage_out_us", Microseconds(run.stage_out_time)},
            {"total_us", Microseconds(Elapsed())}});
}

}  // namespace gridfold::server
