#include "client/command_line/report/description_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"

namespace gridfold::client {
namespace {

constexpr size_t kSparklineWidth = 16;

// Six digits: the table is for people, and JSON has all of them.
std::string FormatDescribed(double value) {
  return std::isnan(value) ? "NaN" : absl::StrFormat("%.6g", value);
}

std::string FormatDescribed(const ReductionResult& result, Statistic statistic) {
  const StatisticValues* const values = result.Find(statistic);
  if (values == nullptr) return "";
  return std::visit(
      [](const auto& list) -> std::string {
        using T = typename std::decay_t<decltype(list)>::value_type;
        if constexpr (std::is_same_v<T, bool>) {
          return list[0] ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          return FormatDescribed(list[0]);
        } else {
          return FormatInteger(list[0]);
        }
      },
      *values);
}

std::vector<std::string> RowOf(const ArrayDescriptionReport& array, const TextStyle& style) {
  const std::string name = array.name.empty() && array.input ? array.input->source : array.name;
  std::vector<std::string> row = {
      name, array.input ? std::string(ElementTypeName(array.input->element_type)) : "text"};
  for (const Statistic statistic : kDescribedStatistics) {
    row.push_back(array.statistics ? FormatDescribed(*array.statistics, statistic) : "");
  }
  for (size_t i = 0; i < std::size(kDescribedQuantiles); ++i) {
    row.push_back(array.histogram ? FormatDescribed(array.histogram->channels[0].quantile_values[i])
                                  : "");
  }
  row.push_back(array.histogram ? DrawSparkline(array.histogram->channels[0].counts,
                                                kSparklineWidth, style.unicode)
                                : "");
  return row;
}

}  // namespace

std::string DrawSparkline(const std::vector<uint64_t>& bins, size_t width, bool unicode) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* kAscii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
  std::vector<uint64_t> columns(std::min(width, bins.size()));
  for (size_t i = 0; i < bins.size(); ++i) columns[i * columns.size() / bins.size()] += bins[i];
  const uint64_t most = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
  std::string line;
  for (const uint64_t count : columns) {
    // What is there at all is seen.
    const double share =
        static_cast<double>(count) / static_cast<double>(std::max(most, uint64_t{1}));
    const auto level = static_cast<size_t>(std::ceil(share * 8));
    line += unicode ? kBlocks[level] : kAscii[level];
  }
  return line;
}

void PrintDescriptions(const std::string& source, const std::vector<ArrayDescriptionReport>& arrays,
                       const TextStyle& style, std::ostream& out) {
  out << source << ": " << arrays.size() << (arrays.size() == 1 ? " array" : " arrays") << "\n\n";
  std::vector<Alignment> alignments(12, Alignment::kRight);
  alignments[0] = alignments[1] = alignments[11] = Alignment::kLeft;
  Table table(alignments);
  table.SetHeading({"name", "type", "count", "missing", "min", "max", "mean", "deviation", "25%",
                    "50%", "75%", "histogram"});
  size_t bins = 0;
  for (const ArrayDescriptionReport& array : arrays) {
    table.AddRow(RowOf(array, style));
    if (array.histogram) bins = array.histogram->bins[0].bin_count;
  }
  table.Print(style, out);
  if (bins == 0) return;
  out << "\nQuartiles and medians are read off " << bins
      << " even bins: each is within one bin, (max - min) / " << bins
      << ", of the element of that rank.\n";
}

}  // namespace gridfold::client
