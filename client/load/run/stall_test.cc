// A server that stands still for 200 ms every 2 s: what the figures must say, and what they hide
// where a generator lets the server slow it down.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/load/run/load_run.h"
#include "gridfold/v1/compute_service.grpc.pb.h"
#include "gridfold/v1/server_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"

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

// Answers at once, but for what comes during a stall, which is answered at its end. No thread waits
// for each of these calls: waking many would take some of the time that is to be measured.
class StallingCompute : public v1::ComputeService::CallbackService {
 public:
  StallingCompute() : thread_([this] { StallInTurns(); }) {}
  ~StallingCompute() override {
    is_over_ = true;
    thread_.join();
  }

  grpc::ServerUnaryReactor* ReduceArray(grpc::CallbackServerContext* /*context*/,
                                        const v1::ReduceArrayRequest* /*request*/,
                                        v1::ReduceArrayResponse* /*response*/) override {
    const absl::MutexLock lock(&mutex_);
    Call* const call = new Call(*this, is_stalled_);
    if (is_stalled_) {
      waiting_.push_back(call);
    } else {
      call->Finish(grpc::Status::OK);
    }
    return call;
  }

  // How long stalls really were: a thread that is to end one may be late, and the calls that waited
  // are answered one by one. The mean of what calls saw.
  double MeanStallMs() const {
    const absl::MutexLock lock(&mutex_);
    return std::chrono::duration<double, std::milli>(stalled_time_).count() / waited_count_;
  }

 private:
  // Deletes itself, as reactors do.
  class Call : public grpc::ServerUnaryReactor {
   public:
    Call(StallingCompute& compute, bool waits) : compute_(compute), waits_(waits) {}
    void OnDone() override {
      if (waits_) compute_.OnAnswered(Clock::now());
      delete this;
    }

   private:
    StallingCompute& compute_;
    const bool waits_;
  };

  void StallInTurns() {
    for (Clock::time_point begin = Clock::now(); !is_over_; begin += kPeriod) {
      std::this_thread::sleep_until(begin);
      BeginStall();
      std::this_thread::sleep_until(begin + kStall);
      EndStall();
    }
  }

  void BeginStall() {
    const absl::MutexLock lock(&mutex_);
    is_stalled_ = true;
    stalled_at_ = Clock::now();
    ++stall_count_;
  }

  void EndStall() {
    std::vector<Call*> waiting;
    {
      const absl::MutexLock lock(&mutex_);
      is_stalled_ = false;
      waiting.swap(waiting_);
    }
    for (Call* const call : waiting) call->Finish(grpc::Status::OK);
  }

  void OnAnswered(Clock::time_point now) {
    const absl::MutexLock lock(&mutex_);
    // The first stall is over before the warm-up is.
    if (stall_count_ == 1) return;
    stalled_time_ += now - stalled_at_;
    ++waited_count_;
  }

  mutable absl::Mutex mutex_;
  bool is_stalled_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point stalled_at_ ABSL_GUARDED_BY(mutex_);
  int stall_count_ ABSL_GUARDED_BY(mutex_) = 0;
  Clock::duration stalled_time_ ABSL_GUARDED_BY(mutex_){};
  int waited_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Call*> waiting_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

class Information : public v1::ServerService::Service {
  grpc::Status GetServerInfo(grpc::ServerContext* /*context*/,
                             const v1::GetServerInfoRequest* /*request*/,
                             v1::GetServerInfoResponse* /*response*/) override {
    return grpc::Status::OK;
  }
};

class StallTest : public ::testing::Test {
 protected:
  StallTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&compute_);
    builder.RegisterService(&information_);
    server_ = builder.BuildAndStart();
    target_ = absl::StrCat("127.0.0.1:", port);
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
        RunLoadTest({.target = target_}, scenario, settings, is_interrupted_,
                    [](const LoadResult&, const LevelResult&) {});
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->levels.size(), 1u);
    return result->levels.at(0);
  }

  const std::atomic<bool> is_interrupted_ = false;
  StallingCompute compute_;
  Information information_;
  std::unique_ptr<grpc::Server> server_;
  std::string target_;
};

double QuantileMs(const LatencyHistogram& histogram, double quantile) {
  return static_cast<double>(histogram.QuantileNs(quantile)) / 1e6;
}

// Of stalls of 200 ms one call in ten arrives in one, and its latency is then anything up to 200 ms
// alike.
double AnalyticMs(double quantile, double stall_ms) {
  const double period_ms = std::chrono::duration<double, std::milli>(kPeriod).count();
  return stall_ms - (1 - quantile) * period_ms;
}

TEST_F(StallTest, AnOpenLoopTellsTheLatenciesThatCallersHave) {
  const auto level = RunUndisturbed({{"rate", "201.3"}, {"arrivals", "constant"}});
  if (!level) GTEST_SKIP() << kDisturbed;
  const Recording& recording = level->recording;
  EXPECT_EQ(recording.failed + recording.unanswered, 0u);
  EXPECT_NEAR(static_cast<double>(recording.answered + recording.unsent), 10 * 201.3, 5);
  for (const double quantile : {0.95, 0.97, 0.99, 0.999}) {
    const double expected_ms = AnalyticMs(quantile, compute_.MeanStallMs());
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
