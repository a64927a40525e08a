#include "client/command_line/report/table_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/report/bin_rows.h"
#include "client/command_line/report/reduction_report.h"

namespace gridfold::client {
namespace {

// A value, without commas between thousands.
std::string TextOf(const StatisticValues& values, uint64_t group) {
  return absl::StrReplaceAll(FormatValue(values, group), {{",", ""}});
}

// One element, without commas between thousands.
std::string TextOf(const ArrayView& array, uint64_t index) {
  return absl::StrReplaceAll(FormatElement(array, index), {{",", ""}});
}

std::vector<std::string> InputCells(const InputDescription& input) {
  return {input.source, input.column};
}

std::vector<std::string> HeadingWith(std::span<const uint64_t> shape) {
  std::vector<std::string> heading = {"source", "column"};
  for (size_t d = 0; d < shape.size(); ++d) heading.push_back(absl::StrCat("index_", d));
  return heading;
}

// What comes before the values in the row of element `index` of a result of this shape.
std::vector<std::string> RowWith(const InputDescription& input, std::span<const uint64_t> shape,
                                 uint64_t index) {
  std::vector<std::string> row = InputCells(input);
  row.resize(row.size() + shape.size());
  for (size_t d = 0; d < shape.size(); index /= shape[shape.size() - ++d]) {
    row[row.size() - 1 - d] = absl::StrCat(index % shape[shape.size() - 1 - d]);
  }
  return row;
}

// The shape of the groups; servers that have several without one are answered for, too.
std::vector<uint64_t> GroupShape(const ReductionResult& result) {
  if (result.result_shape.empty() && result.group_count != 1) return {result.group_count};
  return result.result_shape;
}

std::string EdgeText(const ResolvedBins& bins, absl::int128 first_value, uint64_t bin,
                     bool is_upper) {
  if (!bins.edges.empty()) return FormatReal(bins.edges[bin + (is_upper ? 1 : 0)]);
  const absl::int128 integer = first_value + bin;
  return integer < 0 ? absl::StrCat(static_cast<int64_t>(integer))
                     : absl::StrCat(static_cast<uint64_t>(integer));
}

// The values of a histogram's listed bins, as text.
std::vector<std::string> BinTexts(const HistogramCounts& counts) {
  std::vector<std::string> texts;
  for (const uint64_t count : counts.counts) texts.push_back(absl::StrCat(count));
  for (const double sum : counts.weight_sums) texts.push_back(FormatReal(sum));
  return texts;
}

template <typename T>
void Append(const std::vector<T>& values, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace

DataTable ToTable(const Answer<ReductionResult>& answer) {
  const std::vector<uint64_t> shape = GroupShape(answer.result);
  DataTable table = {.heading = HeadingWith(shape)};
  for (const ReductionResult::Entry& entry : answer.result.entries) {
    table.heading.emplace_back(StatisticName(entry.statistic));
  }
  for (uint64_t group = 0; group < answer.result.group_count; ++group) {
    std::vector<std::string> row = RowWith(answer.input, shape, group);
    for (const ReductionResult::Entry& entry : answer.result.entries) {
      // An empty field stands for no value, as in CSV that is read.
      row.push_back(HasValue(entry, group) ? TextOf(entry.values, group) : "");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

DataTable ToTable(const Answer<ScanResult>& answer) {
  const ScanResult& scan = answer.result;
  DataTable table = {.heading = HeadingWith(scan.shape)};
  table.heading.emplace_back("value");
  const ArrayView results(scan.element_type, scan.data.data(), scan.element_count());
  for (uint64_t index = 0; index < results.element_count(); ++index) {
    table.rows.push_back(RowWith(answer.input, scan.shape, index));
    table.rows.back().push_back(TextOf(results, index));
  }
  return table;
}

DataTable ToTable(const Answer<HistogramResult>& answer, const HistogramOptions& options) {
  const HistogramResult& result = answer.result;
  const bool is_two_dimensional = options.y_array.has_value();
  DataTable table = {.heading = {"source", "column"}};
  if (is_two_dimensional) {
    table.heading.insert(table.heading.end(), {"lower_x", "upper_x", "lower_y", "upper_y"});
  } else {
    table.heading.insert(table.heading.end(), {"channel", "lower", "upper"});
  }
  table.heading.emplace_back(options.weights ? "weight_sum" : "count");
  const auto add_edges = [&](size_t index, uint64_t bin, std::vector<std::string>& row) {
    for (const bool is_upper : {false, true}) {
      row.push_back(EdgeText(result.bins[index], FirstValue(options, index), bin, is_upper));
    }
  };
  for (size_t channel = 0; channel < result.channels.size(); ++channel) {
    const HistogramCounts& counts = result.channels[channel];
    const std::vector<std::string> texts = BinTexts(counts);
    for (size_t i = 0; i < texts.size(); ++i) {
      const uint64_t bin = counts.bin_indices.empty() ? i : counts.bin_indices[i];
      std::vector<std::string> row = InputCells(answer.input);
      if (is_two_dimensional) {
        add_edges(0, bin / result.bins[1].bin_count, row);
        add_edges(1, bin % result.bins[1].bin_count, row);
      } else {
        row.push_back(absl::StrCat(channel));
        add_edges(channel, bin, row);
      }
      row.push_back(texts[i]);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

DataTable ToTable(const std::string& source, const std::vector<ArrayDescriptionReport>& arrays) {
  DataTable table = {.heading = {"source", "name", "type"}};
  for (const Statistic statistic : kDescribedStatistics) {
    table.heading.emplace_back(StatisticName(statistic));
  }
  for (const double quantile : kDescribedQuantiles) {
    table.heading.push_back(absl::StrCat("quantile_", quantile));
  }
  for (const ArrayDescriptionReport& array : arrays) {
    std::vector<std::string> row = {
        source, array.name,
        array.input ? std::string(ElementTypeName(array.input->element_type)) : "text"};
    for (const Statistic statistic : kDescribedStatistics) {
      const StatisticValues* const values =
          array.statistics ? array.statistics->Find(statistic) : nullptr;
      row.push_back(values == nullptr ? "" : TextOf(*values, 0));
    }
    for (size_t i = 0; i < std::size(kDescribedQuantiles); ++i) {
      row.push_back(array.histogram ? FormatReal(array.histogram->channels[0].quantile_values[i])
                                    : "");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

absl::StatusOr<HostArray> ToArray(const ReductionResult& result) {
  if (result.entries.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--output: .npy holds one array, and these are ",
                                                   result.entries.size(),
                                                   " statistics; ask for one by --stat"));
  }
  const ReductionResult::Entry& entry = result.entries[0];
  const bool lacks_values =
      std::find(entry.has_value.begin(), entry.has_value.end(), false) != entry.has_value.end();
  if (lacks_values && !std::holds_alternative<std::vector<double>>(entry.values)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--output: .npy has no place for a value that a group does not have (",
        StatisticName(entry.statistic), "); give --empty a value, or ask for another form"));
  }
  HostArray array = {.shape = GroupShape(result)};
  std::visit(
      [&](auto list) {
        using T = typename std::decay_t<decltype(list)>::value_type;
        if constexpr (std::is_same_v<T, bool>) {
          array.element_type = ElementType::kUint8;
          for (const bool value : list) array.bytes.push_back(value ? 1 : 0);
        } else {
          if constexpr (std::is_same_v<T, double>) {
            for (uint64_t group = 0; lacks_values && group < list.size(); ++group) {
              if (!HasValue(entry, group)) list[group] = std::numeric_limits<double>::quiet_NaN();
            }
          }
          array.element_type = std::is_same_v<T, double>    ? ElementType::kFloat64
                               : std::is_same_v<T, int64_t> ? ElementType::kInt64
                                                            : ElementType::kUint64;
          Append(list, array.bytes);
        }
      },
      entry.values);
  return array;
}

absl::StatusOr<HostArray> ToArray(const HistogramResult& result, const HistogramOptions& options) {
  if (options.format == HistogramFormat::kSparse) {
    return absl::InvalidArgumentError("--output: .npy has every bin; leave out --sparse");
  }
  HostArray array = {.element_type =
                         options.weights ? ElementType::kFloat64 : ElementType::kUint64};
  if (result.channels.size() > 1) array.shape.push_back(result.channels.size());
  array.shape.push_back(result.bins[0].bin_count);
  if (options.y_array) array.shape.push_back(result.bins[1].bin_count);
  for (size_t channel = 0; channel < result.channels.size(); ++channel) {
    if (!options.y_array && result.bins[channel].bin_count != result.bins[0].bin_count) {
      return absl::InvalidArgumentError(
          "--output: .npy holds one matrix, and the channels have different numbers of bins");
    }
    Append(result.channels[channel].counts, array.bytes);
    Append(result.channels[channel].weight_sums, array.bytes);
  }
  return array;
}

}  // namespace gridfold::client
