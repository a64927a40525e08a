#include "client/command_line/report/order_report.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "client/command_line/report/reduction_report.h"

namespace gridfold::client {
namespace {

struct NamedValues {
  std::string name;
  const StatisticValues* values;
};

// The quantiles, then the ranks.
std::vector<NamedValues> NameValues(const QuantileResult& result, const QuantileOptions& options) {
  std::vector<NamedValues> named;
  for (size_t i = 0; i < result.quantile_values.size(); ++i) {
    named.push_back({FormatReal(options.quantiles[i]), &result.quantile_values[i]});
  }
  for (size_t i = 0; i < result.rank_values.size(); ++i) {
    named.push_back(
        {absl::StrCat("rank ", FormatInteger(options.ranks[i])), &result.rank_values[i]});
  }
  return named;
}

uint64_t ShownOf(uint64_t count, uint64_t rows_max) {
  return rows_max == 0 ? count : std::min(rows_max, count);
}

void PrintRest(uint64_t rest, const char* what, std::ostream& out) {
  if (rest > 0)
    out << "and " << FormatInteger(rest) << " more " << what << " (--rows 0 shows all)\n";
}

void PrintQuantileLines(const std::vector<NamedValues>& named, const TextStyle& style,
                        std::ostream& out) {
  Table table({Alignment::kLeft, Alignment::kRight});
  for (const NamedValues& entry : named) table.AddRow({entry.name, FormatValue(*entry.values, 0)});
  table.Print(style, out);
}

void PrintQuantileGroups(const QuantileResult& result, const std::vector<NamedValues>& named,
                         uint64_t rows_max, const TextStyle& style, std::ostream& out) {
  std::vector<std::string> heading = {"group"};
  for (const NamedValues& entry : named) heading.push_back(entry.name);
  Table table(std::vector<Alignment>(heading.size(), Alignment::kRight));
  table.SetHeading(heading);
  const uint64_t shown = ShownOf(result.group_count, rows_max);
  for (uint64_t group = 0; group < shown; ++group) {
    std::vector<std::string> row = {FormatPosition(result.result_shape, group)};
    for (const NamedValues& entry : named) row.push_back(FormatValue(*entry.values, group));
    table.AddRow(std::move(row));
  }
  table.Print(style, out);
  PrintRest(result.group_count - shown, "groups", out);
}

}  // namespace

void PrintQuantiles(const Answer<QuantileResult>& answer, const QuantileOptions& options,
                    uint64_t rows_max, const TextStyle& style, std::ostream& out) {
  const QuantileResult& result = answer.result;
  const std::vector<NamedValues> named = NameValues(result, options);
  out << DescribeInput(answer.input, style) << "\n\n";
  const bool is_whole = std::holds_alternative<WholeArray>(options.grouping);
  if (is_whole && result.group_count == 1) {
    PrintQuantileLines(named, style, out);
  } else {
    PrintQuantileGroups(result, named, rows_max, style, out);
  }
  out << "\n" << DescribeExecution(result.execution, answer.round_trip_time, style) << "\n";
}

void PrintTop(const Answer<TopResult>& answer, const TopOptions& options, uint64_t rows_max,
              const TextStyle& style, std::ostream& out) {
  const TopResult& result = answer.result;
  out << DescribeInput(answer.input, style) << "\n\n";
  const bool is_whole = std::holds_alternative<WholeArray>(options.grouping);
  std::vector<std::string> heading = {"value", "index"};
  if (!is_whole) heading.insert(heading.begin(), "group");
  Table table(std::vector<Alignment>(heading.size(), Alignment::kRight));
  table.SetHeading(heading);
  std::vector<uint64_t> group_shape = result.result_shape;
  if (!group_shape.empty()) group_shape.pop_back();
  const uint64_t shown = ShownOf(result.indices.size(), rows_max);
  for (uint64_t i = 0; i < shown; ++i) {
    std::vector<std::string> row = {FormatValue(result.values, i),
                                    FormatInteger(result.indices[i])};
    if (!is_whole) row.insert(row.begin(), FormatPosition(group_shape, i / options.count));
    table.AddRow(std::move(row));
  }
  table.Print(style, out);
  PrintRest(result.indices.size() - shown, "elements", out);
  out << "\n" << DescribeExecution(result.execution, answer.round_trip_time, style) << "\n";
}

}  // namespace gridfold::client
