// Structured log: each line is an event with named fields, as text or as one JSON object, on
// standard error. Nobody waits for whoever reads it: lines that come faster than they are read are
// dropped, and a line "log_lines_dropped" says how many (line_writer.h). Thread-safe.
#ifndef GRIDFOLD_SERVER_PROCESS_EVENT_LOG_H_
#define GRIDFOLD_SERVER_PROCESS_EVENT_LOG_H_

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"

namespace gridfold::server {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat : uint8_t { kText, kJson };

struct LogField {
  LogField(absl::string_view name, absl::string_view text) : key(name), value(std::string(text)) {}
  LogField(absl::string_view name, std::integral auto number) : key(name) {
    if constexpr (std::is_signed_v<decltype(number)>) {
      value = int64_t{number};
    } else {
      value = uint64_t{number};
    }
  }

  absl::string_view key;
  std::variant<std::string, int64_t, uint64_t> value;
};

// Call it once, before the first event. Events below `level` are not logged.
void ConfigureLog(LogLevel level, LogFormat format);

// Whether an event of this level is logged: spares making fields for one that is not.
bool LogIsEnabled(LogLevel level);

void LogEvent(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields);

// The text "2026-11-26T16:20:00.123+00:00" of now.
std::string LogTime();

// A text as JSON has it: quoted and escaped; bytes that are not UTF-8 are replaced.
std::string JsonText(absl::string_view text);

// One JSON object with these members, in their order, whatever the form of the log.
std::string JsonLine(std::initializer_list<LogField> fields);

// Writes a line between those of the log, whatever its level and its form.
void WriteLogLine(absl::string_view line);

// Waits for what was logged before to be written, for `limit` at most: before the program ends.
void FlushLog(std::chrono::milliseconds limit);

// Lines that were dropped since the program started.
uint64_t DroppedLogLines();

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_EVENT_LOG_H_
