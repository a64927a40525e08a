#include "client/command_line/report/relation_report.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "client/command_line/report/reduction_report.h"
#include "client/command_line/report/table_cells.h"

namespace gridfold::client {
namespace {

uint64_t CountOf(const StatisticValues& values) {
  return std::visit([](const auto& list) -> uint64_t { return list.size(); }, values);
}

// Values that stand in one row; of a matrix several rows have them.
struct ValueRow {
  PairedStatistic statistic;
  std::string row;  // Of a matrix its number, else empty.
  uint64_t first = 0;
  uint64_t count = 0;
};

std::vector<ValueRow> RowsOf(const RelateResult::Entry& entry, uint64_t column_count) {
  const uint64_t count = CountOf(entry.values);
  const bool is_matrix = count > column_count;
  if (!is_matrix) return {{entry.statistic, "", 0, count}};
  std::vector<ValueRow> rows;
  for (uint64_t i = 0; i < column_count; ++i) {
    rows.push_back({entry.statistic, absl::StrCat(i), i * column_count, column_count});
  }
  return rows;
}

// Columns that some statistic has a value in.
uint64_t WidthOf(const RelateResult& result) {
  uint64_t width = 0;
  for (const RelateResult::Entry& entry : result.entries) {
    width = std::max<uint64_t>(width, RowsOf(entry, result.column_count)[0].count);
  }
  return width;
}

}  // namespace

const char* RelationName(PairedStatistic statistic) {
  switch (statistic) {
    case PairedStatistic::kDot: return "dot";
    case PairedStatistic::kCovariance: return "covariance";
    case PairedStatistic::kCorrelation: return "correlation";
    case PairedStatistic::kMean: return "mean";
    case PairedStatistic::kVariance: return "variance";
  }
  return "";
}

std::optional<PairedStatistic> ParseRelation(absl::string_view name) {
  for (const PairedStatistic statistic : kRelations) {
    if (name == RelationName(statistic)) return statistic;
  }
  return std::nullopt;
}

void PrintRelations(const Answer<RelateResult>& answer, const TextStyle& style, std::ostream& out) {
  const RelateResult& result = answer.result;
  out << DescribeInput(answer.input, style) << "\n\n";
  const uint64_t width = WidthOf(result);
  std::vector<Alignment> alignment(width + 1, Alignment::kRight);
  alignment[0] = Alignment::kLeft;
  Table table(alignment);
  for (const RelateResult::Entry& entry : result.entries) {
    for (const ValueRow& values : RowsOf(entry, result.column_count)) {
      std::vector<std::string> row = {RelationName(entry.statistic)};
      if (!values.row.empty()) absl::StrAppend(&row[0], " ", values.row);
      for (uint64_t i = 0; i < width; ++i) {
        row.push_back(i < values.count ? FormatValue(entry.values, values.first + i) : "");
      }
      table.AddRow(std::move(row));
    }
  }
  table.Print(style, out);
  out << "\nobservations: " << FormatInteger(result.observation_count) << "\n"
      << DescribeExecution(result.execution, answer.round_trip_time, style) << "\n";
}

DataTable ToTable(const Answer<RelateResult>& answer) {
  const RelateResult& result = answer.result;
  DataTable table = {.heading = HeadingWith({})};
  table.heading.insert(table.heading.end(), {"statistic", "row"});
  const uint64_t width = WidthOf(result);
  for (uint64_t i = 0; i < width; ++i) table.heading.push_back(absl::StrCat("column_", i));
  for (const RelateResult::Entry& entry : result.entries) {
    for (const ValueRow& values : RowsOf(entry, result.column_count)) {
      std::vector<std::string> row = InputCells(answer.input);
      row.emplace_back(RelationName(entry.statistic));
      row.push_back(values.row);
      for (uint64_t i = 0; i < width; ++i) {
        row.push_back(i < values.count ? TextOf(entry.values, values.first + i) : "");
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

absl::StatusOr<HostArray> ToArray(const RelateResult& result) {
  if (result.entries.size() != 1) {
    return absl::InvalidArgumentError("--output: .npy holds one array, so ask for one statistic");
  }
  const uint64_t count = CountOf(result.entries[0].values);
  std::vector<uint64_t> shape = {count};
  if (count > result.column_count) shape = {result.column_count, result.column_count};
  return ToArray(result.entries[0].values, std::move(shape));
}

}  // namespace gridfold::client
