#include "client/command_line/report/table_report.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/report/bin_rows.h"
#include "client/command_line/report/table_cells.h"

namespace gridfold::client {
namespace {

// The shape of the groups; servers that have several without one are answered for, too.
std::vector<uint64_t> GroupShape(const ReductionResult& result) {
  if (result.result_shape.empty() && result.group_count != 1) return {result.group_count};
  return result.result_shape;
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
  AddNames(answer.result.entries, table.heading);
  for (uint64_t group = 0; group < answer.result.group_count; ++group) {
    std::vector<std::string> row = RowWith(answer.input, shape, group);
    AddEntries(answer.result.entries, group, row);
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
    AddEdges(result.bins[index], FirstValue(options, index), bin, row);
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
  return ToArray(result.entries, GroupShape(result));
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
