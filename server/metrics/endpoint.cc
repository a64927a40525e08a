#include "server/metrics/endpoint.h"

#include <prometheus/text_serializer.h>

#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/metrics/collector.h"

namespace gridfold::server {

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    const std::string& address, const MetricsSources& sources) {
  absl::StatusOr<std::unique_ptr<ScrapeServer>> server =
      ScrapeServer::Start(address, "/metrics", "text/plain; version=0.0.4; charset=utf-8",
                          [collector = std::make_shared<MetricsCollector>(sources)] {
                            return prometheus::TextSerializer().Serialize(collector->Collect());
                          });
  if (!server.ok()) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address,
                     " for metrics (--metrics-address): ", server.status().message()));
  }
  return absl::WrapUnique(new MetricsEndpoint(*std::move(server)));
}

}  // namespace gridfold::server
