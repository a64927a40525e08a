// What tests of metrics share: servers that are scraped over HTTP, and calls whose numbers are
// there.
#ifndef GRIDFOLD_SERVER_TESTING_METRICS_FIXTURE_H_
#define GRIDFOLD_SERVER_TESTING_METRICS_FIXTURE_H_

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/engine.h"
#include "server/testing/http_exchange.h"
#include "server/testing/metrics_text.h"
#include "server/testing/test_server.h"

namespace gridfold::server {

inline constexpr char kAnyPort[] = "127.0.0.1:0";

inline MetricsText Scrape(TestServer& server) {
  const HttpAnswer answer = HttpGet(server.server().metrics_port().value(), "/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers, testing::HasSubstr("Content-Type: text/plain"));
  return ParseMetrics(answer.body);
}

// "{rpc="ReduceArray",...}" of gridfold_requests_total.
inline std::string Calls(const std::string& rpc, const std::string& code,
                         const std::string& element_type, const std::string& strategy) {
  return absl::StrCat("{rpc=\"", rpc, "\",code=\"", code, "\",element_type=\"", element_type,
                      "\",strategy=\"", strategy, "\"}");
}

// Scrapes until a metric has a value that it is about to have.
inline MetricsText ScrapeUntil(TestServer& server, const std::string& series, double value) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  MetricsText metrics = Scrape(server);
  while (metrics.Value(series) != value) {
    EXPECT_LT(std::chrono::steady_clock::now(), give_up) << series << " is not " << value;
    if (testing::Test::HasFailure()) break;
    metrics = Scrape(server);
  }
  return metrics;
}

inline grpc::StatusCode Reduce(TestServer& server, const v1::ReduceArrayRequest& request) {
  grpc::ClientContext context;
  v1::ReduceArrayResponse response;
  return server.compute().ReduceArray(&context, request, &response).error_code();
}

// On the engine that every machine has.
class MetricsTest : public testing::Test {
 protected:
  std::unique_ptr<kernels::Engine> engine_ =
      *kernels::CreateEngine({.kind = kernels::EngineKind::kCpu, .cpu_threads = 2});
  TestServer server_{*engine_, {}, kAnyPort};
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_METRICS_FIXTURE_H_
