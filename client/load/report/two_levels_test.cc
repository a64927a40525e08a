// Reports of a run in which no figure equals another: two levels, two kinds of requests, and a
// different number of calls behind every label.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/load/report/compare.h"
#include "client/load/report/html_report.h"
#include "client/load/report/html_test_util.h"
#include "client/load/report/json_report.h"
#include "client/load/report/live_view.h"
#include "client/load/report/text_report.h"
#include "nlohmann/json.hpp"

namespace gridfold::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kUs = 1000;

// Each call's times are its number of microseconds, times a prime of the figure.
void AddAnswers(size_t kind, int first, int last, Recording& recording) {
  for (int i = first; i <= last; ++i) {
    Outcome outcome;
    outcome.kind_index = kind;
    outcome.intended_ns = 1000 * kUs;
    outcome.sent_ns = (1000 + 3 * i) * kUs;
    outcome.ended_ns = (1000 + 100 * i) * kUs;
    client::ExecutionStatistics& execution = outcome.answer.execution;
    execution.queue_time = absl::Microseconds(5 * i);
    execution.stage_in_time = absl::Microseconds(7 * i);
    execution.kernel_time = absl::Microseconds(11 * i);
    execution.stage_out_time = absl::Microseconds(13 * i);
    execution.total_time = absl::Microseconds(60 * i);
    recording.Add(outcome);
  }
}

void AddErrors(size_t kind, int count, const absl::Status& error, Recording& recording) {
  Outcome outcome;
  outcome.ending = Outcome::Ending::kFailed;
  outcome.kind_index = kind;
  outcome.error = error;
  for (int i = 0; i < count; ++i) recording.Add(outcome);
}

LevelResult FirstLevel() {
  LevelResult level(2);
  level.level = {100, 200};
  level.window_s = 2;
  AddAnswers(0, 1, 10, level.recording);
  AddAnswers(1, 11, 13, level.recording);
  AddErrors(0, 4, absl::UnavailableError("gone"), level.recording);
  AddErrors(1, 2, absl::InternalError("broken"), level.recording);
  level.recording.completed = 12;
  level.recording.completed_bytes = 3'000'000;
  level.seconds = {{.time_s = 1,
                    .level = 150,
                    .rate = 7,
                    .bytes_per_second = 8e6,
                    .p50_ms = 0.9,
                    .p99_ms = 1.1,
                    .max_ms = 1.2,
                    .errors = 5,
                    .in_flight = 6},
                   {.time_s = 2,
                    .level = 200,
                    .rate = 3.5,
                    .bytes_per_second = 4e6,
                    .p50_ms = 0.25,
                    .p99_ms = 0.5,
                    .max_ms = 0.75,
                    .errors = 1,
                    .in_flight = 2}};
  return level;
}

LevelResult SecondLevel() {
  LevelResult level(2);
  level.level = {300, 300};
  level.window_s = 4;
  AddAnswers(1, 20, 20, level.recording);
  level.recording.kinds[1].wrong = 1;
  level.recording.unsent = 9;
  level.recording.completed = 40;
  level.recording.completed_bytes = 80'000;
  level.end_reason = EndReason::kStable;
  level.seconds = {{.time_s = 1.5, .level = 300, .rate = 14, .max_ms = 2, .in_flight = 1}};
  return level;
}

LoadResult TwoLevels() {
  LoadResult result;
  result.target = "host:1";
  result.server.version = "1.2.3";
  result.server.engine = "cuda";
  result.server.devices.resize(2);
  result.server.devices[0].name = "one";
  result.server.devices[1].name = "two";
  result.scenario.name = "mix";
  result.scenario.requests = {{.name = "sums"},
                              {.name = "scans",
                               .weight = 3,
                               .operation = OperationKind::kScan,
                               .element_type = client::ElementType::kInt16,
                               .transport = ArrayTransport::kResident}};
  result.plan.is_open_loop = true;
  result.plan.levels = {{100, 200}, {300, 300}};
  result.levels = {FirstLevel(), SecondLevel()};
  return result;
}

std::string TextOf(const LoadResult& result) {
  std::ostringstream out;
  PrintReport(result, {}, out);
  return out.str();
}

TEST(TwoLevelsTest, Text) {
  EXPECT_EQ("\n" + TextOf(TwoLevels()), R"(
mix on host:1: gridfold 1.2.3, cuda, one, two

level               answered  throughput      p50      p99  errors
100 to 200 calls/s       6/s    1.5 MB/s   698 µs  1.30 ms  31.6 %
300 calls/s             10/s     20 kB/s  2.00 ms  2.00 ms    90 %

100 to 200 calls/s
6/s · 1.5 MB/s · 13 answered in 2 s · 6 failed · 0 verified

                            p50      p90      p95      p99    p99.9   p99.99      max     mean
from the intended time   698 µs  1.20 ms  1.30 ms  1.30 ms  1.30 ms  1.30 ms  1.30 ms   700 µs
from the actual time     678 µs  1.17 ms  1.26 ms  1.26 ms  1.26 ms  1.26 ms  1.26 ms   679 µs
sent late by            12.0 µs  36.0 µs  39.0 µs  39.0 µs  39.0 µs  39.0 µs  39.0 µs  14.4 µs
queue                   34.9 µs  60.0 µs  65.0 µs  65.0 µs  65.0 µs  65.0 µs  65.0 µs  35.0 µs
stage in                49.0 µs  84.2 µs  91.0 µs  91.0 µs  91.0 µs  91.0 µs  91.0 µs  49.0 µs
kernel                  77.1 µs   132 µs   143 µs   143 µs   143 µs   143 µs   143 µs  77.0 µs
stage out               90.9 µs   156 µs   169 µs   169 µs   169 µs   169 µs   169 µs  91.0 µs
server total             421 µs   719 µs   780 µs   780 µs   780 µs   780 µs   780 µs   420 µs

       answered  failed  wrong      p50      p99
sums         10       4      0   501 µs  1.00 ms
scans         3       2      0  1.20 ms  1.30 ms

INTERNAL     2  broken
UNAVAILABLE  4  gone

300 calls/s (stable)
10/s · 20 kB/s · 1 answered in 4 s · 9 never sent · 0 verified

                            p50      p90      p95      p99    p99.9   p99.99      max     mean
from the intended time  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms
from the actual time    1.94 ms  1.94 ms  1.94 ms  1.94 ms  1.94 ms  1.94 ms  1.94 ms  1.94 ms
sent late by            60.0 µs  60.0 µs  60.0 µs  60.0 µs  60.0 µs  60.0 µs  60.0 µs  60.0 µs
queue                    100 µs   100 µs   100 µs   100 µs   100 µs   100 µs   100 µs   100 µs
stage in                 140 µs   140 µs   140 µs   140 µs   140 µs   140 µs   140 µs   140 µs
kernel                   220 µs   220 µs   220 µs   220 µs   220 µs   220 µs   220 µs   220 µs
stage out                260 µs   260 µs   260 µs   260 µs   260 µs   260 µs   260 µs   260 µs
server total            1.20 ms  1.20 ms  1.20 ms  1.20 ms  1.20 ms  1.20 ms  1.20 ms  1.20 ms

       answered  failed  wrong      p50      p99
sums          0       0      0  0.00 ns  0.00 ns
scans         1       0      1  2.00 ms  2.00 ms
warning: 9 calls were due and never sent: they count as errors, and the longest latencies are missing
)");
}

TEST(TwoLevelsTest, Csv) {
  EXPECT_EQ(ToCsv(TwoLevels()),
            "level_number,time_s,level,rate,bytes_per_second,p50_us,p99_us,max_us,errors,"
            "in_flight\n"
            "0,1,150,7,8e+06,900,1100,1200,5,6\n"
            "0,2,200,3.5,4e+06,250,500,750,1,2\n"
            "1,1.5,300,14,0,0,0,2000,0,1\n");
}

TEST(TwoLevelsTest, Json) {
  const nlohmann::json report = nlohmann::json::parse(ToJson(TwoLevels()));
  EXPECT_EQ(report["server"], nlohmann::json({{"target", "host:1"},
                                              {"version", "1.2.3"},
                                              {"engine", "cuda"},
                                              {"devices", {"one", "two"}}}));
  EXPECT_EQ(report["is_open_loop"], true);
  const nlohmann::json& level = report["levels"][0];
  EXPECT_EQ(level["level"], nlohmann::json({100, 200}));
  EXPECT_EQ(level["window_s"], 2);
  EXPECT_EQ(level["end_reason"], "done");
  EXPECT_EQ(report["levels"][1]["end_reason"], "stable");
  // Of calls 1 to 13; the mean is exact, and so are the ends.
  const auto expect_times = [&](const char* name, double us, int count) {
    const nlohmann::json& times = level.at(nlohmann::json::json_pointer(name));
    EXPECT_EQ(times["count"], count) << name;
    EXPECT_DOUBLE_EQ(times["max"].get<double>(), 13 * us) << name;
    if (count == 13) {
      EXPECT_DOUBLE_EQ(times["min"].get<double>(), us) << name;
      EXPECT_DOUBLE_EQ(times["mean"].get<double>(), 7 * us) << name;
      EXPECT_NEAR(times["p50"].get<double>(), 7 * us, 0.08 * us) << name;
      EXPECT_NEAR(times["p90"].get<double>(), 12 * us, 0.12 * us) << name;
    }
  };
  expect_times("/latency_us", 100, 13);
  expect_times("/latency_from_send_us", 97, 13);
  expect_times("/lateness_us", 3, 19);
  expect_times("/stages_us/queue", 5, 13);
  expect_times("/stages_us/stage_in", 7, 13);
  expect_times("/stages_us/kernel", 11, 13);
  expect_times("/stages_us/stage_out", 13, 13);
  expect_times("/stages_us/server_total", 60, 13);
  EXPECT_EQ(level["kinds"][0]["name"], "sums");
  EXPECT_EQ(level["kinds"][0]["answered"], 10);
  EXPECT_EQ(level["kinds"][0]["failed"], 4);
  EXPECT_EQ(level["kinds"][0]["latency_us"]["max"], 1000);
  EXPECT_EQ(level["kinds"][1]["answered"], 3);
  EXPECT_EQ(level["kinds"][1]["failed"], 2);
  EXPECT_EQ(level["kinds"][1]["latency_us"]["max"], 1300);
  EXPECT_EQ(report["levels"][1]["kinds"][1]["wrong"], 1);
  const nlohmann::json second = {
      {"time_s", 1},    {"level", 150},   {"rate", 7},   {"bytes_per_second", 8e6}, {"p50_us", 900},
      {"p99_us", 1100}, {"max_us", 1200}, {"errors", 5}, {"in_flight", 6}};
  EXPECT_EQ(level["seconds"][0], second);
  const nlohmann::json& bucket = level["latency_buckets_us"][0];
  EXPECT_LE(bucket[0], 100);
  EXPECT_GT(bucket[1], 100);
  EXPECT_EQ(bucket[2], 1);
}

TEST(TwoLevelsTest, Html) {
  const std::string page = ToHtml(TwoLevels());
  for (const char* const part : {
           "host:1 · gridfold 1.2.3 · cuda · one · two",
           "<div><b>10/s</b>answered at the last level</div>",
           "<div><b>20 kB/s</b>throughput</div>",
           "<tr><td>100 to 200 calls/s</td><td>6/s</td><td>1.5 MB/s</td>",
           "<td>31.6 %</td><td>done</td></tr>",
           "<td>90 %</td><td>stable</td></tr>",
           "<tr><td>100 to 200 calls/s</td><td>13</td><td>6</td><td>0</td><td>0</td><td>0</td>",
           "<tr><td>300 calls/s</td><td>1</td><td>0</td><td>0</td><td>9</td><td>0</td>",
           "<tr><td>UNAVAILABLE</td><td>4</td><td>gone</td></tr>",
           "<tr><td>INTERNAL</td><td>2</td><td>broken</td></tr>",
           "<td>sums</td><td>reduce</td><td>float32</td><td>inline</td><td>1</td><td>10</td>"
           "<td>4</td><td>0</td>",
           "<td>scans</td><td>scan</td><td>int16</td><td>resident</td><td>3</td><td>4</td>"
           "<td>2</td><td>1</td>",
       }) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(TwoLevelsTest, LatenciesHaveLogarithmicAxes) {
  const std::string page = ToHtml(TwoLevels());
  for (const char* const heading :
       {"Latency by percentile", "Distribution of latency", "Latency over time"}) {
    // A linear axis would have ticks at multiples of 500 µs.
    EXPECT_THAT(SectionOf(page, heading), HasSubstr(">200 µs<")) << heading;
    EXPECT_THAT(SectionOf(page, heading), HasSubstr(">latency<")) << heading;
  }
}

// The seconds of each level follow on those of the levels before it.
TEST(TwoLevelsTest, ChartsOverTimeHaveAPointForEachSecond) {
  const std::string page = ToHtml(TwoLevels());
  const auto titles = [&](const char* heading) { return TitlesIn(SectionOf(page, heading)); };
  EXPECT_THAT(titles("Rate over time"),
              ElementsAre("1: 7", "2: 3", "3.5: 14", "1: 150", "2: 200", "3.5: 300"));
  EXPECT_THAT(titles("Bytes over time"), ElementsAre("1: 8 MB/s", "2: 4 MB/s", "3.5: 0 B/s"));
  EXPECT_THAT(titles("Latency over time"),
              ElementsAre("1: 900 µs", "2: 250 µs", "3.5: 0.00 ns", "1: 1.10 ms", "2: 500 µs",
                          "3.5: 0.00 ns", "1: 1.20 ms", "2: 750 µs", "3.5: 2.00 ms"));
  LoadResult closed = TwoLevels();
  closed.plan.is_open_loop = false;
  EXPECT_THAT(TitlesIn(SectionOf(ToHtml(closed), "Rate over time")),
              ElementsAre("1: 7", "2: 3", "3.5: 14"));
  // Where no call has ended there is no latency.
  closed.levels[0].seconds[0].max_ms = 0;
  EXPECT_THAT(TitlesIn(SectionOf(ToHtml(closed), "Latency over time")),
              ElementsAre("2: 250 µs", "3.5: 0.00 ns", "2: 500 µs", "3.5: 0.00 ns", "2: 750 µs",
                          "3.5: 2.00 ms"));
}

TEST(TwoLevelsTest, LiveView) {
  LoadResult so_far = TwoLevels();
  so_far.levels.pop_back();
  std::string all;
  for (const std::string& line : LiveLines(so_far, FirstLevel(), {})) all += line + "\n";
  EXPECT_EQ("\n" + all, R"(
mix · host:1 · level 2 · 100 to 200 calls/s
[██████                        ] 2 s of 10 s
3.5/s · 4 MB/s · 2 under way
p50 250 µs · p99 500 µs · max 750 µs
6 errors · 0 wrong of 0 verified
calls/s █▅
)");
  so_far.plan.call_count = 1234;
  EXPECT_THAT(LiveLines(so_far, FirstLevel(), {})[1], HasSubstr("19 of 1,234 calls"));

  // Lines are put over those before them, and taken away at the end.
  std::string written;
  {
    LiveView view({}, [&](const std::string& text) { written += text; });
    view.Update(so_far, LevelResult(2));
    EXPECT_EQ(written.find('\x1b'), std::string::npos);
    view.Update(so_far, FirstLevel());
    EXPECT_THAT(written, HasSubstr("\x1b[2A\r\x1b[J"));
  }
  EXPECT_TRUE(written.ends_with("\x1b[6A\r\x1b[J"));
}

// A level has a number where there are several, or will be.
TEST(TwoLevelsTest, LiveViewNumbersLevels) {
  const auto first_line = [](size_t level_count, bool is_search) {
    LoadResult so_far = TwoLevels();
    so_far.levels.clear();
    so_far.plan.levels.assign(level_count, {100, 200});
    if (is_search) so_far.plan.search.emplace();
    return LiveLines(so_far, FirstLevel(), {})[0];
  };
  EXPECT_EQ(first_line(1, false), "mix · host:1 · 100 to 200 calls/s");
  EXPECT_EQ(first_line(2, false), "mix · host:1 · level 1 · 100 to 200 calls/s");
  EXPECT_EQ(first_line(1, true), "mix · host:1 · level 1 · 100 to 200 calls/s");
  EXPECT_EQ(first_line(2, true), "mix · host:1 · level 1 · 100 to 200 calls/s");
}

// The last seconds that there is room for, by the largest rate of these.
TEST(TwoLevelsTest, LiveViewDrawsTheRatesOfTheLastSeconds) {
  const auto drawn = [](const std::vector<double>& rates, bool unicode) {
    LevelResult level(2);
    for (const double rate : rates) level.seconds.push_back({.rate = rate});
    const client::TextStyle style = {.width = 30, .unicode = unicode, .colour = false};
    return LiveLines(TwoLevels(), level, style).back();
  };
  EXPECT_EQ(drawn({0, 1, 2, 3, 4, 5, 6, 7}, true), "calls/s ▁▂▃▄▅▆▇█");
  EXPECT_EQ(drawn({0, 1, 2, 3, 4, 5, 6, 7}, false), "calls/s _.,-=+*#");
  EXPECT_EQ(drawn({0, 0}, false), "calls/s __");
  EXPECT_EQ(drawn({7, 7, 7, 7, 7, 7, 7, 7, 7, 0}, false), "calls/s #########_");
  EXPECT_EQ(drawn({100, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0}, false), "calls/s #########_");
}

TEST(TwoLevelsTest, LiveViewsBarIsFullAtTheEndOfTheTime) {
  const auto progress = [](double time_s) {
    LoadResult so_far = TwoLevels();
    so_far.plan.duration = absl::Seconds(10);
    LevelResult level(2);
    level.seconds.push_back({.time_s = time_s});
    const client::TextStyle style = {.width = 80, .unicode = false, .colour = false};
    return LiveLines(so_far, level, style)[1];
  };
  EXPECT_EQ(progress(0), "[                              ] 0 s of 10 s");
  EXPECT_EQ(progress(5), "[###############               ] 5 s of 10 s");
  EXPECT_EQ(progress(10), "[##############################] 10 s of 10 s");
  EXPECT_EQ(progress(11), "[##############################] 11 s of 10 s");
}

// Errors and wrong answers are shown as what they are, each by itself.
TEST(TwoLevelsTest, LiveViewMarksErrors) {
  const auto line = [](uint64_t failed, uint64_t wrong) {
    LevelResult level(2);
    level.seconds.push_back({.rate = 1});
    level.recording.failed = failed;
    level.recording.wrong = wrong;
    const client::TextStyle style = {.width = 80, .unicode = false, .colour = true};
    return LiveLines(TwoLevels(), level, style)[4];
  };
  EXPECT_EQ(line(0, 0).find('\x1b'), std::string::npos);
  EXPECT_EQ(line(1, 0).find('\x1b'), 0u);
  EXPECT_EQ(line(0, 1).find('\x1b'), 0u);
}

// What a search found, in the text and on the page, and what it says where it found nothing.
TEST(TwoLevelsTest, SearchesTellTheirRate) {
  LoadResult result = TwoLevels();
  result.plan.search.emplace();
  EXPECT_THAT(TextOf(result), HasSubstr("\nno rate kept to the objective\n"));
  EXPECT_THAT(ToHtml(result), HasSubstr("<div><b>none</b>highest rate within the objective</div>"));
  result.found_level = 0;
  EXPECT_THAT(TextOf(result), HasSubstr("\nhighest rate within the objective: 6/s\n"));
  EXPECT_THAT(ToHtml(result), HasSubstr("<div><b>6/s</b>highest rate within the objective</div>"));
}

TEST(TwoLevelsTest, Comparison) {
  LoadResult other = TwoLevels();
  other.levels = {SecondLevel(), FirstLevel()};
  std::ostringstream out;
  ASSERT_TRUE(CompareReports(ToJson(TwoLevels()), ToJson(other), {}, out).ok());
  EXPECT_EQ("\n" + out.str(), R"(
100 to 200 calls/s and 300 calls/s
                       first   second    change
answered                 6/s     10/s   +66.7 %
throughput          1.5 MB/s  20 kB/s   -98.7 %
mean                  700 µs  2.00 ms  +185.7 %
p50                   698 µs  2.00 ms  +186.4 %
p90                  1.20 ms  2.00 ms   +66.6 %
p99                  1.30 ms  2.00 ms   +53.8 %
p99.9                1.30 ms  2.00 ms   +53.8 %
max                  1.30 ms  2.00 ms   +53.8 %
queue, mean          35.0 µs   100 µs  +185.7 %
kernel, mean         77.0 µs   220 µs  +185.7 %
server total, mean    420 µs  1.20 ms  +185.7 %
errors                31.6 %     90 %  +185.0 %

300 calls/s and 100 to 200 calls/s
                      first    second     change
answered               10/s       6/s    -40.0 %
throughput          20 kB/s  1.5 MB/s  +7400.0 %
mean                2.00 ms    700 µs    -65.0 %
p50                 2.00 ms    698 µs    -65.1 %
p90                 2.00 ms   1.20 ms    -40.0 %
p99                 2.00 ms   1.30 ms    -35.0 %
p99.9               2.00 ms   1.30 ms    -35.0 %
max                 2.00 ms   1.30 ms    -35.0 %
queue, mean          100 µs   35.0 µs    -65.0 %
kernel, mean         220 µs   77.0 µs    -65.0 %
server total, mean  1.20 ms    420 µs    -65.0 %
errors                 90 %    31.6 %    -64.9 %
)");
  other.levels.pop_back();
  const absl::Status refused = CompareReports(ToJson(TwoLevels()), ToJson(other), {}, out);
  EXPECT_EQ(refused.message(), "the first report has 2 levels, the second 1");
}

// Warnings at the last value that is no reason for one, and at the first that is.
TEST(WarningsTest, BeginWhereTheySay) {
  LoadPlan plan;
  plan.is_open_loop = true;
  plan.in_flight_max = 77;
  const auto warnings = [&plan](auto change) {
    LevelResult level(1);
    level.window_s = 1;
    change(level);
    return Warnings(level, plan).size();
  };
  EXPECT_EQ(warnings([](LevelResult&) {}), 0u);
  EXPECT_EQ(warnings([](LevelResult& level) { level.window_s = 0; }), 1u);
  EXPECT_EQ(warnings([](LevelResult& level) { level.recording.unsent = 1; }), 1u);
  EXPECT_EQ(warnings([](LevelResult& level) { level.generator.held_back_count = 1; }), 1u);
  EXPECT_EQ(warnings([](LevelResult& level) { level.generator.busiest_thread = 0.9; }), 0u);
  EXPECT_EQ(warnings([](LevelResult& level) { level.generator.busiest_thread = 0.91; }), 1u);
  EXPECT_EQ(warnings([](LevelResult& level) { level.generator.processors = 1e6; }), 1u);
  // Late by a fifth of a millisecond at least, and by a tenth of the median.
  const auto is_late = [&](int64_t lateness_ns, int64_t latency_ns) {
    return warnings([&](LevelResult& level) {
      level.recording.lateness.Record(lateness_ns);
      level.recording.latency.Record(latency_ns);
    });
  };
  EXPECT_EQ(is_late(195'000, 1), 0u);
  EXPECT_EQ(is_late(205'000, 1), 1u);
  EXPECT_EQ(is_late(1'000'000, 10'200'000), 0u);
  EXPECT_EQ(is_late(1'000'000, 9'800'000), 1u);
  plan.is_open_loop = false;
  EXPECT_EQ(is_late(1'000'000, 9'800'000), 0u);
}

TEST(WarningsTest, SayTheFigures) {
  LoadPlan plan;
  plan.is_open_loop = true;
  plan.in_flight_max = 77;
  LevelResult level(1);
  level.recording.lateness.Record(2'500'000);
  level.recording.unsent = 3;
  level.generator = {
      .processors = 1e6, .busiest_thread = 0.953, .thread_count = 1, .held_back_count = 5};
  EXPECT_THAT(Warnings(level, plan),
              ElementsAre(HasSubstr("one call in a hundred was sent 2.5 ms late or later"),
                          HasSubstr("3 calls were due and never sent"),
                          HasSubstr("5 calls waited because of in-flight-max, 77"),
                          "the level ended within its warm-up: no call was counted",
                          HasSubstr("busy for 95 % of the time"),
                          HasSubstr(absl::StrCat("kept 1000000.0 of this machine's ",
                                                 std::thread::hardware_concurrency(),
                                                 " processors busy"))));
}

// Of more than four in five processors.
TEST(WarningsTest, ABusyMachineIsTold) {
  const double machine = std::thread::hardware_concurrency();
  if (machine == 0) GTEST_SKIP() << "the system does not tell how many processors there are";
  LevelResult level(1);
  level.window_s = 1;
  level.generator.processors = 0.8 * machine;
  EXPECT_EQ(Warnings(level, {}).size(), 0u);
  level.generator.processors = 0.81 * machine;
  EXPECT_EQ(Warnings(level, {}).size(), 1u);
}

}  // namespace
}  // namespace gridfold::load
