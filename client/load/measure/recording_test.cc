// What recordings make of outcomes: which calls count where, and what two of them are together.

#include "client/load/measure/recording.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace gridfold::load {
namespace {

constexpr Outcome::Ending kEndings[] = {Outcome::Ending::kAnswered, Outcome::Ending::kFailed,
                                        Outcome::Ending::kCancelled, Outcome::Ending::kUnanswered};

// A call whose times all differ: meant for 100 ns, sent at 110 ns, ended at 200 ns.
Outcome EndedAs(Outcome::Ending ending) {
  Outcome outcome;
  outcome.ending = ending;
  outcome.kind_index = 1;
  outcome.array_bytes = 7;
  outcome.intended_ns = 100;
  outcome.sent_ns = 110;
  outcome.ended_ns = 200;
  if (ending == Outcome::Ending::kFailed) outcome.error = absl::InternalError("broken");
  outcome.answer.is_verified = true;
  client::ExecutionStatistics& execution = outcome.answer.execution;
  execution.queue_time = absl::Nanoseconds(1);
  execution.stage_in_time = absl::Nanoseconds(2);
  execution.kernel_time = absl::Nanoseconds(3);
  execution.stage_out_time = absl::Nanoseconds(4);
  execution.total_time = absl::Nanoseconds(50);
  return outcome;
}

TEST(RecorderTest, CallsCountWhereTheyWereDueAndAnswersWhereTheyCame) {
  for (const Outcome::Ending ending : kEndings) {
    const bool is_answered = ending == Outcome::Ending::kAnswered;
    for (const bool is_of_window : {false, true}) {
      for (const bool ended_in_window : {false, true}) {
        Recorder recorder(2);
        recorder.Record(EndedAs(ending), is_of_window, ended_in_window);
        const Recording taken = recorder.Take();
        const bool is_completed = is_answered && ended_in_window;
        EXPECT_EQ(taken.call_count(), is_of_window ? 1u : 0u);
        EXPECT_EQ(taken.answered, is_of_window && is_answered ? 1u : 0u);
        EXPECT_EQ(taken.completed, is_completed ? 1u : 0u);
        EXPECT_EQ(taken.completed_bytes, is_completed ? 7u : 0u);
      }
    }
  }
}

TEST(RecorderTest, WhatWasTakenIsNotTakenAgain) {
  Recorder recorder(2);
  recorder.Record(EndedAs(Outcome::Ending::kAnswered), true, true);
  recorder.AddUnsent(3);
  recorder.AddUnsent(4);
  const Recording taken = recorder.Take();
  EXPECT_EQ(taken.unsent, 7u);
  EXPECT_EQ(taken.kinds.size(), 2u);
  const Recording rest = recorder.Take();
  EXPECT_EQ(rest.unsent, 0u);
  EXPECT_EQ(rest.call_count(), 0u);
  EXPECT_EQ(rest.completed, 0u);
  EXPECT_EQ(rest.kinds.size(), 2u);
}

TEST(RecordingTest, EachEndingHasItsCount) {
  for (const Outcome::Ending ending : kEndings) {
    Recording recording(2);
    for (int i = 0; i < 2; ++i) recording.Add(EndedAs(ending));
    const auto count_of = [&](Outcome::Ending other) { return ending == other ? 2u : 0u; };
    const uint64_t answered = count_of(Outcome::Ending::kAnswered);
    const uint64_t failed = count_of(Outcome::Ending::kFailed);
    EXPECT_EQ(recording.answered, answered);
    EXPECT_EQ(recording.failed, failed);
    EXPECT_EQ(recording.cancelled, count_of(Outcome::Ending::kCancelled));
    EXPECT_EQ(recording.unanswered, count_of(Outcome::Ending::kUnanswered));
    EXPECT_EQ(recording.call_count(), 2u);
    EXPECT_EQ(recording.verified, answered);
    EXPECT_EQ(recording.kinds[1].answered, answered);
    EXPECT_EQ(recording.kinds[1].failed, failed);
    EXPECT_EQ(recording.kinds[1].latency.count(), answered);
    EXPECT_EQ(recording.kinds[0].answered + recording.kinds[0].failed, 0u);
    EXPECT_EQ(recording.errors.size(), failed / 2);
    EXPECT_EQ(recording.lateness.count(), 2u);
    EXPECT_EQ(recording.completed, 0u);
  }
}

// Every time of `recording`, which has one answer.
std::vector<int64_t> TimesOf(const Recording& recording) {
  std::vector<int64_t> times = {recording.latency.max_ns(), recording.latency_from_send.max_ns(),
                                recording.lateness.max_ns(), recording.kinds[1].latency.max_ns()};
  for (const LatencyHistogram& stage : recording.stages) times.push_back(stage.max_ns());
  return times;
}

TEST(RecordingTest, EachTimeHasItsHistogramAlsoOfTwoTogether) {
  Recording recording(2);
  recording.Add(EndedAs(Outcome::Ending::kAnswered));
  const std::vector<int64_t> expected = {100, 90, 10, 100, 1, 2, 3, 4, 50};
  EXPECT_EQ(TimesOf(recording), expected);
  Recording both(2);
  both.Merge(recording);
  EXPECT_EQ(TimesOf(both), expected);
  both.Merge(recording);
  EXPECT_EQ(both.latency.count(), 2u);
  EXPECT_EQ(both.latency_from_send.count(), 2u);
  EXPECT_EQ(both.lateness.count(), 2u);
  EXPECT_EQ(both.kinds[1].latency.count(), 2u);
  for (const LatencyHistogram& stage : both.stages) EXPECT_EQ(stage.count(), 2u);
}

TEST(RecordingTest, ErrorsAreThePartOfTheDueCallsThatGotNoAnswer) {
  Recording recording(1);
  EXPECT_EQ(recording.error_fraction(), 0);
  recording.answered = 4;
  recording.cancelled = 100;
  EXPECT_EQ(recording.error_fraction(), 0);
  recording.failed = 1;
  EXPECT_EQ(recording.error_fraction(), 1.0 / 5);
  recording.unanswered = 2;
  EXPECT_EQ(recording.error_fraction(), 3.0 / 7);
  recording.unsent = 9;
  EXPECT_EQ(recording.error_fraction(), 12.0 / 16);
  recording.answered = 0;
  EXPECT_EQ(recording.error_fraction(), 1);
}

TEST(RecordingTest, StagesHaveNames) {
  const char* const names[kStageCount] = {"queue", "stage in", "kernel", "stage out",
                                          "server total"};
  for (size_t i = 0; i < kStageCount; ++i) {
    EXPECT_STREQ(StageName(static_cast<Stage>(i)), names[i]);
  }
}

}  // namespace
}  // namespace gridfold::load
