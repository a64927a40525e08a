#include "client/command_line/report/reduction_report.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"

namespace gridfold::client {

std::string FormatValue(const StatisticValues& values, uint64_t group) {
  return std::visit(
      [group](const auto& list) -> std::string {
        using T = typename std::decay_t<decltype(list)>::value_type;
        if constexpr (std::is_same_v<T, bool>) {
          return list[group] ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          return FormatReal(list[group]);
        } else {
          return FormatInteger(list[group]);
        }
      },
      values);
}

std::string FormatValue(const ReductionResult::Entry& entry, uint64_t group) {
  if (entry.output_type == ElementType::kFloat64) return FormatValue(entry.values, group);
  return FormatElement(ArrayView(entry.output_type, entry.data.data(), group + 1), group);
}

bool HasValue(const ReductionResult::Entry& entry, uint64_t group) {
  return entry.has_value.empty() || entry.has_value[group];
}

namespace {

std::string FormatEntry(const ReductionResult::Entry& entry, uint64_t group) {
  return HasValue(entry, group) ? FormatValue(entry, group) : "null";
}

void PrintWhole(const ReductionResult& result, const TextStyle& style, std::ostream& out) {
  Table table({Alignment::kLeft, Alignment::kRight});
  for (const ReductionResult::Entry& entry : result.entries) {
    table.AddRow({std::string(StatisticName(entry.statistic)), FormatEntry(entry, 0)});
  }
  table.Print(style, out);
}

void PrintGroups(const ReductionResult& result, uint64_t rows_max, const TextStyle& style,
                 std::ostream& out) {
  std::vector<std::string> heading = {"group"};
  for (const ReductionResult::Entry& entry : result.entries) {
    heading.emplace_back(StatisticName(entry.statistic));
  }
  Table table(std::vector<Alignment>(heading.size(), Alignment::kRight));
  table.SetHeading(heading);
  const uint64_t shown =
      rows_max == 0 ? result.group_count : std::min(rows_max, result.group_count);
  for (uint64_t group = 0; group < shown; ++group) {
    std::vector<std::string> row = {FormatPosition(result.result_shape, group)};
    for (const ReductionResult::Entry& entry : result.entries) {
      row.push_back(FormatEntry(entry, group));
    }
    table.AddRow(std::move(row));
  }
  table.Print(style, out);
  if (shown < result.group_count) {
    out << "and " << FormatInteger(result.group_count - shown)
        << " more groups (--rows 0 shows all)\n";
  }
}

}  // namespace

void PrintReduction(const Answer<ReductionResult>& answer, bool grouped, uint64_t rows_max,
                    const TextStyle& style, std::ostream& out) {
  out << DescribeInput(answer.input, style) << "\n\n";
  // Whatever was asked for, an answer may have any number of groups.
  if (grouped || answer.result.group_count != 1) {
    PrintGroups(answer.result, rows_max, style, out);
  } else {
    PrintWhole(answer.result, style, out);
  }
  out << "\n" << DescribeExecution(answer.result.execution, answer.round_trip_time, style) << "\n";
}

}  // namespace gridfold::client
