// Callers that are turned away: each is counted, some are logged, and how many were not is said.
#include "server/tenants/refused_callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/process/event_log.h"

namespace gridfold::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::Pair;

class RefusedCallersTest : public testing::Test {
 protected:
  RefusedCallersTest() {
    FlushLog(seconds(30));
    ConfigureLog(LogLevel::kInfo, LogFormat::kJson);
    testing::internal::CaptureStderr();
  }
  ~RefusedCallersTest() override {
    if (!is_read_) (void)ReadLog();
    ConfigureLog(LogLevel::kInfo, LogFormat::kText);
  }

  // What was logged, to be asked once.
  std::vector<nlohmann::json> ReadLog() {
    FlushLog(seconds(30));
    is_read_ = true;
    std::istringstream text(testing::internal::GetCapturedStderr());
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  void RecordTimes(int count, const std::string& peer) {
    for (int i = 0; i < count; ++i) refused_.Record(RefusalReason::kNoToken, peer, "ReduceArray");
  }

  // Of how many calls of whom the log says that they are not in it, to be asked once.
  std::vector<std::pair<std::string, int>> ReadSuppressed() {
    std::vector<std::pair<std::string, int>> suppressed;
    for (const nlohmann::json& line : ReadLog()) {
      if (line["event"] == "callers_refused") suppressed.emplace_back(line["peer"], line["calls"]);
    }
    return suppressed;
  }

  LineRate::Time now_ = LineRate::Time() + std::chrono::hours(1);
  RefusedCallers refused_{[this] { return now_; }};
  bool is_read_ = false;
};

TEST_F(RefusedCallersTest, EveryReasonHasItsCount) {
  for (size_t i = 0; i < RefusedCallers::kReasonNames.size(); ++i) {
    for (size_t n = 0; n <= i; ++n) {
      refused_.Record(static_cast<RefusalReason>(i), "ipv4:10.0.0.1:1", "ReduceArray");
    }
  }
  for (size_t i = 0; i < RefusedCallers::kReasonNames.size(); ++i) {
    EXPECT_EQ(refused_.count(static_cast<RefusalReason>(i)), i + 1);
  }
}

TEST_F(RefusedCallersTest, ALineNamesAddressReasonAndRpc) {
  refused_.Record(RefusalReason::kWrongTenant, "ipv4:10.0.0.1:4711", "ScanArray");
  const auto lines = ReadLog();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["level"], "warning");
  EXPECT_EQ(lines[0]["event"], "caller_refused");
  EXPECT_EQ(lines[0]["peer"], "ipv4:10.0.0.1:4711");
  EXPECT_EQ(lines[0]["reason"], "wrong_tenant");
  EXPECT_EQ(lines[0]["rpc"], "ScanArray");
  EXPECT_EQ(lines[0]["suppressed"], 0);
}

// Its ports do not tell a caller apart, and no other address suffers from it.
TEST_F(RefusedCallersTest, ManyOfOneAddressAreFewLinesAndAllAreAccountedFor) {
  constexpr uint64_t kCalls = 8776;
  for (uint64_t i = 0; i < kCalls; ++i) {
    refused_.Record(RefusalReason::kUnknownToken, absl::StrCat("ipv6:%5B::2%5D:", i),
                    "ReduceArray");
  }
  refused_.Record(RefusalReason::kUnknownToken, "ipv4:10.0.0.2:1", "ReduceArray");
  now_ += kRefusedSummaryInterval;
  refused_.TellSuppressed();
  refused_.TellSuppressed();
  uint64_t one = 0;
  uint64_t other = 0;
  uint64_t summed = 0;
  for (const nlohmann::json& line : ReadLog()) {
    if (line["event"] == "callers_refused") {
      EXPECT_EQ(line["peer"], "ipv6:%5B::2%5D");
      summed += line["calls"].get<uint64_t>();
    } else {
      ++(line["peer"] == "ipv4:10.0.0.2:1" ? other : one);
    }
  }
  EXPECT_EQ(one, static_cast<uint64_t>(kRefusedLinesOfPeer));
  EXPECT_EQ(other, 1u);
  EXPECT_EQ(one + summed, kCalls);
  EXPECT_EQ(refused_.count(RefusalReason::kUnknownToken), kCalls + 1);
}

TEST_F(RefusedCallersTest, ManyAddressesAreFewLinesToo) {
  constexpr uint64_t kPeers = 5000;
  for (uint64_t i = 0; i < kPeers; ++i) {
    refused_.Record(RefusalReason::kNoToken,
                    absl::StrCat("ipv4:10.0.", i / 256, ".", i % 256, ":1"), "ReduceArray");
  }
  now_ += kRefusedSummaryInterval;
  refused_.TellSuppressed();
  const auto lines = ReadLog();
  EXPECT_LE(lines.size(), static_cast<size_t>(kRefusedLines) + kRefusedSummaryLinesMax + 1);
  uint64_t calls = 0;
  for (const nlohmann::json& line : lines) {
    calls += line["event"] == "callers_refused" ? line["calls"].get<uint64_t>() : 1;
  }
  EXPECT_EQ(calls, kPeers);
}

TEST_F(RefusedCallersTest, AfterAPauseThereAreLinesAgain) {
  for (int i = 0; i < 20; ++i) refused_.Record(RefusalReason::kNoToken, "unix:", "ReduceArray");
  now_ += seconds(20);
  refused_.Record(RefusalReason::kNoToken, "unix:", "ReduceArray");
  EXPECT_EQ(ReadLog().back()["suppressed"], 20 - static_cast<int>(kRefusedLinesOfPeer));
}

TEST_F(RefusedCallersTest, AddressesAreWithoutPortsWhereTheyHaveOne) {
  RecordTimes(6, "unix:/run/a:1");
  RecordTimes(7, "ipv4:10.0.0.1");
  RecordTimes(8, "ipv4:10.0.0.2:3");
  RecordTimes(9, "ipv6:%5B::1%5D:4");
  RecordTimes(10, "ipv4:7:8");
  refused_.TellSuppressedNow();
  EXPECT_THAT(ReadSuppressed(),
              ElementsAre(Pair("ipv4:7", 5), Pair("ipv6:%5B::1%5D", 4), Pair("ipv4:10.0.0.2", 3),
                          Pair("ipv4:10.0.0.1", 2), Pair("unix:/run/a:1", 1)));
}

TEST_F(RefusedCallersTest, WhatIsNotToBeLoggedIsNotSuppressed) {
  ConfigureLog(LogLevel::kError, LogFormat::kJson);
  RecordTimes(20, "unix:");
  ConfigureLog(LogLevel::kInfo, LogFormat::kJson);
  RecordTimes(1, "unix:");
  const auto lines = ReadLog();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["suppressed"], 0);
}

TEST_F(RefusedCallersTest, SummariesAreAnIntervalApart) {
  RecordTimes(6, "unix:");
  now_ += kRefusedSummaryInterval - milliseconds(1);
  refused_.TellSuppressed();
  RecordTimes(6, "unix:");
  now_ += milliseconds(1);
  refused_.TellSuppressed();
  RecordTimes(6, "unix:");
  now_ += kRefusedSummaryInterval - milliseconds(1);
  refused_.TellSuppressed();
  // In ten seconds there is one line.
  EXPECT_THAT(ReadSuppressed(), ElementsAre(Pair("unix:", 7)));
}

TEST_F(RefusedCallersTest, ASummaryNamesEightAndCountsTheRest) {
  for (int i = 1; i <= 8; ++i) RecordTimes(5 + i, absl::StrCat("unix:", i));
  refused_.TellSuppressedNow();
  for (int i = 1; i <= 10; ++i) RecordTimes(10 * i, absl::StrCat("unix:", i));
  refused_.TellSuppressedNow();
  const auto suppressed = ReadSuppressed();
  ASSERT_EQ(suppressed.size(), 17u);
  EXPECT_THAT(suppressed[7], Pair("unix:1", 1)) << "and there are no others";
  EXPECT_THAT(suppressed[15], Pair("unix:3", 30));
  EXPECT_THAT(suppressed[16], Pair("others", 30));
}

TEST_F(RefusedCallersTest, WhoFindsNoPlaceIsOneOfTheOthers) {
  for (size_t i = 0; i < kRefusedPeersMax; ++i) RecordTimes(1, absl::StrCat("unix:", i));
  refused_.TellSuppressedNow();
  RecordTimes(2, "unix:7");
  RecordTimes(1, "unix:new");
  refused_.TellSuppressedNow();
  auto suppressed = ReadSuppressed();
  ASSERT_GT(suppressed.size(), 2u);
  suppressed.erase(suppressed.begin(), suppressed.end() - 2);
  EXPECT_THAT(suppressed, ElementsAre(Pair("unix:7", 2), Pair("others", 1)));
}

// They give their places to others, unless there is something to be told of them.
TEST_F(RefusedCallersTest, WhoWasQuietForLongIsForgotten) {
  for (size_t i = 0; i < kRefusedPeersMax; ++i) RecordTimes(1, absl::StrCat("unix:", i));
  refused_.TellSuppressedNow();
  RecordTimes(6, "unix:0");
  now_ += seconds(60);
  RecordTimes(7, "unix:new");
  refused_.TellSuppressedNow();
  auto suppressed = ReadSuppressed();
  ASSERT_GT(suppressed.size(), 2u);
  suppressed.erase(suppressed.begin(), suppressed.end() - 2);
  EXPECT_THAT(suppressed, ElementsAre(Pair("unix:0", 6), Pair("unix:new", 2)));
}

}  // namespace
}  // namespace gridfold::server
