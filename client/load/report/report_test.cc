// Thresholds, the forms of the report, and comparison.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/load/report/compare.h"
#include "client/load/report/html_report.h"
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
    if (!Violations({*threshold}, result).empty()) failing.push_back(text);
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

TEST(ThresholdsTest, NonsenseIsRefused) {
  for (const char* const text : {"", "p99", "p98>1ms", "p99>5", "p99>ms", "errors>x", "rate<-1",
                                 "throughput<5", "throughput<5KB/s", ">5ms"}) {
    EXPECT_FALSE(ParseThreshold(text).ok()) << text;
  }
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

}  // namespace
}  // namespace gridfold::load
