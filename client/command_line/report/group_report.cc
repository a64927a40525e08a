#include "client/command_line/report/group_report.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "client/command_line/report/reduction_report.h"

namespace gridfold::client {
namespace {

// How groups are called: by their keys, or by the lower edges of their bins.
class GroupNames {
 public:
  GroupNames(const KeyedReductionResult& result, const KeyedReductionOptions& options)
      : result_(result) {
    if (const auto* const range = std::get_if<KeyRange>(&options.groups)) range_ = *range;
    for (const ResolvedBins& bins : result.bins) edges_.push_back(FormatEdges(bins.edges));
  }

  std::string heading() const { return edges_.empty() ? "key" : "bin from"; }

  std::string Of(uint64_t group) const {
    if (result_.bins.empty()) {
      const bool is_found =
          std::visit([](const auto& keys) { return !keys.empty(); }, result_.keys);
      return is_found ? FormatValue(result_.keys, group) : OfRange(group);
    }
    if (edges_.size() == 1) return OfBin(0, group);
    const uint64_t y_count = result_.bins[1].bin_count;
    return absl::StrCat(OfBin(0, group / y_count), ", ", OfBin(1, group % y_count));
  }

 private:
  std::string OfRange(uint64_t group) const {
    if (range_.first_unsigned_key != 0) return FormatInteger(range_.first_unsigned_key + group);
    return FormatInteger(range_.first_key + static_cast<int64_t>(group));
  }

  // Integer bins have no edges: they go by their numbers.
  std::string OfBin(size_t axis, uint64_t bin) const {
    return bin < edges_[axis].size() ? edges_[axis][bin] : absl::StrCat(bin);
  }

  const KeyedReductionResult& result_;
  KeyRange range_;
  std::vector<std::vector<std::string>> edges_;
};

}  // namespace

std::string NameOfQuantile(const KeyedReductionOptions& options, size_t i) {
  const bool is_median =
      options.quantiles[i] == 0.5 && options.quantile_method == QuantileMethod::kMean;
  return is_median ? "median" : FormatReal(options.quantiles[i]);
}

void PrintGroups(const Answer<KeyedReductionResult>& answer, const KeyedReductionOptions& options,
                 uint64_t rows_max, const TextStyle& style, std::ostream& out) {
  const KeyedReductionResult& result = answer.result;
  out << DescribeInput(answer.input, style) << "\n\n";
  const GroupNames names(result, options);
  std::vector<std::string> heading = {names.heading(), "elements"};
  for (const ReductionResult::Entry& entry : result.entries) {
    heading.emplace_back(StatisticName(entry.statistic));
  }
  for (size_t i = 0; i < result.quantile_values.size(); ++i) {
    heading.push_back(NameOfQuantile(options, i));
  }
  Table table(std::vector<Alignment>(heading.size(), Alignment::kRight));
  table.SetHeading(heading);
  const uint64_t shown =
      rows_max == 0 ? result.group_count : std::min(rows_max, result.group_count);
  for (uint64_t group = 0; group < shown; ++group) {
    std::vector<std::string> row = {names.Of(group), FormatInteger(result.counts[group])};
    for (const ReductionResult::Entry& entry : result.entries) {
      row.push_back(FormatValue(entry, group));
    }
    for (const StatisticValues& values : result.quantile_values) {
      row.push_back(FormatValue(values, group));
    }
    table.AddRow(std::move(row));
  }
  table.Print(style, out);
  if (shown < result.group_count) {
    out << "and " << FormatInteger(result.group_count - shown)
        << " more groups (--rows 0 shows all)\n";
  }
  if (result.underflow_count + result.overflow_count + result.nan_count > 0) {
    out << "outside the bins: " << FormatInteger(result.underflow_count) << " below, "
        << FormatInteger(result.overflow_count) << " above, " << FormatInteger(result.nan_count)
        << " NaN\n";
  }
  out << "\n" << DescribeExecution(result.execution, answer.round_trip_time, style) << "\n";
}

}  // namespace gridfold::client
