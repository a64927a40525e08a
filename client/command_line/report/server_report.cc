#include "client/command_line/report/server_report.h"

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"

namespace gridfold::client {
namespace {

std::string DescribeDevice(const Device& device, const TextStyle& style) {
  std::string text = device.name;
  if (!device.compute_capability.empty()) {
    absl::StrAppend(&text, style.separator(), "compute capability ", device.compute_capability);
  }
  absl::StrAppend(&text, style.separator(), device.compute_units,
                  device.compute_capability.empty() ? " threads" : " multiprocessors");
  if (device.memory_bytes > 0) {
    absl::StrAppend(&text, style.separator(), FormatBytes(device.memory_bytes));
  }
  return text;
}

void AddLimits(const ServerLimits& limits, Table& table) {
  table.AddRow({"message", absl::StrCat("up to ", FormatBytes(limits.message_bytes_max))});
  table.AddRow({"histogram", absl::StrCat("up to ", FormatInteger(limits.bin_count_max), " bins")});
  table.AddRow({"groups", absl::StrCat("up to ", FormatInteger(limits.group_count_max))});
  table.AddRow({"queue", absl::StrCat("up to ", FormatInteger(limits.queued_jobs_max), " jobs, ",
                                      FormatBytes(limits.queued_bytes_max))});
  table.AddRow({"arrays", absl::StrCat("up to ", FormatInteger(limits.array_count_max), ", ",
                                       FormatBytes(limits.resident_bytes_max))});
  if (limits.region_count_max > 0) {
    table.AddRow({"regions", absl::StrCat("up to ", FormatInteger(limits.region_count_max), ", ",
                                          FormatBytes(limits.region_bytes_max))});
  }
  table.AddRow({"streams",
                absl::StrCat("up to ", FormatInteger(limits.stream_count_max), " open, each with ",
                             FormatBytes(limits.stream_pending_bytes_max), " waiting")});
  table.AddRow(
      {"batch", absl::StrCat("up to ", FormatInteger(limits.batch_operations_max), " operations")});
  if (limits.dealt_bytes_min > 0) {
    table.AddRow({"together", absl::StrCat("all devices, from ",
                                           FormatBytes(limits.dealt_bytes_min), " of input")});
  }
}

void AddStatistics(const ServerStatistics& statistics, Table& table) {
  table.AddRow({"up for", absl::FormatDuration(absl::Trunc(statistics.uptime, absl::Seconds(1)))});
  table.AddRow({"jobs", absl::StrCat(FormatInteger(statistics.jobs_succeeded), " answered, ",
                                     FormatInteger(statistics.jobs_failed), " failed, ",
                                     FormatInteger(statistics.jobs_cancelled), " cancelled, ",
                                     FormatInteger(statistics.jobs_refused), " refused")});
  table.AddRow({"processed", FormatBytes(statistics.bytes_processed)});
  table.AddRow({"now", absl::StrCat(statistics.lanes_busy, " of ", statistics.lane_count,
                                    " lanes busy, ", FormatInteger(statistics.jobs_queued),
                                    " jobs waiting (", FormatBytes(statistics.bytes_queued), "), ",
                                    FormatInteger(statistics.resident_array_count), " arrays (",
                                    FormatBytes(statistics.resident_bytes), ")")});
}

}  // namespace

std::string HealthName(HealthStatus health) {
  switch (health) {
    case HealthStatus::kServing: return "SERVING";
    case HealthStatus::kNotServing: return "NOT_SERVING";
    case HealthStatus::kServiceUnknown: return "SERVICE_UNKNOWN";
    case HealthStatus::kUnknown: break;
  }
  return "UNKNOWN";
}

void PrintServer(const std::string& target, HealthStatus health, const ServerInfo& info,
                 const std::optional<ServerStatistics>& statistics, const TextStyle& style,
                 std::ostream& out) {
  Table table({Alignment::kLeft, Alignment::kLeft});
  table.AddRow({"server", absl::StrCat(target, style.separator(), "gridfold ", info.version,
                                       style.separator(), HealthName(health))});
  table.AddRow({"engine", info.engine});
  for (size_t i = 0; i < info.devices.size(); ++i) {
    table.AddRow({absl::StrCat("device ", i), DescribeDevice(info.devices[i], style)});
  }
  AddLimits(info.limits, table);
  if (statistics) AddStatistics(*statistics, table);
  table.Print(style, out);
}

}  // namespace gridfold::client
