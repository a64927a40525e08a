// Where metrics come from. All must outlive whoever reads them, and are read from any thread.
#ifndef GRIDFOLD_SERVER_METRICS_SOURCES_H_
#define GRIDFOLD_SERVER_METRICS_SOURCES_H_

#include <vector>

#include "kernels/engine.h"
#include "server/access_tokens.h"
#include "server/array_store.h"
#include "server/audit_log.h"
#include "server/call_metrics.h"
#include "server/certificate_store.h"
#include "server/region_store.h"
#include "server/scheduler.h"
#include "server/send_watch.h"
#include "server/serving_state.h"
#include "server/stream_admission.h"

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
  const SendWatch* sends = nullptr;  // None where no calls are served.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_METRICS_SOURCES_H_
