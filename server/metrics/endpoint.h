// Serves the metrics to Prometheus: text over HTTP, at /metrics.
#ifndef GRIDFOLD_SERVER_METRICS_ENDPOINT_H_
#define GRIDFOLD_SERVER_METRICS_ENDPOINT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/metrics/sources.h"
#include "server/transport/scrape_server.h"

namespace gridfold::server {

// Scrapes have a thread and connections of their own, bounded (base/fixed_limits.h), and touch the
// server only to read its counters: slow, frequent or malformed scrapes delay neither calls nor
// other scrapes. Thread-safe.
class MetricsEndpoint {
 public:
  // Listens on `address` ("host:port"; port 0 takes any that is free). Errors: UNAVAILABLE where
  // that is not possible.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(const std::string& address,
                                                                const MetricsSources& sources);

  int port() const { return server_->port(); }

 private:
  explicit MetricsEndpoint(std::unique_ptr<ScrapeServer> server) : server_(std::move(server)) {}

  const std::unique_ptr<ScrapeServer> server_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_METRICS_ENDPOINT_H_
