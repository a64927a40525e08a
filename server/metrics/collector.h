// Reads all that the server exposes to Prometheus, at the moment of a scrape. server/METRICS.md
// lists every metric.
#ifndef GRIDFOLD_SERVER_METRICS_COLLECTOR_H_
#define GRIDFOLD_SERVER_METRICS_COLLECTOR_H_

#include <prometheus/metric_family.h>

#include <vector>

#include "server/metrics/sources.h"

namespace gridfold::server {

// Thread-safe.
class MetricsCollector {
 public:
  explicit MetricsCollector(const MetricsSources& sources) : sources_(sources) {}

  std::vector<prometheus::MetricFamily> Collect() const;

 private:
  const MetricsSources sources_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_METRICS_COLLECTOR_H_
