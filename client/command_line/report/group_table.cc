#include "client/command_line/report/group_table.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/report/bin_rows.h"
#include "client/command_line/report/group_report.h"
#include "client/command_line/report/table_cells.h"

namespace gridfold::client {
namespace {

std::string KeyOf(const KeyedReductionResult& result, const KeyedReductionOptions& options,
                  uint64_t group) {
  const auto* const range = std::get_if<KeyRange>(&options.groups);
  if (range == nullptr) return TextOf(result.keys, group);
  if (range->first_unsigned_key != 0) return absl::StrCat(range->first_unsigned_key + group);
  return absl::StrCat(range->first_key + static_cast<int64_t>(group));
}

void AddBins(const KeyedReductionResult& result, const HistogramOptions& layout, uint64_t group,
             std::vector<std::string>& row) {
  if (result.bins.size() == 1) {
    AddEdges(result.bins[0], FirstValue(layout, 0), group, row);
    return;
  }
  const uint64_t y_count = result.bins[1].bin_count;
  AddEdges(result.bins[0], FirstValue(layout, 0), group / y_count, row);
  AddEdges(result.bins[1], FirstValue(layout, 1), group % y_count, row);
}

std::vector<std::string> NamesOfGroups(const KeyedReductionResult& result) {
  if (result.bins.empty()) return {"key"};
  if (result.bins.size() == 1) return {"lower", "upper"};
  return {"lower_x", "upper_x", "lower_y", "upper_y"};
}

}  // namespace

DataTable ToTable(const Answer<KeyedReductionResult>& answer,
                  const KeyedReductionOptions& options) {
  const KeyedReductionResult& result = answer.result;
  DataTable table = {.heading = HeadingWith({})};
  for (std::string& name : NamesOfGroups(result)) table.heading.push_back(std::move(name));
  table.heading.emplace_back("elements");
  AddNames(result.entries, table.heading);
  for (size_t i = 0; i < result.quantile_values.size(); ++i) {
    const std::string name = NameOfQuantile(options, i);
    table.heading.push_back(name == "median" ? name : absl::StrCat("quantile_", name));
  }
  HistogramOptions layout;
  if (const auto* const bins = std::get_if<KeyBins>(&options.groups)) layout.bins = bins->bins;
  for (uint64_t group = 0; group < result.group_count; ++group) {
    std::vector<std::string> row = InputCells(answer.input);
    if (result.bins.empty()) {
      row.push_back(KeyOf(result, options, group));
    } else {
      AddBins(result, layout, group, row);
    }
    row.push_back(absl::StrCat(result.counts[group]));
    AddEntries(result.entries, group, row);
    for (const StatisticValues& values : result.quantile_values) {
      row.push_back(TextOf(values, group));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

absl::StatusOr<HostArray> ToArray(const KeyedReductionResult& result) {
  std::vector<uint64_t> shape = {result.group_count};
  if (result.bins.size() == 2) shape = {result.bins[0].bin_count, result.bins[1].bin_count};
  if (result.quantile_values.empty()) return ToArray(result.entries, std::move(shape));
  if (result.entries.empty() && result.quantile_values.size() == 1) {
    return ToArray(result.quantile_values.front(), std::move(shape));
  }
  return absl::InvalidArgumentError(
      "--output: .npy holds one array; ask for one statistic, or for one quantile without --op");
}

}  // namespace gridfold::client
