// Serves the metrics to Prometheus: text over HTTP, at /metrics.
#ifndef GRIDFOLD_SERVER_METRICS_ENDPOINT_H_
#define GRIDFOLD_SERVER_METRICS_ENDPOINT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/metrics_sources.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace gridfold::server {

// Scrapes have threads and connections of their own, both bounded (limits.h), and touch the server
// only to read its counters: slow, frequent or malformed scrapes delay other scrapes at most.
// Thread-safe.
class MetricsEndpoint {
 public:
  // Listens on `address` ("host:port", where host is a name or an IPv4 address; port 0 takes any
  // that is free). Errors: UNAVAILABLE where that is not possible.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(const std::string& address,
                                                                const MetricsSources& sources);
  // Waits for the scrapes under way, for about kScrapeTimeout at most; where there is none, for up
  // to two seconds, which is how often the library looks whether it is to end.
  ~MetricsEndpoint();

  int port() const { return port_; }

 private:
  explicit MetricsEndpoint(const MetricsSources& sources);

  std::shared_ptr<prometheus::Collectable> collector_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  int port_ = 0;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_METRICS_ENDPOINT_H_
