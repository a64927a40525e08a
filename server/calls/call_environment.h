// What every call of the services needs. Outlives all calls.
#ifndef GRIDFOLD_SERVER_CALLS_CALL_ENVIRONMENT_H_
#define GRIDFOLD_SERVER_CALLS_CALL_ENVIRONMENT_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/arrays/array_store.h"
#include "server/base/limits.h"
#include "server/base/shared_room.h"
#include "server/calls/call_counter.h"
#include "server/calls/call_metrics.h"
#include "server/calls/call_report.h"
#include "server/calls/stream_admission.h"
#include "server/process/audit_log.h"
#include "server/regions/region_store.h"
#include "server/scheduling/idle_watch.h"
#include "server/scheduling/scheduler.h"
#include "server/tenants/access_tokens.h"
#include "server/transport/send_watch.h"

namespace gridfold::server {

struct CallEnvironment {
  CallEnvironment(Scheduler& a_scheduler, ArrayStore& a_store, CallCounter& a_counter,
                  const Limits& the_limits, const TenantWeights& weights,
                  std::string name_of_engine)
      : scheduler(a_scheduler),
        arrays(a_store),
        calls(a_counter),
        limits(the_limits),
        read_chunks(the_limits.queued_bytes_max, weights),
        streams(the_limits.stream_count_max, the_limits.queued_bytes_max, weights),
        idle_streams(the_limits.stream_idle_timeout),
        sends(the_limits.send_timeout),
        engine_name(std::move(name_of_engine)) {}

  Scheduler& scheduler;
  ArrayStore& arrays;
  CallCounter& calls;
  const Limits& limits;
  SharedRoom read_chunks;  // Bytes of chunks of ReadArray that the transport has yet to send.
  StreamAdmission streams;
  IdleWatch idle_streams;
  SendWatch sends;
  std::string engine_name;
  RegionStore* regions = nullptr;        // None where they are off.
  const AccessTokens* tokens = nullptr;  // None where callers are taken at their word.
  CallMetrics* metrics = nullptr;        // None where they are off.
  AuditLog* audit = nullptr;             // None where it is off.
  std::atomic<uint64_t> next_call_id = 1;

  // Logs and counts a call that ends now.
  void Report(const CallReport& report, const absl::Status& status, uint64_t response_bytes) const {
    report.Log(status, response_bytes);
    if (report.audit != nullptr) {
      audit->Record(*report.audit,
                    {.rpc = RpcName(report.rpc),
                     .id = report.id,
                     .request_bytes = report.request_bytes,
                     .response_bytes = response_bytes,
                     .duration = report.Elapsed()},
                    status);
    }
    if (metrics != nullptr) metrics->Record(report, status.code(), response_bytes);
  }
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_CALLS_CALL_ENVIRONMENT_H_
