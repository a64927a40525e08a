// The port from which Prometheus scrapes: what is none of its requests, connections that stall, and
// its start and end with the server.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/server.h"
#include "server/testing/fake_engine.h"
#include "server/testing/http_exchange.h"
#include "server/testing/metrics_fixture.h"
#include "server/testing/test_server.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(MetricsTest, WhatIsNotAScrapeIsAnError) {
  const int port = server_.server().metrics_port().value();
  EXPECT_EQ(HttpGet(port, "/").status, 404);
  EXPECT_EQ(HttpGet(port, "/../../etc/passwd").status, 404);
  EXPECT_EQ(HttpGet(port, "//etc/passwd").status, 404);
  EXPECT_EQ(HttpExchange(port, "DELETE /metrics HTTP/1.1\r\n\r\n").status, 405);
  EXPECT_NE(HttpExchange(port, "nonsense\r\n\r\n").status, 200);
  EXPECT_NE(HttpExchange(port, std::string("\0\xFF\x01\r\n\r\n", 7)).status, 200);
  const std::string long_header(size_t{2} * kScrapeRequestBytesMax, 'x');
  EXPECT_NE(HttpExchange(port, "GET /metrics HTTP/1.1\r\nX: " + long_header + "\r\n\r\n").status,
            200);
  EXPECT_EQ(HttpGet(port, "/metrics").status, 200);
  EXPECT_EQ(HttpGet(port, "/metrics?name=x").status, 200);
  const HttpAnswer head = HttpExchange(port, "HEAD /metrics HTTP/1.0\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

// Connections that never ask, ask slowly, or take nothing of the answer; more than there is room
// for.
class StalledScrapes {
 public:
  explicit StalledScrapes(int port) : port_(port) {
    for (size_t i = 0; i < 6 * kScrapeConnectionsMax; ++i) Add();
  }
  void Add() {
    constexpr const char* kBeginnings[] = {"", "GET /met", "GET /metrics HTTP/1.1\r\n\r\n"};
    sockets_.push_back(std::make_unique<TestSocket>(port_));
    sockets_.back()->Send(kBeginnings[sockets_.size() % 3]);
  }

 private:
  const int port_;
  std::vector<std::unique_ptr<TestSocket>> sockets_;
};

TEST_F(MetricsTest, StalledScrapesDelayNobody) {
  const int port = server_.server().metrics_port().value();
  StalledScrapes stalled(port);
  constexpr int kScrapes = 20;
  int slow = 0;
  for (int i = 0; i < kScrapes; ++i) {
    stalled.Add();
    EXPECT_EQ(Reduce(server_, SmallReduction()), grpc::StatusCode::OK);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(Scrape(server_).Value("gridfold_jobs_succeeded_total"), i + 1);
    if (std::chrono::steady_clock::now() - begin >= kScrapeRequestTimeout / 2) ++slow;
  }
  // Behind stalled ones each would be slow; a busy machine may make a few so.
  EXPECT_LT(slow, kScrapes / 2);
}

TEST_F(MetricsTest, AConnectionHasItsTimeHoweverBusyItIs) {
  const int port = server_.server().metrics_port().value();
  TestSocket slow(port);
  const auto begin = std::chrono::steady_clock::now();
  std::jthread sender([&](const std::stop_token& stop) {
    slow.Send("GET /metrics HTTP/1.1\r\nX: ");
    while (!stop.stop_requested()) {
      slow.Send("x");
      std::this_thread::sleep_for(milliseconds(50));
    }
  });
  EXPECT_EQ(slow.ReceiveAll(), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kScrapeRequestTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4 * kScrapeRequestTimeout);
}

TEST(MetricsEndpointTest, AServerStopsBesideStalledScrapes) {
  FakeEngine engine;
  auto server = std::make_unique<TestServer>(engine, Limits{}, kAnyPort);
  const StalledScrapes stalled(server->server().metrics_port().value());
  const auto start = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(MetricsEndpointTest, APortThatIsTakenIsAnError) {
  FakeEngine engine;
  TestServer first(engine, {}, kAnyPort);
  const std::string taken = absl::StrCat("127.0.0.1:", first.server().metrics_port().value());
  const auto second = Server::Start({&engine}, kAnyPort, Limits{}, taken);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("cannot listen on " + taken + " for metrics"));
}

TEST(MetricsEndpointTest, AServerWithoutMetricsHasNoPort) {
  FakeEngine engine;
  TestServer server(engine);
  EXPECT_EQ(server.server().metrics_port(), std::nullopt);
  EXPECT_EQ(Reduce(server, SmallReduction()), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace gridfold::server
