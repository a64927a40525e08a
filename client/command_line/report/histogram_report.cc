#include "client/command_line/report/histogram_report.h"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/output/bar_chart.h"
#include "client/command_line/output/heat_map.h"
#include "client/command_line/output/number_format.h"
#include "client/command_line/output/table.h"
#include "client/command_line/report/bin_rows.h"

namespace gridfold::client {
namespace {

std::string FormatSum(double sum, bool weighted) {
  return weighted ? FormatReal(sum) : FormatInteger(static_cast<uint64_t>(sum));
}

void PrintChannel(const HistogramCounts& counts, const ResolvedBins& bins, absl::int128 first_value,
                  uint64_t rows_max, const TextStyle& style, std::ostream& out) {
  const BinRows rows = MakeBinRows(counts, bins, first_value, rows_max);
  const bool weighted = !counts.weight_sums.empty();
  std::vector<Bar> bars;
  for (const BinRows::Row& row : rows.rows) {
    bars.push_back({row.label, FormatSum(row.sum, weighted), row.sum});
  }
  PrintBars(bars, style, out);
  if (rows.bins_per_row > 1) {
    out << "each row stands for " << FormatInteger(rows.bins_per_row) << " of the "
        << FormatInteger(bins.bin_count) << " bins (--rows 0 shows all)\n";
  }
}

void PrintMap(const HistogramResult& result, const HistogramOptions& options, uint64_t rows_max,
              const TextStyle& style, std::ostream& out) {
  PrintHeatMap(
      MakeBinMap(result.channels[0], result.bins, {FirstValue(options, 0), FirstValue(options, 1)},
                 static_cast<uint64_t>(HeatMapColumns(style.width)), rows_max),
      style, out);
}

// Samples that no bar shows, and quantiles.
void PrintRest(const HistogramCounts& counts, const std::vector<double>& quantiles,
               const TextStyle& style, std::ostream& out) {
  Table table({Alignment::kLeft, Alignment::kRight});
  table.AddRow({"below the bins", FormatInteger(counts.underflow_count)});
  table.AddRow({"above the bins", FormatInteger(counts.overflow_count)});
  table.AddRow({"NaN", FormatInteger(counts.nan_count)});
  for (size_t i = 0; i < quantiles.size(); ++i) {
    table.AddRow({absl::StrCat("quantile ", FormatReal(quantiles[i])),
                  FormatReal(counts.quantile_values[i])});
  }
  table.Print(style, out);
}

}  // namespace

void PrintHistogram(const Answer<HistogramResult>& answer, const HistogramOptions& options,
                    uint64_t rows_max, const TextStyle& style, std::ostream& out) {
  const HistogramResult& result = answer.result;
  out << DescribeInput(answer.input, style) << "\n\n";
  for (size_t channel = 0; channel < result.channels.size(); ++channel) {
    if (result.channels.size() > 1) {
      out << style.Bold(absl::StrCat("channel ", channel)) << "\n";
    }
    if (options.y_array.has_value()) {
      PrintMap(result, options, rows_max, style, out);
    } else {
      PrintChannel(result.channels[channel], result.bins[channel], FirstValue(options, channel),
                   rows_max, style, out);
    }
    out << "\n";
    PrintRest(result.channels[channel], options.quantiles, style, out);
    out << "\n";
  }
  out << DescribeExecution(result.execution, answer.round_trip_time, style) << "\n";
}

}  // namespace gridfold::client
