// The screen of `gridfold watch`, line by line.
#include "client/command_line/report/watch_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace gridfold::client {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr TextStyle kAscii = {.width = 60, .unicode = false, .colour = false};
constexpr TextStyle kColour = {.width = 60, .unicode = false, .colour = true};

ServerInfo MakeInfo() {
  ServerInfo info;
  info.version = "1.2.3";
  info.engine = "cuda";
  info.devices = {{"H100", 1, 132, "9.0"}};
  info.limits.queued_jobs_max = 1'000;
  info.limits.resident_bytes_max = 8'000;
  return info;
}

// Counters of a server after `seconds`, each growing at another pace.
ServerStatistics After(int seconds) {
  const auto passed = static_cast<uint64_t>(seconds);
  ServerStatistics statistics;
  statistics.uptime = absl::Seconds(100 + seconds) + absl::Milliseconds(900);
  statistics.jobs_succeeded = 1'000 + 250 * passed;
  statistics.jobs_refused = 20 + 3 * passed;
  statistics.jobs_failed = 30 + 2 * passed;
  statistics.bytes_processed = 5'000 * passed;
  statistics.jobs_queued = 500;
  statistics.bytes_queued = 7'000;
  statistics.lanes_busy = 3;
  statistics.lane_count = 12;
  statistics.resident_array_count = 1'234;
  statistics.resident_bytes = 2'000;
  statistics.region_count = 6;
  statistics.region_bytes = 900;
  return statistics;
}

absl::Time At(int seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

TEST(WatchReportLinesTest, EveryLine) {
  WatchHistory history(MakeInfo(), "host:1");
  history.Add(At(0), HealthStatus::kServing, After(0));
  const std::vector<std::string> first = WatchLines(history, kAscii);
  EXPECT_THAT(first, ElementsAre("host:1 | gridfold 1.2.3 | cuda, H100 | SERVING",  //
                                 "up for  1m40s", "jobs    1,000 answered, 30 failed, 20 refused",
                                 "lanes   [######                  ] 3 of 12 busy",
                                 "queue   [############            ] 500 of 1,000 jobs, 7.00 kB",
                                 "arrays  [######                  ] 2.00 kB of 8.00 kB in 1,234"));
  history.Add(At(2), HealthStatus::kServing, After(2));
  const std::vector<std::string> second = WatchLines(history, kAscii);
  EXPECT_THAT(second, Contains("jobs      1,500 answered, 34 failed, 26 refused"));
  EXPECT_THAT(second, Contains("answered  250/s | 5.00 kB/s of messages"));
  EXPECT_THAT(second, Contains("refused   3.0/s | failed 2.0/s"));
  EXPECT_THAT(second, Not(Contains(HasSubstr("answers")))) << "one span is no line";
  EXPECT_EQ(history.spans().back().busy_share, 0.25);
}

TEST(WatchReportLinesTest, RegionsWhereThereAreAny) {
  ServerInfo info = MakeInfo();
  info.limits.region_count_max = 64;
  info.limits.region_bytes_max = 1'800;
  WatchHistory history(info, "host:1");
  history.Add(At(0), HealthStatus::kServing, After(0));
  EXPECT_THAT(WatchLines(history, kAscii),
              Contains("regions  [############            ] 900 bytes in 6"));
}

TEST(WatchReportLinesTest, SeveralDevicesAndNone) {
  ServerInfo info = MakeInfo();
  info.devices.push_back(info.devices[0]);
  EXPECT_THAT(WatchLines(WatchHistory(info, "host:1"), kAscii),
              ElementsAre("host:1 | gridfold 1.2.3 | cuda, 2 x H100 | UNKNOWN"));
  info.devices.clear();
  EXPECT_THAT(WatchLines(WatchHistory(info, "host:1"), kAscii),
              ElementsAre("host:1 | gridfold 1.2.3 | cuda | UNKNOWN"));
}

TEST(WatchReportLinesTest, GaugesAreNeverMoreThanFull) {
  ServerInfo info = MakeInfo();
  info.limits.queued_jobs_max = 100;
  info.limits.resident_bytes_max = 0;
  WatchHistory history(info, "host:1");
  history.Add(At(0), HealthStatus::kServing, After(0));
  EXPECT_THAT(WatchLines(history, kAscii),
              Contains("queue   [########################] 500 of 100 jobs, 7.00 kB"));
  EXPECT_THAT(WatchLines(history, kAscii),
              Contains("arrays  [                        ] 2.00 kB of 0 bytes in 1,234"));
}

// Faults stand out, and nothing else does.
TEST(WatchReportLinesTest, FaultsAreColoured) {
  const auto has_error = [](ServerStatistics now, HealthStatus health) {
    WatchHistory history(MakeInfo(), "host:1");
    history.Add(At(0), health, After(0));
    history.Add(At(1), health, now);
    bool found = false;
    for (const std::string& line : WatchLines(history, kColour)) {
      found = found || line.find("\x1b[1;31m") != std::string::npos;
    }
    return found;
  };
  ServerStatistics well = After(0);
  well.jobs_succeeded += 100;
  EXPECT_FALSE(has_error(well, HealthStatus::kServing));
  EXPECT_TRUE(has_error(well, HealthStatus::kNotServing));
  ServerStatistics refusing = well;
  ++refusing.jobs_refused;
  EXPECT_TRUE(has_error(refusing, HealthStatus::kServing));
  ServerStatistics failing = well;
  ++failing.jobs_failed;
  EXPECT_TRUE(has_error(failing, HealthStatus::kServing));
}

TEST(WatchReportLinesTest, SilenceIsSaidUntilTheNextAnswer) {
  WatchHistory history(MakeInfo(), "host:1");
  history.Add(At(0), HealthStatus::kServing, After(0));
  history.AddSilence(absl::UnavailableError("nobody there"));
  EXPECT_EQ(WatchLines(history, kAscii)[0], "host:1 | gridfold 1.2.3 | cuda, H100 | UNKNOWN");
  EXPECT_EQ(WatchLines(history, kAscii)[1], "nobody there");
  history.Add(At(4), HealthStatus::kServing, After(4));
  EXPECT_THAT(WatchLines(history, kAscii), Not(Contains("nobody there")));
}

TEST(WatchReportLinesTest, LooksWithoutTimeBetweenThemAreNoSpan) {
  WatchHistory history(MakeInfo(), "host:1");
  history.Add(At(0), HealthStatus::kServing, After(0));
  history.Add(At(0), HealthStatus::kServing, After(1));
  EXPECT_TRUE(history.spans().empty());
  ServerStatistics laneless = After(2);
  laneless.lane_count = 0;
  history.Add(At(1), HealthStatus::kServing, laneless);
  ASSERT_EQ(history.spans().size(), 1u);
  EXPECT_EQ(history.spans()[0].busy_share, 0);
  // As long as the server has not restarted: the same uptime is no restart.
  history.Add(At(2), HealthStatus::kServing, laneless);
  EXPECT_EQ(history.spans().size(), 2u);
}

// The last spans that fit: as many columns as are beside the labels, the newest last.
TEST(WatchReportLinesTest, LinesShowTheLastSpans) {
  WatchHistory history(MakeInfo(), "host:1");
  ServerStatistics now = After(0);
  history.Add(At(0), HealthStatus::kServing, now);
  constexpr int kLooks = 200;
  for (int i = 1; i <= kLooks; ++i) {
    now.jobs_succeeded += i == kLooks ? 8 : i > kLooks - 40 ? 4 : 100;
    now.lanes_busy = i == kLooks ? 12 : 3;
    history.Add(At(i), HealthStatus::kServing, now);
  }
  EXPECT_EQ(history.spans().size(), 160u);
  const std::vector<std::string> lines = WatchLines(history, kAscii);
  EXPECT_THAT(lines, Contains("answers     " + std::string(39, '=') + "@"));
  EXPECT_THAT(lines, Contains("busy lanes  " + std::string(39, ':') + "@"));
}

TEST(WatchReportLinesTest, ARestartIsNoSpan) {
  WatchHistory history(MakeInfo(), "host:1");
  history.Add(At(0), HealthStatus::kServing, After(9));
  history.Add(At(1), HealthStatus::kServing, After(0));
  EXPECT_TRUE(history.spans().empty());
  history.Add(At(2), HealthStatus::kServing, After(1));
  EXPECT_EQ(history.spans().size(), 1u);
}

// Rates have a decimal as long as they have two digits before it.
TEST(WatchReportLinesTest, RatesHaveThreeDigits) {
  const auto answered = [](uint64_t jobs, int seconds) {
    WatchHistory history(MakeInfo(), "host:1");
    ServerStatistics now = After(0);
    history.Add(At(0), HealthStatus::kServing, now);
    now.jobs_succeeded += jobs;
    history.Add(At(seconds), HealthStatus::kServing, now);
    std::string found;
    for (const std::string& line : WatchLines(history, kAscii)) {
      if (line.starts_with("answered")) found = line;
    }
    return found;
  };
  EXPECT_EQ(answered(199, 2), "answered  99.5/s | 0 bytes/s of messages");
  EXPECT_EQ(answered(100, 1), "answered  100/s | 0 bytes/s of messages");
}

TEST(WatchReportLinesTest, OneOfOneIsAll) {
  WatchHistory history(MakeInfo(), "host:1");
  ServerStatistics now = After(1);
  now.lanes_busy = 1;
  now.lane_count = 1;
  history.Add(At(0), HealthStatus::kServing, now);
  EXPECT_THAT(WatchLines(history, kAscii),
              Contains("lanes   [########################] 1 of 1 busy"));
  EXPECT_THAT(WatchLines(history, kAscii), Contains("up for  1m41s"));
}

}  // namespace
}  // namespace gridfold::client
