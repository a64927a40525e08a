// What a server sees of a run's calls: what they bring, how many there are, when and over which
// connections; and what the run makes of its answers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/library/fake_server.h"
#include "client/load/run/load_run.h"

namespace gridfold::load {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

struct SeenCall {
  absl::Time time;
  std::string peer;
  std::string tenant;
  std::string priority;
  absl::Duration timeout;
  uint64_t element_count;
};

std::string Metadata(const grpc::ServerContext& context, const std::string& key) {
  const auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end()
             ? ""
             : std::string(found->second.begin(), found->second.end());
}

class CallsTest : public ::testing::Test {
 protected:
  CallsTest() {
    server_.on_info = [](auto&, auto&, auto&) { return grpc::Status::OK; };
    AnswerBy([](auto&) { return grpc::Status::OK; });
  }

  // Remembers each call, and has `answer` say what comes of it.
  void AnswerBy(std::function<grpc::Status(grpc::ServerContext&)> answer) {
    server_.on_reduce = [this, answer = std::move(answer)](grpc::ServerContext& context,
                                                           const v1::ReduceArrayRequest& request,
                                                           v1::ReduceArrayResponse& response) {
      Enter(context, request);
      *response.mutable_execution() = execution_;
      const grpc::Status status = answer(context);
      const absl::MutexLock lock(&mutex_);
      --under_way_;
      return status;
    };
  }

  LevelResult Run(LoadSettings settings, const std::vector<RequestKind>& kinds = {
                                             {.name = "sum", .elements = {.choices = {16}}}}) {
    {
      const absl::MutexLock lock(&mutex_);
      seen_.clear();
      under_way_max_ = 0;
    }
    settings.insert({{"warm-up", "0"}, {"verify", "none"}});
    absl::StatusOr<LoadResult> result =
        RunLoadTest({.target = server_.target()}, {.requests = kinds}, settings, is_interrupted_,
                    [](const LoadResult&, const LevelResult&) {});
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok() || result->levels.size() != 1) return LevelResult(kinds.size());
    return result->levels[0];
  }

  std::vector<SeenCall> seen() const {
    const absl::MutexLock lock(&mutex_);
    return seen_;
  }
  int under_way_max() const {
    const absl::MutexLock lock(&mutex_);
    return under_way_max_;
  }

  client::FakeServer server_;
  v1::ExecutionStatistics execution_;
  std::atomic<bool> is_interrupted_ = false;

 private:
  void Enter(const grpc::ServerContext& context, const v1::ReduceArrayRequest& request) {
    const absl::MutexLock lock(&mutex_);
    seen_.push_back({.time = absl::Now(),
                     .peer = context.peer(),
                     .tenant = Metadata(context, "gridfold-tenant"),
                     .priority = Metadata(context, "gridfold-priority"),
                     .timeout = absl::FromChrono(context.deadline()) - absl::Now(),
                     .element_count = request.array().inline_array().data().size() / 4});
    under_way_max_ = std::max(under_way_max_, ++under_way_);
  }

  mutable absl::Mutex mutex_;
  std::vector<SeenCall> seen_ ABSL_GUARDED_BY(mutex_);
  int under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  int under_way_max_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(CallsTest, BringWhatTheirKindSays) {
  Run({{"count", "200"}, {"timeout", "70s"}},
      {{.name = "low",
        .elements = {.choices = {10}},
        .tenant = "red",
        .priority = client::Priority::kLow,
        .timeout = absl::Seconds(20)},
       {.name = "high", .elements = {.choices = {20}}, .priority = client::Priority::kHigh},
       {.name = "neither", .elements = {.choices = {30}}}});
  EXPECT_EQ(seen().size(), 200u);
  for (const SeenCall& call : seen()) {
    const bool is_low = call.element_count == 10;
    EXPECT_EQ(call.tenant, is_low ? "red" : "");
    EXPECT_EQ(call.priority, is_low ? "low" : call.element_count == 20 ? "high" : "");
    const absl::Duration timeout = absl::Seconds(is_low ? 20 : 70);
    // gRPC sends times rounded up to three digits.
    EXPECT_THAT(call.timeout,
                AllOf(Le(timeout + absl::Seconds(1)), Ge(timeout - absl::Seconds(5))));
  }
}

TEST_F(CallsTest, KindsAreAskedForByTheirWeight) {
  const LevelResult level =
      Run({{"count", "2000"}}, {{.weight = 1, .elements = {.choices = {10}}},
                                {.weight = 4, .elements = {.choices = {20}}},
                                {.weight = 5, .elements = {.choices = {30}}}});
  std::map<uint64_t, uint64_t> counts;
  for (const SeenCall& call : seen()) ++counts[call.element_count];
  // Six standard deviations, of which the middle one has the larger: 22.
  EXPECT_NEAR(static_cast<double>(counts[10]), 200, 81);
  EXPECT_NEAR(static_cast<double>(counts[20]), 800, 132);
  for (const auto& [kind, elements] : {std::pair(0, 10), {1, 20}, {2, 30}}) {
    EXPECT_EQ(level.recording.kinds[kind].answered, counts[elements]);
    EXPECT_EQ(level.recording.kinds[kind].latency.count(), counts[elements]);
  }
  EXPECT_EQ(level.recording.completed_bytes,
            4 * (10 * counts[10] + 20 * counts[20] + 30 * counts[30]));
}

TEST_F(CallsTest, AreAsManyAsTheCountOverEachConnection) {
  for (const char* const threads : {"1", "2"}) {
    const LevelResult level =
        Run({{"count", "403"}, {"connections", "4"}, {"concurrency", "8"}, {"threads", threads}});
    EXPECT_EQ(seen().size(), 403u);
    EXPECT_EQ(level.recording.answered, 403u);
    EXPECT_EQ(level.recording.completed, 403u);
    EXPECT_EQ(level.end_reason, EndReason::kDone);
    std::map<std::string, int> by_connection;
    for (const SeenCall& call : seen()) ++by_connection[call.peer];
    EXPECT_EQ(by_connection.size(), 4u);
    if (std::string(threads) != "1") continue;
    for (const auto& [peer, count] : by_connection) EXPECT_NEAR(count, 101, 1) << peer;
  }
}

TEST_F(CallsTest, OfAClosedLoopAreAsManyAtATimeAsAskedFor) {
  AnswerBy([](auto&) {
    absl::SleepFor(absl::Milliseconds(10));
    return grpc::Status::OK;
  });
  for (const int places : {1, 3, 7}) {
    const std::string text = std::to_string(places);
    Run({{"count", "60"}, {"connections", "3"}, {"concurrency", text}});
    EXPECT_EQ(under_way_max(), places);
  }
  // One place more a second; never more than the ramp has at its end.
  Run({{"duration", "2s"}, {"concurrency", "1:5"}});
  EXPECT_THAT(under_way_max(), AllOf(Ge(3), Le(5)));
}

TEST_F(CallsTest, OfAnOpenLoopWaitWhereTooManyAreUnderWay) {
  AnswerBy([](auto&) {
    absl::SleepFor(absl::Milliseconds(100));
    return grpc::Status::OK;
  });
  const LevelResult level = Run({{"rate", "200"},
                                 {"arrivals", "constant"},
                                 {"duration", "1s"},
                                 {"connections", "2"},
                                 {"threads", "2"},
                                 {"in-flight-max", "6"}});
  EXPECT_EQ(under_way_max(), 6);
  // 60 answers of the 200 calls that were due; the rest was never sent, but for those under way.
  EXPECT_NEAR(static_cast<double>(level.recording.answered), 60, 12);
  EXPECT_NEAR(static_cast<double>(level.recording.call_count() + level.recording.unsent), 200, 3);
  EXPECT_NEAR(static_cast<double>(level.generator.held_back_count), 55, 15);
}

// The number may be less than threads are, or no multiple of them.
TEST_F(CallsTest, OfAnOpenLoopAreNoMoreAtATimeThanAllowed) {
  AnswerBy([](auto&) {
    absl::SleepFor(absl::Milliseconds(20));
    return grpc::Status::OK;
  });
  for (const int most : {1, 2, 5}) {
    const LevelResult level = Run({{"count", "60"},
                                   {"rate", "2000"},
                                   {"connections", "3"},
                                   {"threads", "3"},
                                   {"in-flight-max", std::to_string(most)}});
    EXPECT_EQ(under_way_max(), most);
    EXPECT_EQ(level.generator.thread_count, std::min(most, 3));
    EXPECT_GT(level.generator.held_back_count, 0u);
  }
}

TEST_F(CallsTest, OfTheWarmUpDoNotCount) {
  const LevelResult level = Run({{"rate", "100"},
                                 {"arrivals", "constant"},
                                 {"warm-up", "500ms"},
                                 {"duration", "1500ms"},
                                 {"connections", "2"}});
  EXPECT_NEAR(static_cast<double>(seen().size()), 200, 3);
  EXPECT_NEAR(static_cast<double>(level.recording.answered + level.recording.unsent), 150, 3);
  EXPECT_NEAR(static_cast<double>(level.recording.completed), 150, 5);
  EXPECT_NEAR(level.window_s, 1.5, 0.05);
  ASSERT_EQ(level.seconds.size(), 2u);
  EXPECT_NEAR(level.seconds[0].time_s, 1, 0.05);
  EXPECT_NEAR(level.seconds[0].rate, 100, 6);
  EXPECT_NEAR(level.seconds[0].bytes_per_second, 6400, 400);
  EXPECT_NEAR(level.seconds[1].time_s, 1.5, 0.05);
  EXPECT_NEAR(level.seconds[1].rate, 100, 10);
  EXPECT_EQ(level.seconds[1].level, 100);
  // Whoever has to wait sleeps.
  EXPECT_LT(level.generator.busiest_thread, 0.5);
}

TEST_F(CallsTest, OneInSixteenIsVerified) {
  const LevelResult level = Run({{"count", "3200"}, {"verify", "sample"}});
  // Six standard deviations of 13.7.
  EXPECT_NEAR(static_cast<double>(level.recording.verified + level.recording.failed), 200, 82);
}

TEST_F(CallsTest, AreGivenUpAsOftenAndAsSoonAsAskedFor) {
  AnswerBy([](grpc::ServerContext& context) {
    for (int i = 0; i < 60 && !context.IsCancelled(); ++i) absl::SleepFor(absl::Milliseconds(1));
    return grpc::Status::OK;
  });
  const LevelResult level =
      Run({{"count", "240"}, {"concurrency", "8"}}, {{.elements = {.choices = {16}},
                                                      .cancelled_part = 0.25,
                                                      .cancel_within = absl::Milliseconds(30)}});
  // Six standard deviations of 6.7.
  EXPECT_NEAR(static_cast<double>(level.recording.cancelled), 60, 40);
  EXPECT_EQ(level.recording.cancelled + level.recording.answered, 240u);
  EXPECT_GE(level.recording.latency.min_ns(), 60'000'000);
}

TEST_F(CallsTest, GoOnLaterWhereTheServerIsAway) {
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::INTERNAL}) {
    AnswerBy([code](auto&) { return grpc::Status(code, "no"); });
    const LevelResult level = Run({{"duration", "500ms"}, {"concurrency", "2"}});
    if (code == grpc::StatusCode::UNAVAILABLE) {
      // Each place waits at least 10 ms.
      EXPECT_THAT(seen().size(), AllOf(Ge(20u), Le(102u)));
    } else {
      EXPECT_GT(seen().size(), 200u);
    }
    EXPECT_EQ(level.recording.answered, 0u);
    EXPECT_NEAR(static_cast<double>(level.recording.failed), static_cast<double>(seen().size()), 2);
    EXPECT_GE(level.seconds[0].errors, level.recording.failed - 2);
  }
}

// UNAVAILABLE alone says no more than silence does; any other error is a sign of life.
TEST_F(CallsTest, AreEndedWhereNothingButUnavailableComes) {
  for (const auto code : {grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::RESOURCE_EXHAUSTED}) {
    AnswerBy([code](auto&) {
      absl::SleepFor(absl::Milliseconds(20));
      return grpc::Status(code, "no");
    });
    const LevelResult level = Run({{"duration", "1500ms"}, {"give-up-after", "500ms"}});
    if (code == grpc::StatusCode::UNAVAILABLE) {
      EXPECT_EQ(level.end_reason, EndReason::kSilent);
      EXPECT_NEAR(level.window_s, 0.5, 0.2);
    } else {
      EXPECT_EQ(level.end_reason, EndReason::kDone);
      EXPECT_NEAR(level.window_s, 1.5, 0.2);
    }
  }
}

TEST_F(CallsTest, EndSoonAfterAnInterrupt) {
  AnswerBy([](grpc::ServerContext& context) {
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
    return grpc::Status::CANCELLED;
  });
  std::thread interrupt([this] {
    absl::SleepFor(absl::Milliseconds(300));
    is_interrupted_ = true;
  });
  const absl::Time begin = absl::Now();
  const LevelResult level = Run({{"concurrency", "5"}, {"duration", "60s"}});
  interrupt.join();
  EXPECT_EQ(level.end_reason, EndReason::kInterrupted);
  EXPECT_NEAR(level.window_s, 0.3, 0.2);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(3));
  EXPECT_EQ(level.recording.unanswered, 5u);
  EXPECT_EQ(level.recording.call_count(), 5u);
}

TEST_F(CallsTest, HaveTheTimesThatTheServerTellsAndOnesOfTheirOwn) {
  const auto set_us = [](google::protobuf::Duration& time, int us) { time.set_nanos(us * 1000); };
  set_us(*execution_.mutable_queue_time(), 11'000);
  set_us(*execution_.mutable_stage_in_time(), 22'000);
  set_us(*execution_.mutable_kernel_time(), 33'000);
  set_us(*execution_.mutable_stage_out_time(), 44'000);
  set_us(*execution_.mutable_total_time(), 155'000);
  AnswerBy([](auto&) {
    absl::SleepFor(absl::Milliseconds(30));
    return grpc::Status::OK;
  });
  const LevelResult level = Run({{"count", "20"}, {"concurrency", "2"}});
  const std::vector<double> expected_ms = {11, 22, 33, 44, 155};
  for (size_t i = 0; i < kStageCount; ++i) {
    EXPECT_EQ(level.recording.stages[i].count(), 20u);
    EXPECT_EQ(level.recording.stages[i].max_ns(), expected_ms[i] * 1e6) << StageName(Stage(i));
  }
  EXPECT_GE(level.recording.latency.min_ns(), 30'000'000);
  EXPECT_GE(level.recording.latency_from_send.min_ns(), 30'000'000);
  EXPECT_LT(level.recording.latency.QuantileNs(0.5), 60'000'000);
  // A closed loop is never late.
  EXPECT_EQ(level.recording.lateness.max_ns(), 0);
}

TEST_F(CallsTest, AreDrawnBySeed) {
  const auto sizes_by = [this](const char* seed) {
    Run({{"count", "40"}, {"concurrency", "1"}, {"connections", "1"}, {"seed", seed}},
        {{.elements = {.choices = {1, 2, 3, 4, 5, 6, 7, 8}}}});
    std::vector<uint64_t> sizes;
    for (const SeenCall& call : seen()) sizes.push_back(call.element_count);
    return sizes;
  };
  const std::vector<uint64_t> first = sizes_by("1");
  EXPECT_EQ(sizes_by("1"), first);
  EXPECT_NE(sizes_by("2"), first);
}

TEST_F(CallsTest, OfStreamsAreAsLargeAsTheServerTakes) {
  constexpr uint64_t kElements = 5000;
  for (const uint64_t chunk_bytes_max : {uint64_t{0}, uint64_t{4096}, uint64_t{1} << 40}) {
    server_.on_info = [chunk_bytes_max](auto&, auto&, v1::GetServerInfoResponse& response) {
      response.mutable_limits()->set_array_chunk_bytes_max(chunk_bytes_max);
      return grpc::Status::OK;
    };
    absl::Mutex mutex;
    std::vector<size_t> sizes;
    server_.on_reduce_stream = [&](auto&, const auto& messages, auto&) {
      const absl::MutexLock lock(&mutex);
      for (const auto& message : messages) sizes.push_back(message.data().size());
      return grpc::Status::OK;
    };
    const LevelResult level =
        Run({{"count", "1"}},
            {{.elements = {.choices = {kElements}}, .transport = ArrayTransport::kStream}});
    EXPECT_EQ(level.recording.answered, 1u);
    const absl::MutexLock lock(&mutex);
    const std::vector<size_t> expected = chunk_bytes_max == 4096
                                             ? std::vector<size_t>{0, 4096, 4096, 4096, 4096, 3616}
                                             : std::vector<size_t>{0, 4 * kElements};
    EXPECT_EQ(sizes, expected);
  }
}

}  // namespace
}  // namespace gridfold::load
