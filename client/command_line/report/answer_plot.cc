#include "client/command_line/report/answer_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/output/heat_map.h"
#include "client/command_line/plot/svg_chart.h"
#include "client/command_line/plot/svg_heat_map.h"
#include "client/command_line/report/bin_rows.h"

namespace gridfold::client {
namespace {

constexpr uint64_t kBarsMax = 400;
constexpr uint64_t kCellColumnsMax = 120;
constexpr uint64_t kCellRowsMax = 80;
constexpr uint64_t kLinesMax = 8;
// A line's stretches, of which two points each are drawn: more than the drawing has pixels.
constexpr uint64_t kStretchesMax = 1000;
constexpr size_t kDotsMax = 64;

std::string FormatTick(double value) { return absl::StrFormat("%.6g", value); }

ChartAxis CountAxis(const HistogramOptions& options) {
  return {.title = options.weights ? "sum of weights" : "count", .format = FormatTick};
}

// The axis of channel or coordinate `index`.
ChartAxis BinAxis(const HistogramOptions& options, size_t index, const std::string& title) {
  const size_t place = index < options.bins.size() ? index : 0;
  const bool is_logarithmic =
      !options.bins.empty() && std::holds_alternative<LogarithmicBins>(options.bins[place]);
  return {.title = title,
          .is_logarithmic = is_logarithmic,
          .format = FormatTick,
          .begins_with_zero = false};
}

// The lower edge of bin `bin`, or after the last one its upper edge; finite.
double EdgeOf(const ResolvedBins& bins, absl::int128 first_value, uint64_t bin) {
  if (bins.edges.empty()) return static_cast<double>(first_value + bin);
  const std::vector<double>& edges = bins.edges;
  if (std::isfinite(edges[bin])) return edges[bin];
  const bool is_first = bin == 0;
  // With the infinite edges two or three are left that may be finite.
  const size_t near = is_first ? 1 : bin - 1;
  const size_t beyond = is_first ? 2 : bin - 2;
  if (!std::isfinite(edges[near])) return is_first ? 0 : 1;
  const double width =
      beyond < edges.size() && std::isfinite(edges[beyond]) ? edges[near] - edges[beyond] : 0;
  return edges[near] + (width != 0 ? width : is_first ? -1 : 1);
}

std::string PlotMap(const HistogramResult& result, const HistogramOptions& options) {
  const std::vector<absl::int128> first_values = {FirstValue(options, 0), FirstValue(options, 1)};
  const HeatMap map =
      MakeBinMap(result.channels[0], result.bins, first_values, kCellColumnsMax, kCellRowsMax);
  const auto edges = [&](size_t index, uint64_t places_max) {
    const ResolvedBins& bins = result.bins[index];
    const uint64_t step = BinsPerPlace(bins.bin_count, places_max);
    std::vector<double> places;
    for (uint64_t bin = 0; bin < bins.bin_count; bin += step) {
      places.push_back(EdgeOf(bins, first_values[index], bin));
    }
    places.push_back(EdgeOf(bins, first_values[index], bins.bin_count));
    return places;
  };
  return DrawHeatMap(BinAxis(options, 0, "x"), BinAxis(options, 1, "y"),
                     {.x_edges = edges(0, kCellColumnsMax),
                      .y_edges = edges(1, kCellRowsMax),
                      .values = map.values},
                     FormatTick);
}

std::vector<ChartBar> BarsOf(const HistogramResult& result, const HistogramOptions& options,
                             size_t channel) {
  const ResolvedBins& bins = result.bins[channel];
  const absl::int128 first_value = FirstValue(options, channel);
  std::vector<ChartBar> bars;
  for (const BinRows::Row& row :
       MakeBinRows(result.channels[channel], bins, first_value, kBarsMax).rows) {
    bars.push_back({EdgeOf(bins, first_value, row.first_bin),
                    EdgeOf(bins, first_value, row.end_bin), row.sum});
  }
  return bars;
}

// Whether a value is below another one, as every number is below none.
bool IsBelow(double value, double other) {
  return value < other || (std::isnan(other) && !std::isnan(value));
}

// The results whose positions are `first`, `first` + `stride`, and so on, `count` of them: where
// they are many, the smallest and the largest of each stretch, in the order in which they come.
ChartSeries LineOf(const std::vector<double>& values, uint64_t first, uint64_t stride,
                   uint64_t count) {
  ChartSeries line{.name = "", .points = {}};
  const auto add = [&](uint64_t index) {
    line.points.emplace_back(static_cast<double>(index), values[first + index * stride]);
  };
  const uint64_t length = std::max<uint64_t>(1, count / kStretchesMax);
  for (uint64_t begin = 0; begin < count; begin += length) {
    const uint64_t end = std::min(begin + length, count);
    uint64_t low = begin;
    uint64_t high = begin;
    for (uint64_t index = begin; index < end; ++index) {
      const double value = values[first + index * stride];
      if (IsBelow(value, values[first + low * stride])) low = index;
      if (IsBelow(-value, -values[first + high * stride])) high = index;
    }
    add(std::min(low, high));
    if (low != high) add(std::max(low, high));
  }
  // The axis ends where the results do.
  if (count > 0 && line.points.back().first < static_cast<double>(count - 1)) add(count - 1);
  line.has_dots = line.points.size() <= kDotsMax;
  // A place that no axis has breaks the line instead.
  std::erase_if(line.points, [](const auto& point) { return !std::isfinite(point.second); });
  return line;
}

// The axis of a matrix along which there is a line for each row or column, if it is scanned so.
std::optional<size_t> AxisOf(const ScanResult& scan, const Grouping& grouping) {
  if (scan.shape.size() < 2) return std::nullopt;
  if (const auto* const axis = std::get_if<Axis>(&grouping)) return axis->axis;
  const auto* const axes = std::get_if<Axes>(&grouping);
  if (axes == nullptr || axes->axes.size() != 1) return std::nullopt;
  const int32_t axis = axes->axes[0];
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int32_t>(scan.shape.size()) : axis);
}

std::vector<double> ValuesOf(const ScanResult& scan) {
  const ArrayView results(scan.element_type, scan.data.data(), scan.element_count());
  return DispatchElementType(scan.element_type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    std::vector<double> values(results.element_count());
    for (uint64_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        values[i] = static_cast<double>(ElementAt<T>(results, i));
      } else {
        values[i] = ToFloat(ElementAt<T>(results, i));
      }
    }
    return values;
  });
}

}  // namespace

std::string PlotHistogram(const HistogramResult& result, const HistogramOptions& options) {
  if (options.y_array.has_value()) return PlotMap(result, options);
  if (result.channels.size() == 1) {
    return DrawBars(BinAxis(options, 0, "value"), CountAxis(options), BarsOf(result, options, 0));
  }
  std::vector<ChartSeries> series;
  for (size_t channel = 0; channel < result.channels.size(); ++channel) {
    ChartSeries line{.name = absl::StrCat("channel ", channel), .points = {}};
    for (const ChartBar& bar : BarsOf(result, options, channel)) {
      line.points.emplace_back(bar.lower / 2 + bar.upper / 2, bar.height);
    }
    line.has_dots = line.points.size() <= kDotsMax;
    series.push_back(std::move(line));
  }
  return DrawLines(BinAxis(options, 0, "value"), CountAxis(options), series);
}

absl::StatusOr<std::string> PlotScan(const ScanResult& scan, const Grouping& grouping) {
  if (scan.resident_array) {
    return absl::InvalidArgumentError("--plot: the results are on the server");
  }
  const std::vector<double> values = ValuesOf(scan);
  const std::optional<size_t> along = AxisOf(scan, grouping);
  std::vector<ChartSeries> lines;
  if (!along) {
    lines.push_back(LineOf(values, 0, 1, values.size()));
  } else {
    const uint64_t count = scan.shape.size() == 2 ? scan.shape[1 - *along] : kLinesMax + 1;
    if (count > kLinesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("--plot: draws the lines of a matrix, at most ", kLinesMax, " of them"));
    }
    const uint64_t columns = scan.shape[1];
    for (uint64_t i = 0; i < count; ++i) {
      lines.push_back(*along == 1 ? LineOf(values, i * columns, 1, columns)
                                  : LineOf(values, i, columns, scan.shape[0]));
      lines.back().name = absl::StrCat(*along == 1 ? "row " : "column ", i);
    }
  }
  return DrawLines({.title = "index", .format = FormatTick, .begins_with_zero = false},
                   {.title = "result", .format = FormatTick, .begins_with_zero = false}, lines);
}

}  // namespace gridfold::client
