// The level at which the end of a call is logged, code by code: the server's own faults are errors,
// what callers do is for who debugs.
#include "server/calls/call_report.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "server/calls/execution.h"
#include "server/process/event_log.h"

namespace gridfold::server {
namespace {

// The line that is logged at a log level, or an empty one where none is.
std::string LineOf(absl::StatusCode code, LogLevel least) {
  FlushLog(std::chrono::seconds(30));
  ConfigureLog(least, LogFormat::kJson);
  testing::internal::CaptureStderr();
  CallReport(Rpc::kScanArray, 7).Log(absl::Status(code, "why"), 5);
  FlushLog(std::chrono::seconds(30));
  std::string line = testing::internal::GetCapturedStderr();
  ConfigureLog(LogLevel::kInfo, LogFormat::kText);
  return line;
}

TEST(CallReportTest, EveryCodeHasItsLevel) {
  const std::map<absl::StatusCode, const char*> levels = {
      {absl::StatusCode::kOk, "debug"},
      {absl::StatusCode::kCancelled, "debug"},
      {absl::StatusCode::kUnknown, "debug"},
      {absl::StatusCode::kInvalidArgument, "debug"},
      {absl::StatusCode::kDeadlineExceeded, "debug"},
      {absl::StatusCode::kNotFound, "debug"},
      {absl::StatusCode::kAlreadyExists, "debug"},
      {absl::StatusCode::kPermissionDenied, "debug"},
      {absl::StatusCode::kResourceExhausted, "debug"},
      {absl::StatusCode::kFailedPrecondition, "debug"},
      {absl::StatusCode::kAborted, "debug"},
      {absl::StatusCode::kOutOfRange, "debug"},
      {absl::StatusCode::kUnimplemented, "debug"},
      {absl::StatusCode::kInternal, "error"},
      {absl::StatusCode::kUnavailable, "debug"},
      {absl::StatusCode::kDataLoss, "debug"},
      {absl::StatusCode::kUnauthenticated, "debug"},
  };
  for (const auto& [code, level] : levels) {
    SCOPED_TRACE(absl::StatusCodeToString(code));
    const auto line = nlohmann::json::parse(LineOf(code, LogLevel::kDebug));
    EXPECT_EQ(line["level"], level);
    EXPECT_EQ(line["event"], "call");
    EXPECT_EQ(line["code"], absl::StatusCodeToString(code));
    EXPECT_EQ(line["id"], 7);
    EXPECT_EQ(line["rpc"], "ScanArray");
    EXPECT_EQ(line["response_bytes"], 5);
    EXPECT_EQ(LineOf(code, LogLevel::kError).empty(), level != std::string("error"));
    EXPECT_EQ(LineOf(code, LogLevel::kOff), "");
  }
}

// No figure equals another.
CallReport ReportOfARun() {
  CallReport report(Rpc::kReduceArray, 8);
  report.trace = {.trace_id = "trace", .parent_id = "span"};
  report.request_bytes = 21;
  report.queue_time = std::chrono::microseconds(22);
  report.AddQueueTime(std::chrono::microseconds(1));
  report.run = {.strategy = "strategy",
                .cluster_size = 24,
                .bytes_read = 25,
                .stage_in_time = std::chrono::microseconds(26),
                .kernel_time = std::chrono::seconds(27),
                .stage_out_time = std::chrono::microseconds(28)};
  report.device_count = 29;
  report.arrived_at -= std::chrono::hours(1);
  return report;
}

TEST(CallReportTest, ALineHasEveryFigure) {
  FlushLog(std::chrono::seconds(30));
  ConfigureLog(LogLevel::kDebug, LogFormat::kJson);
  testing::internal::CaptureStderr();
  ReportOfARun().Log(absl::NotFoundError("why"), 30);
  FlushLog(std::chrono::seconds(30));
  ConfigureLog(LogLevel::kInfo, LogFormat::kText);
  auto line = nlohmann::json::parse(testing::internal::GetCapturedStderr());
  EXPECT_GE(line["total_us"], 3'600'000'000);
  EXPECT_LT(line["total_us"], 3'700'000'000);
  for (const char* const key : {"time", "total_us"}) line.erase(key);
  const nlohmann::json expected = {{"level", "debug"},
                                   {"event", "call"},
                                   {"id", 8},
                                   {"rpc", "ReduceArray"},
                                   {"peer", ""},
                                   {"certificate", ""},
                                   {"trace_id", "trace"},
                                   {"parent_id", "span"},
                                   {"code", "NOT_FOUND"},
                                   {"message", "why"},
                                   {"strategy", "strategy"},
                                   {"request_bytes", 21},
                                   {"response_bytes", 30},
                                   {"queue_us", 23},
                                   {"stage_in_us", 26},
                                   {"kernel_us", 27'000'000},
                                   {"stage_out_us", 28}};
  EXPECT_EQ(line, expected);
}

// What callers are told beside an answer.
TEST(ExecutionTest, EveryFigureIsInItsPlace) {
  v1::ExecutionStatistics execution;
  FillExecution(ReportOfARun(), "engine", execution);
  EXPECT_EQ(execution.total_time().seconds(), 3600);
  execution.clear_total_time();
  v1::ExecutionStatistics expected;
  expected.set_engine("engine");
  expected.set_strategy("strategy");
  expected.set_cluster_size(24);
  expected.set_bytes_read(25);
  expected.mutable_queue_time()->set_nanos(23'000);
  expected.mutable_stage_in_time()->set_nanos(26'000);
  expected.mutable_kernel_time()->set_seconds(27);
  expected.mutable_stage_out_time()->set_nanos(28'000);
  expected.set_device_count(29);
  EXPECT_EQ(execution.DebugString(), expected.DebugString());
}

TEST(EventLogTest, AnEventIsLoggedFromItsLevelOn) {
  const LogLevel levels[] = {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                             LogLevel::kError, LogLevel::kOff};
  for (const LogLevel least : levels) {
    ConfigureLog(least, LogFormat::kText);
    for (const LogLevel level : levels) {
      EXPECT_EQ(LogIsEnabled(level), level != LogLevel::kOff && level >= least);
    }
  }
  ConfigureLog(LogLevel::kInfo, LogFormat::kText);
}

TEST(EventLogTest, TextAndJsonSayTheSame) {
  const auto line = [](LogFormat format) {
    FlushLog(std::chrono::seconds(30));
    ConfigureLog(LogLevel::kInfo, format);
    testing::internal::CaptureStderr();
    LogEvent(LogLevel::kWarning, "event", {{"text", "two \"words\"\n"}, {"bytes", 7}});
    FlushLog(std::chrono::seconds(30));
    ConfigureLog(LogLevel::kInfo, LogFormat::kText);
    return testing::internal::GetCapturedStderr();
  };
  const std::string text = line(LogFormat::kText);
  // "2026-11-26T16:20:00.123+00:00 warning event ..."
  EXPECT_EQ(text.substr(29), " warning event text=\"two \\\"words\\\"\\n\" bytes=7\n");
  EXPECT_EQ(text[10], 'T');
  const auto json = nlohmann::json::parse(line(LogFormat::kJson));
  EXPECT_EQ(json["time"].get<std::string>().size(), 29u);
  EXPECT_EQ(json["level"], "warning");
  EXPECT_EQ(json["event"], "event");
  EXPECT_EQ(json["text"], "two \"words\"\n");
  EXPECT_EQ(json["bytes"], 7);
}

}  // namespace
}  // namespace gridfold::server
