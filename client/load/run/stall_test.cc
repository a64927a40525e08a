// A server that stands still for 200 ms every 2 s: what the figures must say, and what they hide
// where a generator lets the server slow it down.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <iostream>
#include <thread>

#include "client/library/fake_server.h"
#include "client/load/run/load_test.h"

namespace gridfold::load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPeriod = std::chrono::milliseconds(2000);
constexpr auto kStall = std::chrono::milliseconds(200);

// Answers at once, but for what comes during a stall, which is answered at its end.
class StallTest : public ::testing::Test {
 protected:
  StallTest() {
    server_.on_info = [](auto&, auto&, auto&) { return grpc::Status::OK; };
    server_.on_reduce = [this](auto&, auto&, auto&) {
      const auto in_period = (Clock::now() - start_) % kPeriod;
      if (in_period < kStall) std::this_thread::sleep_for(kStall - in_period);
      return grpc::Status::OK;
    };
  }

  LevelResult Run(LoadSettings settings) {
    settings.insert({{"warm-up", "500ms"}, {"duration", "10s"}, {"verify", "none"}});
    Scenario scenario;
    scenario.requests.push_back({.name = "sum", .elements = {.choices = {16}}});
    absl::StatusOr<LoadResult> result =
        RunLoadTest({.target = server_.target()}, scenario, settings, is_interrupted_,
                    [](const LoadResult&, const LevelResult&) {});
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->levels.size(), 1u);
    return result->levels.at(0);
  }

  const Clock::time_point start_ = Clock::now();
  const std::atomic<bool> is_interrupted_ = false;
  client::FakeServer server_;
};

double QuantileMs(const LatencyHistogram& histogram, double quantile) {
  return static_cast<double>(histogram.QuantileNs(quantile)) / 1e6;
}

// One call in ten arrives in a stall, and its latency is then anything up to 200 ms alike.
double AnalyticMs(double quantile) { return 200 * (quantile - 0.9) / 0.1; }

bool AgreesWithAnalysis(const LatencyHistogram& latency) {
  bool agrees = true;
  for (const double quantile : {0.95, 0.97, 0.99, 0.999}) {
    const double expected_ms = AnalyticMs(quantile);
    agrees = agrees && std::abs(QuantileMs(latency, quantile) - expected_ms) < 0.02 * expected_ms;
  }
  return agrees;
}

TEST_F(StallTest, AnOpenLoopTellsTheLatenciesThatCallersHave) {
  // Other programs of the machine may disturb a run; a generator that is wrong is wrong each time.
  constexpr int kAttempts = 4;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    const LevelResult level = Run({{"rate", "201.3"}, {"arrivals", "constant"}});
    EXPECT_EQ(level.recording.failed + level.recording.unanswered, 0u);
    EXPECT_NEAR(static_cast<double>(level.recording.answered + level.recording.unsent), 10 * 201.3,
                5);
    if (AgreesWithAnalysis(level.recording.latency)) return;
    for (const double quantile : {0.95, 0.97, 0.99, 0.999}) {
      std::cerr << "p" << quantile * 100 << " is " << QuantileMs(level.recording.latency, quantile)
                << " ms, by analysis " << AnalyticMs(quantile) << " ms\n";
    }
  }
  FAIL() << "in " << kAttempts << " runs";
}

TEST_F(StallTest, AClosedLoopHidesTheStall) {
  const LevelResult level = Run({{"concurrency", "1"}});
  // Five stalls among thousands of calls.
  EXPECT_GT(level.recording.answered, 1000u);
  EXPECT_LT(QuantileMs(level.recording.latency, 0.99), 20);
  EXPECT_GT(QuantileMs(level.recording.latency, 1), 150);
}

TEST_F(StallTest, ActualTimesHideWhatIntendedTimesShow) {
  // A generator that waits for answers sends late, and does not see it by the actual times.
  const LevelResult level =
      Run({{"rate", "201.3"}, {"arrivals", "constant"}, {"in-flight-max", "1"}, {"threads", "1"}});
  EXPECT_LT(QuantileMs(level.recording.latency_from_send, 0.99), 20);
  EXPECT_GT(QuantileMs(level.recording.latency, 0.99), 150);
  EXPECT_GT(level.generator.held_back_count, 50u);
}

}  // namespace
}  // namespace gridfold::load
