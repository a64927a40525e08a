#include "server/process/event_log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/fixed_limits.h"
#include "server/process/line_writer.h"

namespace gridfold::server {

namespace {

// Until ConfigureLog says otherwise.
std::atomic<LogLevel> g_level = LogLevel::kInfo;
std::atomic<LogFormat> g_format = LogFormat::kText;

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: break;
  }
  return "off";
}

std::string ValueText(const LogField& field, bool always_quote) {
  return std::visit(
      [&](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          const bool quote =
              always_quote || value.empty() || value.find_first_of(" \"=\n\\") != std::string::npos;
          return quote ? JsonText(value) : value;
        } else {
          return absl::StrCat(value);
        }
      },
      field.value);
}

void AppendMember(absl::string_view key, absl::string_view value, std::string& line) {
  absl::StrAppend(&line, line.size() > 1 ? "," : "", JsonText(key), ":", value);
}

void AppendMembers(std::initializer_list<LogField> fields, std::string& line) {
  for (const LogField& field : fields) {
    AppendMember(field.key, ValueText(field, /*always_quote=*/true), line);
  }
}

std::string MakeLine(LogLevel level, absl::string_view event,
                     std::initializer_list<LogField> fields) {
  if (g_format == LogFormat::kJson) {
    std::string line = "{";
    AppendMember("time", absl::StrCat("\"", LogTime(), "\""), line);
    AppendMember("level", absl::StrCat("\"", LevelName(level), "\""), line);
    AppendMember("event", JsonText(event), line);
    AppendMembers(fields, line);
    return line + "}";
  }
  std::string line = absl::StrCat(LogTime(), " ", LevelName(level), " ", event);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.key, "=", ValueText(field, /*always_quote=*/false));
  }
  return line;
}

bool NeedsNoEscape(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// Never destroyed: whoever logs at the end of the program finds it.
LineWriter& Log() {
  static LineWriter* const log = new LineWriter(STDERR_FILENO, kLogBufferBytes, [](uint64_t lines) {
    return MakeLine(LogLevel::kWarning, "log_lines_dropped", {{"lines", lines}});
  });
  return *log;
}

// The parts of a time before and after the milliseconds.
struct SecondText {
  int64_t second = -1;
  std::string date_and_time;
  std::string zone;
};

}  // namespace

void ConfigureLog(LogLevel level, LogFormat format) {
  g_level = level;
  g_format = format;
}

bool LogIsEnabled(LogLevel level) { return level != LogLevel::kOff && level >= g_level.load(); }

void LogEvent(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields) {
  if (LogIsEnabled(level)) Log().Write(MakeLine(level, event, fields));
}

std::string LogTime() {
  // To write down a date takes as long as all the rest of a line, so each second's is kept.
  thread_local SecondText text;
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  if (now_ms / 1000 != text.second) {
    text.second = now_ms / 1000;
    const absl::Time time = absl::FromUnixSeconds(text.second);
    text.date_and_time = absl::FormatTime("%Y-%m-%dT%H:%M:%S", time, absl::LocalTimeZone());
    text.zone = absl::FormatTime("%Ez", time, absl::LocalTimeZone());
  }
  return absl::StrCat(text.date_and_time, ".", absl::Dec(now_ms % 1000, absl::kZeroPad3),
                      text.zone);
}

std::string JsonText(absl::string_view text) {
  // Most texts are empty, names or numbers.
  if (std::all_of(text.begin(), text.end(), NeedsNoEscape)) return absl::StrCat("\"", text, "\"");
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string JsonLine(std::initializer_list<LogField> fields) {
  std::string line = "{";
  AppendMembers(fields, line);
  return line + "}";
}

void WriteLogLine(absl::string_view line) { Log().Write(line); }

void FlushLog(std::chrono::milliseconds limit) { Log().Flush(limit); }

uint64_t DroppedLogLines() { return Log().dropped_lines(); }

}  // namespace gridfold::server
