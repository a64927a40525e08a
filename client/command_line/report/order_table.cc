#include "client/command_line/report/order_table.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/report/table_cells.h"

namespace gridfold::client {
namespace {

std::vector<const StatisticValues*> AllValues(const QuantileResult& result) {
  std::vector<const StatisticValues*> all;
  for (const StatisticValues& values : result.quantile_values) all.push_back(&values);
  for (const StatisticValues& values : result.rank_values) all.push_back(&values);
  return all;
}

}  // namespace

DataTable ToTable(const Answer<QuantileResult>& answer, const QuantileOptions& options) {
  const QuantileResult& result = answer.result;
  DataTable table = {.heading = HeadingWith(result.result_shape)};
  for (const double quantile : options.quantiles) {
    table.heading.push_back(absl::StrCat("quantile_", FormatReal(quantile)));
  }
  for (const uint64_t rank : options.ranks) table.heading.push_back(absl::StrCat("rank_", rank));
  for (uint64_t group = 0; group < result.group_count; ++group) {
    std::vector<std::string> row = RowWith(answer.input, result.result_shape, group);
    for (const StatisticValues* const values : AllValues(result)) {
      row.push_back(TextOf(*values, group));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

DataTable ToTable(const Answer<TopResult>& answer) {
  const TopResult& result = answer.result;
  DataTable table = {.heading = HeadingWith(result.result_shape)};
  table.heading.insert(table.heading.end(), {"value", "index"});
  for (uint64_t i = 0; i < result.indices.size(); ++i) {
    std::vector<std::string> row = RowWith(answer.input, result.result_shape, i);
    row.push_back(TextOf(result.values, i));
    row.push_back(absl::StrCat(result.indices[i]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

absl::StatusOr<HostArray> ToArray(const QuantileResult& result) {
  const std::vector<const StatisticValues*> all = AllValues(result);
  if (all.size() == 1) return ToArray(*all[0], result.result_shape);
  HostArray array;
  for (const StatisticValues* const values : all) {
    if (values->index() != all[0]->index()) {
      return absl::InvalidArgumentError(
          "--output: .npy holds one array, and the quantiles and the ranks are not of one type; "
          "ask for either");
    }
    HostArray one = ToArray(*values, result.result_shape);
    array.element_type = one.element_type;
    array.bytes += one.bytes;
  }
  array.shape = result.result_shape;
  array.shape.insert(array.shape.begin(), all.size());
  return array;
}

HostArray ToArray(const TopResult& result) { return ToArray(result.values, result.result_shape); }

}  // namespace gridfold::client
