#include "server/metrics_endpoint.h"

#include <prometheus/exposer.h>

#include <exception>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/limits.h"
#include "server/metrics_collector.h"

namespace gridfold::server {

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    const std::string& address, const MetricsSources& sources) {
  std::unique_ptr<MetricsEndpoint> endpoint(new MetricsEndpoint(sources));
  const std::vector<std::string> options = {
      "listening_ports",    address,
      "num_threads",        std::to_string(kScrapeThreadCount),
      "connection_queue",   std::to_string(kScrapeQueueLength),
      "max_request_size",   std::to_string(kScrapeRequestBytesMax),
      "request_timeout_ms", std::to_string(kScrapeTimeout.count()),
      "enable_keep_alive",  "no"};
  try {
    endpoint->exposer_ = std::make_unique<prometheus::Exposer>(options);
  } catch (const std::exception&) {
    // It says no more than this.
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, " for metrics (--metrics-address)"));
  }
  endpoint->exposer_->RegisterCollectable(endpoint->collector_);
  endpoint->port_ = endpoint->exposer_->GetListeningPorts().at(0);
  return endpoint;
}

MetricsEndpoint::MetricsEndpoint(const MetricsSources& sources)
    : collector_(std::make_shared<MetricsCollector>(sources)) {}

MetricsEndpoint::~MetricsEndpoint() = default;

}  // namespace gridfold::server
