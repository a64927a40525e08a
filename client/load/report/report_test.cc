// Thresholds, the forms of the report, and comparison.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/load/report/compare.h"
#include "client/load/report/html_report.h"
#include "client/load/report/html_test_util.h"
#include "client/load/report/json_report.h"
#include "client/load/report/live_view.h"
#include "client/load/report/text_report.h"
#include "client/load/report/thresholds.h"
#include "nlohmann/json.hpp"

namespace gridfold::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMs = 1'000'000;

// 990 answers after 1 ms, 10 after 20 ms, and 10 errors, in 10 s.
LevelResult MakeLevel() {
  LevelResult level(1);
  level.level = {100, 100};
  level.window_s = 10;
  for (int i = 0; i < 1000; ++i) {
    Outcome outcome;
    outcome.ended_ns = i < 990 ? kMs : 20 * kMs;
    level.recording.Add(outcome);
  }
  for (int i = 0; i < 10; ++i) {
    Outcome outcome;
    outcome.ending = Outcome::Ending::kFailed;
    outcome.error = absl::ResourceExhaustedError("<full>");
    level.recording.Add(outcome);
  }
  level.recording.completed = 1000;
  level.recording.completed_bytes = 20'000'000'000;
  level.seconds.push_back({.time_s = 1, .rate = 100, .p50_ms = 1, .p99_ms = 1, .max_ms = 20});
  level.seconds.push_back({.time_s = 2, .rate = 90, .p50_ms = 1, .p99_ms = 20, .max_ms = 20});
  return level;
}

LoadResult MakeResult() {
  LoadResult result;
  result.target = "host:1";
  result.scenario.name = "a <mix>";
  result.scenario.requests.push_back({.name = "sum"});
  result.plan.is_open_loop = true;
  result.levels.push_back(MakeLevel());
  return result;
}

std::vector<std::string> Failing(const std::vector<std::string>& texts, const LoadResult& result) {
  std::vector<std::string> failing;
  for (const std::string& text : texts) {
    const absl::StatusOr<Threshold> threshold = ParseThreshold(text);
    EXPECT_TRUE(threshold.ok()) << threshold.status();
    if (!Judge({*threshold}, result).is_passed()) failing.push_back(text);
  }
  return failing;
}

TEST(ThresholdsTest, FailWhereTheFigureIsBeyondTheLimit) {
  EXPECT_THAT(Failing({"p50>5ms", "p99>5ms", "p99.9>5ms", "max>19ms", "mean>1.1ms", "mean>1.3ms",
                       "errors>0.1%", "errors>0.02", "wrong>0", "rate<99", "rate<101",
                       "throughput<1GB/s", "throughput<2100MB/s", "lateness>1us"},
                      MakeResult()),
              ElementsAre("p99.9>5ms", "max>19ms", "mean>1.1ms", "errors>0.1%", "rate<101",
                          "throughput<2100MB/s"));
}

TEST(ThresholdsTest, TimesOfNothingDoNotPass) {
  LoadResult result = MakeResult();
  result.levels.assign(1, LevelResult(1));
  EXPECT_THAT(Failing({"p99>5ms", "errors>1%"}, result), ElementsAre("p99>5ms"));
  result.plan.search.emplace();
  EXPECT_THAT(Failing({"errors>1%"}, result), ElementsAre("errors>1%"));
}

// At its limit a figure keeps to it; beyond, the value is told in the figure's own unit.
TEST(ThresholdsTest, ViolationsSayTheValue) {
  LoadResult result = MakeResult();
  LevelResult& level = result.levels[0];
  level.recording.wrong = 3;
  level.recording.lateness = {};
  level.recording.lateness.Record(2 * kMs);
  EXPECT_EQ(
      Judge({*ParseThreshold("wrong>3"), *ParseThreshold("rate<100"), *ParseThreshold("rate>100"),
             *ParseThreshold("throughput<2GB/s"), *ParseThreshold("max>20ms")},
            result)
          .failures(),
      std::vector<std::string>{"3 wrong answers at 100 calls/s"});
  const auto violation = [&](const char* text) {
    const Verdict verdict = Judge({*ParseThreshold(text)}, result);
    return verdict.thresholds[0].violations.empty() ? "" : verdict.thresholds[0].violations[0];
  };
  EXPECT_EQ(violation("wrong>2"), "wrong>2: 3 at 100 calls/s");
  EXPECT_EQ(violation("rate<101"), "rate<101: 100/s at 100 calls/s");
  EXPECT_EQ(violation("throughput<3GB/s"), "throughput<3GB/s: 2 GB/s at 100 calls/s");
  EXPECT_EQ(violation("errors>0.5%"), "errors>0.5%: 0.99 % at 100 calls/s");
  EXPECT_EQ(violation("max>19ms"), "max>19ms: 20.0 ms at 100 calls/s");
  EXPECT_EQ(violation("lateness>1ms"), "lateness>1ms: 2.00 ms at 100 calls/s");
}

TEST(ThresholdsTest, NonsenseIsRefused) {
  for (const char* const text : {"", "p99", "p98>1ms", "p99>5", "p99>ms", "errors>x", "rate<-1",
                                 "throughput<5", "throughput<5KB/s", ">5ms"}) {
    EXPECT_FALSE(ParseThreshold(text).ok()) << text;
  }
}

// What a limit of each figure means: times in seconds, errors as a fraction, rates of bytes without
// their unit; from the smallest that there is.
TEST(ThresholdsTest, EachFigureHasItsLimit) {
  const struct {
    const char* figure;
    const char* text;
    double limit;
  } limits[] = {{"p50", "1ns", 1e-9},       {"p90", "2us", 2e-6},
                {"p95", "3ms", 3e-3},       {"p99", "4s", 4},
                {"p99.9", "5m", 300},       {"p99.99", "6h", 21600},
                {"mean", "7ms", 7e-3},      {"max", "8ms", 8e-3},
                {"lateness", "9ms", 9e-3},  {"errors", "0", 0},
                {"errors", "0%", 0},        {"errors", "0.5%", 0.005},
                {"errors", "0.5", 0.5},     {"wrong", "0", 0},
                {"wrong", "2", 2},          {"rate", "0", 0},
                {"rate", "0.5", 0.5},       {"rate", "1e6", 1e6},
                {"throughput", "0MB/s", 0}, {"throughput", "0.5MB/s", 5e5},
                {"throughput", "3MB", 3e6}, {"throughput", "2.5GB/s", 2.5e9}};
  for (const auto& [figure, text, limit] : limits) {
    for (const char sign : {'<', '>'}) {
      const std::string whole = std::string(figure) + sign + text;
      const absl::StatusOr<Threshold> threshold = ParseThreshold(whole);
      ASSERT_TRUE(threshold.ok()) << threshold.status();
      EXPECT_EQ(threshold->text, whole);
      EXPECT_EQ(threshold->figure, figure);
      EXPECT_EQ(threshold->fails_above, sign == '>');
      EXPECT_DOUBLE_EQ(threshold->limit, limit) << whole;
    }
  }
}

// Where the time goes by the report, of one answer, by times in nanoseconds.
std::vector<std::string> PartsOfTime(const std::array<int, kStageCount>& stages_ns, int call_ns) {
  LoadResult result = MakeResult();
  result.levels.assign(1, LevelResult(1));
  Outcome outcome;
  outcome.sent_ns = 1000;
  outcome.ended_ns = 1000 + call_ns;
  client::ExecutionStatistics& execution = outcome.answer.execution;
  execution.queue_time = absl::Nanoseconds(stages_ns[0]);
  execution.stage_in_time = absl::Nanoseconds(stages_ns[1]);
  execution.kernel_time = absl::Nanoseconds(stages_ns[2]);
  execution.stage_out_time = absl::Nanoseconds(stages_ns[3]);
  execution.total_time = absl::Nanoseconds(stages_ns[4]);
  result.levels[0].recording.Add(outcome);
  return TitlesIn(SectionOf(ToHtml(result), "Where the time goes"));
}

TEST(ReportTest, PartsOfTheTimeAddUpToThatOfTheCall) {
  EXPECT_THAT(
      PartsOfTime({1, 2, 3, 4, 50}, 90),
      ElementsAre("queue: 1.00 ns", "stage in: 2.00 ns", "kernel: 3.00 ns", "stage out: 4.00 ns",
                  "rest of the server: 40.0 ns", "network and client: 40.0 ns"));
  // What takes no time is left out.
  EXPECT_THAT(PartsOfTime({0, 0, 3, 0, 3}, 4),
              ElementsAre("kernel: 3.00 ns", "network and client: 1.00 ns"));
  // A server that tells no total, or one less than its stages.
  EXPECT_THAT(PartsOfTime({0, 0, 3, 4, 0}, 17),
              ElementsAre("kernel: 3.00 ns", "stage out: 4.00 ns", "network and client: 10.0 ns"));
  EXPECT_THAT(PartsOfTime({5, 0, 0, 0, 6}, 6),
              ElementsAre("queue: 5.00 ns", "rest of the server: 1.00 ns"));
  EXPECT_THAT(PartsOfTime({0, 0, 0, 0, 0}, 0), ElementsAre());
}

TEST(ReportTest, JsonHasTheFigures) {
  const nlohmann::json report = nlohmann::json::parse(ToJson(MakeResult()));
  const nlohmann::json& level = report["levels"][0];
  EXPECT_EQ(level["rate"], 100);
  EXPECT_EQ(level["bytes_per_second"], 2e9);
  EXPECT_EQ(level["calls"]["answered"], 1000);
  EXPECT_NEAR(level["latency_us"]["p50"], 1000, 8);
  EXPECT_NEAR(level["latency_us"]["p99.9"], 20000, 160);
  EXPECT_EQ(level["errors"]["RESOURCE_EXHAUSTED"]["count"], 10);
  EXPECT_EQ(level["stages_us"]["server_total"]["count"], 1000);
  EXPECT_EQ(level["seconds"].size(), 2u);
  EXPECT_EQ(level["latency_buckets_us"].size(), 2u);
}

void AddOutcomes(int count, Outcome::Ending ending, LevelResult& level) {
  Outcome outcome;
  outcome.ending = ending;
  outcome.ended_ns = kMs;
  if (ending == Outcome::Ending::kFailed) outcome.error = absl::UnavailableError("gone");
  for (int i = 0; i < count; ++i) level.recording.Add(outcome);
}

// Each ending has a count of its own, so that none can stand for another.
LoadResult MakeResultOfAllEndings() {
  LoadResult result = MakeResult();
  LevelResult level(1);
  level.level = {100, 100};
  level.window_s = 10;
  AddOutcomes(1001, Outcome::Ending::kAnswered, level);
  AddOutcomes(202, Outcome::Ending::kFailed, level);
  AddOutcomes(33, Outcome::Ending::kCancelled, level);
  AddOutcomes(404, Outcome::Ending::kUnanswered, level);
  level.recording.unsent = 505;
  level.recording.verified = 606;
  level.recording.wrong = 7;
  level.recording.first_difference = "sum is wrong";
  level.recording.completed = 808;
  level.recording.completed_bytes = 909'000'000;
  level.generator = {
      .processors = 1.5, .busiest_thread = 0.25, .thread_count = 3, .held_back_count = 111};
  result.levels.assign(1, level);
  return result;
}

TEST(ReportTest, EveryEndingHasItsCountInEveryReport) {
  const LoadResult result = MakeResultOfAllEndings();
  const nlohmann::json level = nlohmann::json::parse(ToJson(result))["levels"][0];
  EXPECT_EQ(level["calls"]["answered"], 1001);
  EXPECT_EQ(level["calls"]["failed"], 202);
  EXPECT_EQ(level["calls"]["cancelled"], 33);
  EXPECT_EQ(level["calls"]["unanswered"], 404);
  EXPECT_EQ(level["calls"]["unsent"], 505);
  EXPECT_EQ(level["calls"]["verified"], 606);
  EXPECT_EQ(level["calls"]["wrong"], 7);
  EXPECT_EQ(level["calls"]["first_difference"], "sum is wrong");
  // Calls that were never sent are errors; those that were cancelled on purpose are not.
  EXPECT_DOUBLE_EQ(level["calls"]["error_fraction"].get<double>(), 1111.0 / 2112.0);
  EXPECT_EQ(level["rate"], 80.8);
  EXPECT_EQ(level["bytes_per_second"], 90'900'000);
  EXPECT_EQ(level["latency_us"]["count"], 1001);
  EXPECT_EQ(level["lateness_us"]["count"], 1640);
  EXPECT_EQ(level["errors"].size(), 1u);
  EXPECT_EQ(level["errors"]["UNAVAILABLE"]["count"], 202);
  EXPECT_EQ(level["errors"]["UNAVAILABLE"]["first_message"], "gone");
  EXPECT_EQ(level["kinds"][0]["answered"], 1001);
  EXPECT_EQ(level["kinds"][0]["failed"], 202);
  EXPECT_EQ(level["kinds"][0]["wrong"], 0);
  EXPECT_EQ(level["generator"]["processors"], 1.5);
  EXPECT_EQ(level["generator"]["busiest_thread"], 0.25);
  EXPECT_EQ(level["generator"]["thread_count"], 3);
  EXPECT_EQ(level["generator"]["held_back_count"], 111);

  std::ostringstream out;
  PrintReport(result, {}, out);
  for (const char* const part :
       {"80.8/s", "90.9 MB/s", "1,001 answered in 10 s", "202 failed", "404 unanswered",
        "505 never sent", "33 cancelled on purpose", "606 verified", "7 wrong answers",
        "505 calls were due and never sent", "111 calls waited"}) {
    EXPECT_THAT(out.str(), HasSubstr(part));
  }
  EXPECT_THAT(ToHtml(result),
              HasSubstr("<tr><td>100 calls/s</td><td>1,001</td><td>202</td><td>404</td><td>505</td>"
                        "<td>33</td><td>606</td><td>7</td></tr>"));
  EXPECT_THAT(Failing({"errors>52%", "errors>53%"}, result),
              ElementsAre("errors>52%", "errors>53%"));  // Wrong answers fail any run.
}

TEST(ReportTest, MergedRecordingsAddUpByEnding) {
  const Recording one = MakeResultOfAllEndings().levels[0].recording;
  Recording both = one;
  both.Merge(one);
  EXPECT_EQ(both.answered, 2002u);
  EXPECT_EQ(both.failed, 404u);
  EXPECT_EQ(both.cancelled, 66u);
  EXPECT_EQ(both.unanswered, 808u);
  EXPECT_EQ(both.unsent, 1010u);
  EXPECT_EQ(both.verified, 1212u);
  EXPECT_EQ(both.wrong, 14u);
  EXPECT_EQ(both.completed, 1616u);
  EXPECT_EQ(both.completed_bytes, 1'818'000'000u);
  EXPECT_EQ(both.call_count(), 3280u);
  EXPECT_EQ(both.errors.at(absl::StatusCode::kUnavailable).count, 404u);
  EXPECT_EQ(both.kinds[0].answered, 2002u);
  EXPECT_EQ(both.kinds[0].failed, 404u);
  EXPECT_EQ(both.kinds[0].latency.count(), 2002u);
}

// Whichever recording comes first has the first message and the first difference.
TEST(ReportTest, MergedRecordingsKeepWhatCameFirst) {
  const auto record = [](const std::string& word) {
    Recording recording(1);
    for (int i = 0; i < 2; ++i) {
      Outcome failed;
      failed.ending = Outcome::Ending::kFailed;
      failed.error = absl::UnavailableError(i == 0 ? word : "later");
      recording.Add(failed);
      Outcome wrong;
      wrong.answer.is_verified = true;
      wrong.answer.difference = i == 0 ? word : "later";
      recording.Add(wrong);
    }
    EXPECT_EQ(recording.wrong, 2u);
    EXPECT_EQ(recording.verified, 2u);
    EXPECT_EQ(recording.kinds[0].wrong, 2u);
    return recording;
  };
  Recording both(1);
  for (const char* const word : {"one", "two"}) both.Merge(record(word));
  EXPECT_EQ(both.first_difference, "one");
  EXPECT_EQ(both.errors.at(absl::StatusCode::kUnavailable).first_message, "one");
  EXPECT_EQ(both.errors.at(absl::StatusCode::kUnavailable).count, 4u);
  EXPECT_EQ(both.kinds[0].wrong, 4u);
}

TEST(ReportTest, TheVerdictIsInEveryReport) {
  LoadResult result = MakeResult();
  const std::vector<Threshold> thresholds = {*ParseThreshold("p99>5ms"),
                                             *ParseThreshold("p99.9>5ms")};
  result.verdict = Judge(thresholds, result);
  const nlohmann::json verdict = nlohmann::json::parse(ToJson(result))["verdict"];
  EXPECT_EQ(verdict["is_passed"], false);
  EXPECT_EQ(verdict["thresholds"].size(), 2u);
  EXPECT_EQ(verdict["thresholds"][0]["text"], "p99>5ms");
  EXPECT_EQ(verdict["thresholds"][0]["is_kept"], true);
  EXPECT_EQ(verdict["thresholds"][1]["is_kept"], false);
  EXPECT_EQ(verdict["failures"].size(), 1u);
  EXPECT_THAT(verdict["failures"][0].get<std::string>(), HasSubstr("p99.9>5ms: "));
  EXPECT_THAT(ToHtml(result), HasSubstr("Failed: p99.9&gt;5ms: "));
  EXPECT_THAT(ToHtml(result), HasSubstr("Kept: not p99&gt;5ms"));

  result.verdict = Judge({thresholds[0]}, result);
  EXPECT_EQ(nlohmann::json::parse(ToJson(result))["verdict"]["is_passed"], true);
  EXPECT_THAT(ToHtml(result), Not(HasSubstr("Failed")));

  result.levels[0].end_reason = EndReason::kSilent;
  result.levels[0].recording.wrong = 3;
  result.verdict = Judge({}, result);
  EXPECT_THAT(result.verdict.failures(), ElementsAre("3 wrong answers at 100 calls/s",
                                                     "the server fell silent at 100 calls/s"));
}

TEST(ReportTest, OptionsNotesAndSurenessAreInEveryReport) {
  LoadResult result = MakeResult();
  result.options = {{"server", "host:1"}, {"fail-if", "p99>5ms, errors>1%"}, {"rate", "100"}};
  result.notes = {"requests[0]: 8 arrays take 120 MiB"};
  result.plan.search.emplace();
  result.found_level = 0;
  result.found_rate = FoundRate{.rate = 100,
                                .runs = {2, 1},
                                .next_rate = 104,
                                .next_runs = {0, 2},
                                .doubtful = std::pair(95.0, 100.0)};
  const nlohmann::json report = nlohmann::json::parse(ToJson(result));
  EXPECT_EQ(report["options"]["fail-if"], "p99>5ms, errors>1%");
  EXPECT_EQ(report["options"]["rate"], "100");
  EXPECT_EQ(report["notes"][0], result.notes[0]);
  EXPECT_EQ(report["found_rate"]["kept"], 2);
  EXPECT_EQ(report["found_rate"]["broken"], 1);
  EXPECT_EQ(report["found_rate"]["next_kept"], 0);
  EXPECT_EQ(report["found_rate"]["next_broken"], 2);
  EXPECT_EQ(report["found_rate"]["is_sure"], false);
  EXPECT_EQ(report["found_rate"]["doubtful"][0], 95);
  const std::string page = ToHtml(result);
  EXPECT_THAT(page, HasSubstr("<td>fail-if</td><td>p99&gt;5ms, errors&gt;1%</td>"));
  EXPECT_THAT(page, HasSubstr("8 arrays take 120 MiB"));
  EXPECT_THAT(page, HasSubstr("2 of 3 runs; 104/s in 0 of 2 runs; not sure: 95/s broke it"));
  std::ostringstream out;
  PrintReport(result, {}, out);
  EXPECT_THAT(out.str(), HasSubstr("2 of 3 runs"));
  EXPECT_THAT(out.str(), HasSubstr("120 MiB"));
}

TEST(ReportTest, JsonSaysWhatRanWhenAndHowItEnded) {
  LoadResult result = MakeResult();
  result.settings = {{"rate", "100"}, {"seed", "5"}};
  result.start_time = absl::FromUnixSeconds(1'764'000'000);
  nlohmann::json report = nlohmann::json::parse(ToJson(result));
  EXPECT_EQ(report["scenario"], "a <mix>");
  EXPECT_EQ(report["start_time"], "2025-11-24T16:00:00+00:00");
  EXPECT_EQ(report["settings"], nlohmann::json({{"rate", "100"}, {"seed", "5"}}));
  EXPECT_FALSE(report.contains("found_level"));
  EXPECT_FALSE(report.contains("found_rate"));
  result.found_level = 0;
  EXPECT_EQ(nlohmann::json::parse(ToJson(result))["found_level"], 0);
  const std::pair<EndReason, const char*> reasons[] = {{EndReason::kDone, "done"},
                                                       {EndReason::kStable, "stable"},
                                                       {EndReason::kInterrupted, "interrupted"},
                                                       {EndReason::kSilent, "silent"}};
  for (const auto& [reason, name] : reasons) {
    result.levels[0].end_reason = reason;
    EXPECT_EQ(nlohmann::json::parse(ToJson(result))["levels"][0]["end_reason"], name);
    std::ostringstream out;
    PrintReport(result, {}, out);
    const std::string heading = reason == EndReason::kDone
                                    ? "\n100 calls/s\n"
                                    : absl::StrCat("\n100 calls/s (", name, ")\n");
    EXPECT_THAT(out.str(), HasSubstr(heading));
  }
}

TEST(ReportTest, ARunWithoutANameIsCalledByWhatItAsksFor) {
  LoadResult result = MakeResult();
  EXPECT_THAT(ToHtml(result), HasSubstr("<title>gridfold load: a &lt;mix&gt;</title>"));
  result.scenario.name = "";
  EXPECT_THAT(ToHtml(result), HasSubstr("<title>gridfold load: reduce float32 inline</title>"));
  EXPECT_THAT(ToHtml(result), HasSubstr("<h1>reduce float32 inline</h1>"));
  EXPECT_EQ(nlohmann::json::parse(ToJson(result))["title"], "reduce float32 inline");
  result.scenario.requests.resize(3);
  EXPECT_EQ(result.title(), "reduce float32 inline and 2 more");
}

TEST(ReportTest, HtmlIsOnePageAndEscapesWhatItShows) {
  const std::string page = ToHtml(MakeResult());
  EXPECT_THAT(page, HasSubstr("a &lt;mix&gt;"));
  EXPECT_THAT(page, HasSubstr("&lt;full&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<full>")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
}

TEST(ReportTest, ReportsOfARunWithoutAnyAnswer) {
  LoadResult result = MakeResult();
  result.levels.assign(1, LevelResult(1));
  EXPECT_THAT(ToHtml(result), Not(HasSubstr("nan")));
  EXPECT_TRUE(nlohmann::json::accept(ToJson(result)));
  std::ostringstream out;
  PrintReport(result, {}, out);
  EXPECT_THAT(out.str(), HasSubstr("0 answered"));
}

TEST(ReportTest, TextAndLiveViewNameWhatMatters) {
  const LoadResult result = MakeResult();
  std::ostringstream out;
  PrintReport(result, {}, out);
  EXPECT_THAT(out.str(), HasSubstr("from the intended time"));
  EXPECT_THAT(out.str(), HasSubstr("RESOURCE_EXHAUSTED"));
  const std::vector<std::string> lines = LiveLines(result, result.levels[0], {});
  EXPECT_THAT(lines[1], HasSubstr("2 s of 10 s"));
  EXPECT_THAT(lines[2], HasSubstr("90"));
  EXPECT_THAT(lines[4], HasSubstr("10 errors"));
  EXPECT_THAT(LiveLines(result, LevelResult(1), {})[1], HasSubstr("warming up"));
}

TEST(CompareTest, PutsTheRelativeChangeBesideBoth) {
  const LoadResult before = MakeResult();
  LoadResult after = MakeResult();
  after.levels[0].recording.completed = 1250;
  std::ostringstream out;
  ASSERT_TRUE(CompareReports(ToJson(before), ToJson(after), {}, out).ok());
  EXPECT_THAT(out.str(), HasSubstr("+25.0 %"));
  for (const std::string& wrong :
       {std::string(), std::string("{}"), std::string("{\"levels\": 1}"),
        std::string("{\"levels\": []}"), std::string("{\"levels\": [1]}")}) {
    EXPECT_FALSE(CompareReports(ToJson(before), wrong, {}, out).ok()) << wrong;
  }
}

// What did not change is said to be equal; there is no percentage of nothing.
TEST(CompareTest, ChangesOfNothingAreNoPercentages) {
  LoadResult before = MakeResult();
  before.levels[0].recording.completed_bytes = 0;
  std::ostringstream out;
  ASSERT_TRUE(CompareReports(ToJson(before), ToJson(MakeResult()), {}, out).ok());
  EXPECT_THAT(out.str(), testing::ContainsRegex("answered +100/s +100/s +=\n"));
  EXPECT_THAT(out.str(), testing::ContainsRegex("throughput +0 B/s +2 GB/s *\n"));
}

}  // namespace
}  // namespace gridfold::load
