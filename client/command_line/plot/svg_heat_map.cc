#include "client/command_line/plot/svg_heat_map.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gridfold::client {
namespace {

// What is there at all is seen.
constexpr double kFaintest = 0.08;
constexpr double kScaleTop = kChartHeight + 6;
constexpr double kScaleHeight = 10;
constexpr int kScaleSteps = 8;

double Opacity(double share) { return kFaintest + (1 - kFaintest) * std::clamp(share, 0.0, 1.0); }

std::string DrawCell(double x, double y, double width, double height, double share,
                     const std::string& title) {
  return absl::StrFormat(
      "<rect class=\"s0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
      "fill-opacity=\"%.2f\"><title>%s</title></rect>\n",
      x, y, width, height, Opacity(share), EscapeHtml(title));
}

// Below the map: which shade is which value.
std::string DrawShades(double largest, const std::function<std::string(double)>& format) {
  const double width = (kChartWidth - kChartLeft - kChartRight) / kScaleSteps;
  std::string svg;
  for (int i = 0; i < kScaleSteps; ++i) {
    const double share = (i + 1.0) / kScaleSteps;
    svg += DrawCell(kChartLeft + i * width, kScaleTop, width, kScaleHeight, share,
                    format(share * largest));
  }
  svg += DrawText(kChartLeft - 6, kScaleTop + kScaleHeight, "end", format(0));
  svg +=
      DrawText(kChartWidth - kChartRight, kScaleTop + 2 * kScaleHeight + 4, "end", format(largest));
  return svg;
}

ChartRange RangeOf(const std::vector<double>& edges, const ChartAxis& axis) {
  ChartRange range;
  for (const double edge : edges) range.Add(edge, axis);
  return range;
}

}  // namespace

std::string DrawHeatMap(const ChartAxis& x, const ChartAxis& y, const ChartCells& cells,
                        const std::function<std::string(double)>& format) {
  const ChartRange x_range = RangeOf(cells.x_edges, x);
  const ChartRange y_range = RangeOf(cells.y_edges, y);
  if (cells.values.empty() || x_range.is_empty() || y_range.is_empty()) return "";
  const ChartScale x_scale = ChartScale::Horizontal(x, x_range);
  const ChartScale y_scale = ChartScale::Vertical(y, y_range);
  const double largest = *std::max_element(cells.values.begin(), cells.values.end());
  std::string svg = OpenSvg(kScaleTop + 3 * kScaleHeight) + DrawAxes(x, x_scale, y, y_scale);
  const size_t y_count = cells.y_edges.size() - 1;
  for (size_t i = 0; i + 1 < cells.x_edges.size(); ++i) {
    const double left = x_scale.PlaceOf(cells.x_edges[i]);
    const double width = x_scale.PlaceOf(cells.x_edges[i + 1]) - left;
    for (size_t j = 0; j < y_count; ++j) {
      const double value = cells.values[i * y_count + j];
      if (!(value > 0)) continue;
      const double top = y_scale.PlaceOf(cells.y_edges[j + 1]);
      svg += DrawCell(left, top, width, y_scale.PlaceOf(cells.y_edges[j]) - top, value / largest,
                      absl::StrCat(x.format(cells.x_edges[i]), ", ", y.format(cells.y_edges[j]),
                                   ": ", format(value)));
    }
  }
  if (largest > 0) svg += DrawShades(largest, format);
  return svg + "</svg>\n";
}

}  // namespace gridfold::client
