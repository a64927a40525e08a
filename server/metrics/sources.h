// Where metrics come from. All must outlive whoever reads them, and are read from any thread.
#ifndef GRIDFOLD_SERVER_METRICS_SOURCES_H_
#define GRIDFOLD_SERVER_METRICS_SOURCES_H_

#include <vector>

#include "kernels/contract/engine.h"
#include "server/arrays/array_store.h"
#include "server/calls/call_metrics.h"
#include "server/calls/serving_state.h"
#include "server/calls/stream_admission.h"
#include "server/process/audit_log.h"
#include "server/regions/region_store.h"
#include "server/scheduling/scheduler.h"
#include "server/tenants/access_tokens.h"
#include "server/transport/certificate_store.h"
#include "server/transport/connection_watch.h"
#include "server/transport/send_watch.h"

namespace gridfold::server {

struct MetricsSources {
  const CallMetrics& calls;
  const Scheduler& scheduler;
  const ArrayStore& arrays;
  const StreamAdmission& streams;
  std::vector<const kernels::Engine*> engines;
  const ServingState& serving_state;
  const RegionStore* regions = nullptr;  // None where they are off, as the next three.
  const AccessTokens* tokens = nullptr;
  const CertificateStore* certificates = nullptr;
  const AuditLog* audit = nullptr;
  const SendWatch* sends = nullptr;  // None where no calls are served, as the next.
  const ClosedConnections* closed = nullptr;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_METRICS_SOURCES_H_
