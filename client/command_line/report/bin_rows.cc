#include "client/command_line/report/bin_rows.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"

namespace gridfold::client {
namespace {

// Number of listed bins, whichever list they are in.
size_t ListedCount(const HistogramCounts& counts) {
  return std::max(counts.counts.size(), counts.weight_sums.size());
}

double ValueAt(const HistogramCounts& counts, size_t position) {
  return counts.weight_sums.empty() ? static_cast<double>(counts.counts[position])
                                    : counts.weight_sums[position];
}

uint64_t BinAt(const HistogramCounts& counts, size_t position) {
  return counts.bin_indices.empty() ? position : counts.bin_indices[position];
}

std::string IntegerLabel(absl::int128 first_value, uint64_t begin, uint64_t end) {
  // An int64, or where it is too large for that a uint64.
  const auto value = [&](uint64_t bin) {
    const absl::int128 integer = first_value + bin;
    return integer < 0 ? FormatInteger(static_cast<int64_t>(integer))
                       : FormatInteger(static_cast<uint64_t>(integer));
  };
  return end - begin == 1 ? value(begin) : absl::StrCat(value(begin), " to ", value(end - 1));
}

// The lower edge of each place of `step` bins, and the upper edge of the last one; of integer bins
// the lowest integer of each, and the last integer.
std::vector<std::string> PlaceLabels(const ResolvedBins& bins, absl::int128 first_value,
                                     uint64_t step) {
  std::vector<double> edges;
  std::vector<std::string> integers;
  for (uint64_t bin = 0; bin < bins.bin_count; bin += step) {
    if (bins.edges.empty()) {
      integers.push_back(IntegerLabel(first_value, bin, bin + 1));
    } else {
      edges.push_back(bins.edges[bin]);
    }
  }
  if (bins.edges.empty()) {
    integers.push_back(IntegerLabel(first_value, bins.bin_count - 1, bins.bin_count));
    return integers;
  }
  edges.push_back(bins.edges.back());
  return FormatEdges(edges);
}

std::vector<double> RowEdges(const ResolvedBins& bins, const std::map<uint64_t, double>& sums,
                             uint64_t step) {
  std::vector<double> edges;
  for (const auto& [row, sum] : sums) {
    edges.push_back(bins.edges[row * step]);
    edges.push_back(bins.edges[std::min(row * step + step, bins.bin_count)]);
  }
  return edges;
}

}  // namespace

absl::int128 FirstValue(const HistogramOptions& options, size_t index) {
  if (options.bins.empty()) return 0;
  const BinSpecification& bins = options.bins[index < options.bins.size() ? index : 0];
  const IntegerBins* const integer = std::get_if<IntegerBins>(&bins);
  if (integer == nullptr) return 0;
  if (integer->first_unsigned_value != 0) return integer->first_unsigned_value;
  return integer->first_value;
}

uint64_t BinsPerPlace(uint64_t bin_count, uint64_t places_max) {
  return places_max == 0 ? 1 : std::max<uint64_t>(1, (bin_count + places_max - 1) / places_max);
}

BinRows MakeBinRows(const HistogramCounts& counts, const ResolvedBins& bins,
                    absl::int128 first_value, uint64_t rows_max) {
  BinRows result;
  const size_t listed = ListedCount(counts);
  if (listed > rows_max) result.bins_per_row = BinsPerPlace(bins.bin_count, rows_max);
  const uint64_t step = result.bins_per_row;
  std::map<uint64_t, double> sums;
  for (size_t i = 0; i < listed; ++i) sums[BinAt(counts, i) / step] += ValueAt(counts, i);

  const std::vector<std::string> edges =
      bins.edges.empty() ? std::vector<std::string>() : FormatEdges(RowEdges(bins, sums, step));
  for (const auto& [row, sum] : sums) {
    const uint64_t begin = row * step;
    const uint64_t end = std::min(begin + step, bins.bin_count);
    const size_t edge = 2 * result.rows.size();
    const char* const closing = end == bins.bin_count ? "]" : ")";
    result.rows.push_back({bins.edges.empty()
                               ? IntegerLabel(first_value, begin, end)
                               : absl::StrCat("[", edges[edge], ", ", edges[edge + 1], closing),
                           sum, begin, end});
  }
  return result;
}

HeatMap MakeBinMap(const HistogramCounts& counts, const std::vector<ResolvedBins>& bins,
                   const std::vector<absl::int128>& first_values, uint64_t columns_max,
                   uint64_t rows_max) {
  const uint64_t y_bin_count = bins[1].bin_count;
  const uint64_t x_step = BinsPerPlace(bins[0].bin_count, columns_max);
  const uint64_t y_step = BinsPerPlace(y_bin_count, rows_max);
  const std::vector<std::string> x_labels = PlaceLabels(bins[0], first_values[0], x_step);
  HeatMap map = {.x_count = (bins[0].bin_count + x_step - 1) / x_step,
                 .y_count = (y_bin_count + y_step - 1) / y_step,
                 .values = {},
                 .y_labels = PlaceLabels(bins[1], first_values[1], y_step),
                 .x_first_label = x_labels.front(),
                 .x_last_label = x_labels.back()};
  map.values.assign(map.x_count * map.y_count, 0.0);
  for (size_t i = 0; i < ListedCount(counts); ++i) {
    const uint64_t bin = BinAt(counts, i);
    map.values[bin / y_bin_count / x_step * map.y_count + bin % y_bin_count / y_step] +=
        ValueAt(counts, i);
  }
  map.y_labels.resize(map.y_count);
  return map;
}

}  // namespace gridfold::client
