#include "server/event_log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace gridfold::server {

namespace {

std::atomic<LogFormat> g_format = LogFormat::kText;

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: break;
  }
  return spdlog::level::off;
}

// Quoted and escaped; bytes that are not UTF-8 are replaced.
std::string Quoted(absl::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ValueText(const LogField& field, bool always_quote) {
  return std::visit(
      [&](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          const bool quote =
              always_quote || value.empty() || value.find_first_of(" \"=\n\\") != std::string::npos;
          return quote ? Quoted(value) : value;
        } else {
          return absl::StrCat(value);
        }
      },
      field.value);
}

std::string TextLine(absl::string_view event, std::initializer_list<LogField> fields) {
  std::string line(event);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.key, "=", ValueText(field, /*always_quote=*/false));
  }
  return line;
}

// The members of a JSON object; the pattern adds those before them and the braces.
std::string JsonMembers(absl::string_view event, std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat("\"event\":", Quoted(event));
  for (const LogField& field : fields) {
    absl::StrAppend(&line, ",", Quoted(field.key), ":", ValueText(field, /*always_quote=*/true));
  }
  return line;
}

}  // namespace

void ConfigureLog(LogLevel level, LogFormat format) {
  auto logger = std::make_shared<spdlog::logger>("gridfold",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(ToSpdlog(level));
  logger->set_pattern(format == LogFormat::kJson
                          ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})"
                          : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  g_format = format;
  spdlog::set_default_logger(std::move(logger));
}

bool LogIsEnabled(LogLevel level) {
  return spdlog::default_logger_raw()->should_log(ToSpdlog(level));
}

void LogEvent(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields) {
  if (!LogIsEnabled(level)) return;
  const std::string line =
      g_format == LogFormat::kJson ? JsonMembers(event, fields) : TextLine(event, fields);
  // As a message, not as a format: values may hold braces.
  spdlog::default_logger_raw()->log(ToSpdlog(level), spdlog::string_view_t(line));
}

}  // namespace gridfold::server
