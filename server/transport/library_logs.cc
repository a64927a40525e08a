#include "server/transport/library_logs.h"

#include <grpc/support/log.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/stubs/common.h"
#include "google/protobuf/stubs/logging.h"
#include "server/base/fixed_limits.h"
#include "server/process/event_log.h"
#include "server/process/line_rate.h"

namespace gridfold::server {

namespace {

LogLevel LevelOf(gpr_log_severity severity) {
  return severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
}

std::mutex g_mutex;
// Guarded by g_mutex.
LineRate g_rate{kRefusedLines, kRefusedLinesEachSecond};
uint64_t g_suppressed = 0;

// None where this line is not to be logged; else how many were not since the last.
std::optional<uint64_t> AdmitLine() {
  const std::lock_guard lock(g_mutex);
  if (g_rate.Admit(std::chrono::steady_clock::now())) return std::exchange(g_suppressed, 0);
  ++g_suppressed;
  return std::nullopt;
}

void LogOfGrpc(gpr_log_func_args* arguments) {
  const absl::string_view message = arguments->message;
  // The next thing that gRPC does is to abort the program.
  if (absl::StartsWith(message, "assertion failed")) {
    LogEvent(LogLevel::kError, "transport",
             {{"message", message}, {"file", arguments->file}, {"line", arguments->line}});
    FlushLog(kLogFlushTimeout);
    return;
  }
  const LogLevel level = LevelOf(arguments->severity);
  if (!LogIsEnabled(level)) return;
  if (const std::optional<uint64_t> suppressed = AdmitLine()) {
    LogEvent(level, "transport", {{"message", message}, {"suppressed", *suppressed}});
  }
}

}  // namespace

void RedirectLibraryLogs() {
  gpr_set_log_function(LogOfGrpc);
#if GOOGLE_PROTOBUF_VERSION < 4022000
  // Of messages such as text that is not UTF-8. Their senders are told.
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel, const char*, int, const std::string& message) {
        LogEvent(LogLevel::kDebug, "protobuf", {{"message", message}});
      });
#endif
}

}  // namespace gridfold::server
