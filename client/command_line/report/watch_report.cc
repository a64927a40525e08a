#include "client/command_line/report/watch_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/command_line/output/bar_chart.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "client/command_line/report/description_report.h"
#include "client/command_line/report/server_report.h"

namespace gridfold::client {
namespace {

constexpr size_t kSpansMax = 160;
constexpr size_t kNameColumns = 20;
constexpr int kLoadColumns = 24;

double PerSecond(uint64_t before, uint64_t after, absl::Duration time) {
  return static_cast<double>(after - before) / absl::ToDoubleSeconds(time);
}

std::string FormatPerSecond(double rate) {
  return absl::StrFormat(rate < 100 ? "%.1f/s" : "%.0f/s", rate);
}

// How full something is: "[######      ] 6 of 12".
std::string Gauge(double used, double all, const std::string& text, const TextStyle& style) {
  const double share = all > 0 ? std::min(1.0, used / all) : 0;
  return absl::StrCat(
      "[",
      style.Bar(Pad(DrawBar(share * kLoadColumns, style.unicode), kLoadColumns, Alignment::kLeft)),
      "] ", text);
}

// The last spans that fit beside a label, each as a block as high as its part of the largest.
template <typename Get>
std::string DrawSpans(const std::deque<WatchedSpan>& spans, const TextStyle& style, Get get) {
  const size_t columns = static_cast<size_t>(style.width) - kNameColumns;
  const size_t first = spans.size() > columns ? spans.size() - columns : 0;
  std::vector<uint64_t> heights;
  for (size_t i = first; i < spans.size(); ++i) {
    // In thousandths, since rates may be small.
    heights.push_back(static_cast<uint64_t>(get(spans[i]) * 1000));
  }
  return style.Bar(DrawSparkline(heights, columns, style.unicode));
}

std::string DescribeDevices(const ServerInfo& info) {
  if (info.devices.empty()) return info.engine;
  const size_t count = info.devices.size();
  return absl::StrCat(info.engine, ", ", count > 1 ? absl::StrCat(count, " x ") : "",
                      info.devices[0].name);
}

void AddRates(const WatchHistory& history, const TextStyle& style, Table& table) {
  if (history.spans().empty()) return;
  const WatchedSpan& now = history.spans().back();
  table.AddRow({"answered", absl::StrCat(FormatPerSecond(now.jobs_per_second), style.separator(),
                                         FormatBytes(static_cast<uint64_t>(now.bytes_per_second)),
                                         "/s of messages")});
  const std::string faults =
      absl::StrCat(FormatPerSecond(now.refused_per_second), style.separator(), "failed ",
                   FormatPerSecond(now.failed_per_second));
  const bool is_fault = now.refused_per_second + now.failed_per_second > 0;
  table.AddRow({"refused", is_fault ? style.Error(faults) : faults});
}

void AddGauges(const WatchHistory& history, const TextStyle& style, Table& table) {
  const ServerStatistics& now = *history.statistics();
  const ServerLimits& limits = history.info().limits;
  table.AddRow(
      {"lanes", Gauge(now.lanes_busy, now.lane_count,
                      absl::StrCat(now.lanes_busy, " of ", now.lane_count, " busy"), style)});
  table.AddRow({"queue", Gauge(static_cast<double>(now.jobs_queued),
                               static_cast<double>(limits.queued_jobs_max),
                               absl::StrCat(FormatInteger(now.jobs_queued), " of ",
                                            FormatInteger(limits.queued_jobs_max), " jobs, ",
                                            FormatBytes(now.bytes_queued)),
                               style)});
  table.AddRow({"arrays", Gauge(static_cast<double>(now.resident_bytes),
                                static_cast<double>(limits.resident_bytes_max),
                                absl::StrCat(FormatBytes(now.resident_bytes), " of ",
                                             FormatBytes(limits.resident_bytes_max), " in ",
                                             FormatInteger(now.resident_array_count)),
                                style)});
  if (limits.region_count_max == 0) return;
  table.AddRow(
      {"regions",
       Gauge(static_cast<double>(now.region_bytes), static_cast<double>(limits.region_bytes_max),
             absl::StrCat(FormatBytes(now.region_bytes), " in ", FormatInteger(now.region_count)),
             style)});
}

}  // namespace

void WatchHistory::Add(absl::Time time, HealthStatus health, const ServerStatistics& statistics) {
  const std::optional<ServerStatistics> before = statistics_;
  const absl::Duration passed = time - time_;
  health_ = health;
  statistics_ = statistics;
  time_ = time;
  silence_.clear();
  if (!before || passed <= absl::ZeroDuration() || statistics.uptime < before->uptime) return;
  spans_.push_back(
      {.jobs_per_second = PerSecond(before->jobs_succeeded, statistics.jobs_succeeded, passed),
       .refused_per_second = PerSecond(before->jobs_refused, statistics.jobs_refused, passed),
       .failed_per_second = PerSecond(before->jobs_failed, statistics.jobs_failed, passed),
       .bytes_per_second = PerSecond(before->bytes_processed, statistics.bytes_processed, passed),
       .busy_share = statistics.lane_count == 0
                         ? 0
                         : static_cast<double>(statistics.lanes_busy) / statistics.lane_count});
  if (spans_.size() > kSpansMax) spans_.pop_front();
}

void WatchHistory::AddSilence(const absl::Status& why) {
  health_ = HealthStatus::kUnknown;
  silence_ = std::string(why.message());
}

std::vector<std::string> WatchLines(const WatchHistory& history, const TextStyle& style) {
  const absl::string_view separator = style.separator();
  std::vector<std::string> lines = {absl::StrCat(
      style.Bold(history.target()), separator, "gridfold ", history.info().version, separator,
      DescribeDevices(history.info()), separator,
      history.health() == HealthStatus::kServing ? HealthName(history.health())
                                                 : style.Error(HealthName(history.health())))};
  if (!history.silence().empty()) lines.push_back(style.Error(history.silence()));
  if (!history.statistics()) return lines;
  const ServerStatistics& now = *history.statistics();
  Table table({Alignment::kLeft, Alignment::kLeft});
  table.AddRow({"up for", absl::FormatDuration(absl::Trunc(now.uptime, absl::Seconds(1)))});
  table.AddRow({"jobs", absl::StrCat(FormatInteger(now.jobs_succeeded), " answered, ",
                                     FormatInteger(now.jobs_failed), " failed, ",
                                     FormatInteger(now.jobs_refused), " refused")});
  AddRates(history, style, table);
  AddGauges(history, style, table);
  if (history.spans().size() > 1) {
    table.AddRow({"answers", DrawSpans(history.spans(), style, [](const WatchedSpan& span) {
                    return span.jobs_per_second;
                  })});
    table.AddRow({"busy lanes", DrawSpans(history.spans(), style, [](const WatchedSpan& span) {
                    return span.busy_share;
                  })});
  }
  std::ostringstream text;
  table.Print(style, text);
  for (const absl::string_view line : absl::StrSplit(text.str(), '\n', absl::SkipEmpty())) {
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace gridfold::client
