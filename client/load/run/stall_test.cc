// A server that stands still for 200 ms every 2 s: what the figures must say, and what they hide
// where a generator lets the server slow it down.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "client/library/fake_server.h"
#include "client/load/run/load_test.h"

namespace gridfold::load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPeriod = std::chrono::milliseconds(2000);
constexpr auto kStall = std::chrono::milliseconds(200);

// Tells whether the machine lets threads run when they want to, without which nobody can measure.
class SleepWatch {
 public:
  SleepWatch() : thread_([this] { Watch(); }) {}

  // Ends the watch. Whether one sleep in a hundred, or more, took a millisecond too long.
  bool IsDisturbed() {
    is_over_ = true;
    thread_.join();
    return oversleep_.QuantileNs(0.99) > 1'000'000;
  }

 private:
  void Watch() {
    constexpr auto kSleep = std::chrono::milliseconds(2);
    while (!is_over_) {
      const Clock::time_point before = Clock::now();
      std::this_thread::sleep_for(kSleep);
      oversleep_.Record(std::chrono::nanoseconds(Clock::now() - before - kSleep).count());
    }
  }

  std::atomic<bool> is_over_ = false;
  LatencyHistogram oversleep_;
  std::thread thread_;
};

constexpr int kAttempts = 3;
constexpr char kDisturbed[] = "this machine is too busy to measure anything on it";

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

  // Nothing where the machine was busy with something else in each of some attempts.
  std::optional<LevelResult> RunUndisturbed(const LoadSettings& settings) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      SleepWatch watch;
      LevelResult level = Run(settings);
      if (!watch.IsDisturbed()) return level;
    }
    return std::nullopt;
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

TEST_F(StallTest, AnOpenLoopTellsTheLatenciesThatCallersHave) {
  const auto level = RunUndisturbed({{"rate", "201.3"}, {"arrivals", "constant"}});
  if (!level) GTEST_SKIP() << kDisturbed;
  const Recording& recording = level->recording;
  EXPECT_EQ(recording.failed + recording.unanswered, 0u);
  EXPECT_NEAR(static_cast<double>(recording.answered + recording.unsent), 10 * 201.3, 5);
  for (const double quantile : {0.95, 0.97, 0.99, 0.999}) {
    const double expected_ms = AnalyticMs(quantile);
    EXPECT_NEAR(QuantileMs(recording.latency, quantile), expected_ms, 0.02 * expected_ms)
        << quantile;
  }
}

TEST_F(StallTest, AClosedLoopHidesTheStall) {
  const auto level = RunUndisturbed({{"concurrency", "1"}});
  if (!level) GTEST_SKIP() << kDisturbed;
  // Five stalls among thousands of calls.
  EXPECT_GT(level->recording.answered, 1000u);
  EXPECT_LT(QuantileMs(level->recording.latency, 0.99), 20);
  EXPECT_GT(QuantileMs(level->recording.latency, 1), 150);
}

TEST_F(StallTest, ActualTimesHideWhatIntendedTimesShow) {
  // A generator that waits for answers sends late, and does not see it by the actual times.
  const auto level = RunUndisturbed(
      {{"rate", "201.3"}, {"arrivals", "constant"}, {"in-flight-max", "1"}, {"connections", "1"}});
  if (!level) GTEST_SKIP() << kDisturbed;
  EXPECT_LT(QuantileMs(level->recording.latency_from_send, 0.99), 20);
  EXPECT_GT(QuantileMs(level->recording.latency, 0.99), 150);
  EXPECT_GT(level->generator.held_back_count, 4u);
}

}  // namespace
}  // namespace gridfold::load
