#include "client/command_line/plot/svg_chart.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gridfold::client {
namespace {

constexpr double kLegendLine = 18;
constexpr double kLetter = 6.6;  // About as wide as one of the labels' letters.
constexpr int kColourCount = 8;

// What the browser shows of a point that somebody points at.
std::string Title(const ChartAxis& x, const ChartAxis& y, double x_value, double y_value) {
  return absl::StrCat("<title>", EscapeHtml(x.format(x_value)), ": ", EscapeHtml(y.format(y_value)),
                      "</title>");
}

std::string DrawSeries(const ChartAxis& x, const ChartScale& x_scale, const ChartAxis& y,
                       const ChartScale& y_scale, const ChartSeries& series, int colour) {
  std::string path;
  std::string dots;
  for (const auto& [x_value, y_value] : series.points) {
    const double x_place = x_scale.PlaceOf(x_value);
    const double y_place = y_scale.PlaceOf(y_value);
    absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : "L", x_place, y_place);
    if (!series.has_dots) continue;
    absl::StrAppendFormat(&dots, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\">", colour,
                          x_place, y_place);
    absl::StrAppend(&dots, Title(x, y, x_value, y_value), "</circle>\n");
  }
  return absl::StrFormat("<path class=\"s%d\" d=\"%s\"/>\n%s", colour, path, dots);
}

// What stands below a drawing to say which colour is what, in as many lines as it takes.
class Legend {
 public:
  explicit Legend(double top) : place_y_(top) {}

  void Add(size_t index, const std::string& text) {
    const double width = kLetter * static_cast<double>(text.size()) + 34;
    if (place_x_ > 0 && place_x_ + width > kChartWidth) {
      place_x_ = 0;
      place_y_ += kLegendLine;
    }
    absl::StrAppendFormat(
        &svg_, "<rect class=\"s%d\" x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" rx=\"2\"/>\n",
        static_cast<int>(index) % kColourCount, place_x_, place_y_);
    svg_ += DrawText(place_x_ + 15, place_y_ + 9, "start", text);
    place_x_ += width;
  }

  double bottom() const { return place_y_ + (svg_.empty() ? 0 : kLegendLine); }
  const std::string& svg() const { return svg_; }

 private:
  double place_x_ = 0;
  double place_y_;
  std::string svg_;
};

}  // namespace

std::string DrawLines(const ChartAxis& x, const ChartAxis& y,
                      const std::vector<ChartSeries>& series) {
  ChartRange x_range;
  ChartRange y_range;
  for (const ChartSeries& line : series) {
    for (const auto& [x_value, y_value] : line.points) {
      x_range.Add(x_value, x);
      y_range.Add(y_value, y);
    }
  }
  if (x_range.is_empty() || y_range.is_empty()) return "";
  const ChartScale x_scale = ChartScale::Horizontal(x, x_range);
  const ChartScale y_scale = ChartScale::Vertical(y, y_range);
  Legend legend(kChartHeight);
  for (size_t i = 0; series.size() > 1 && i < series.size(); ++i) legend.Add(i, series[i].name);
  std::string svg = OpenSvg(legend.bottom()) + DrawAxes(x, x_scale, y, y_scale) + legend.svg();
  for (size_t i = 0; i < series.size(); ++i) {
    svg += DrawSeries(x, x_scale, y, y_scale, series[i], static_cast<int>(i) % kColourCount);
  }
  return svg + "</svg>\n";
}

std::string DrawBars(const ChartAxis& x, const ChartAxis& y, const std::vector<ChartBar>& bars) {
  ChartRange x_range;
  ChartRange y_range;
  for (const ChartBar& bar : bars) {
    x_range.Add(bar.lower, x);
    x_range.Add(bar.upper, x);
    y_range.Add(bar.height, y);
  }
  if (x_range.is_empty() || y_range.is_empty()) return "";
  const ChartScale x_scale = ChartScale::Horizontal(x, x_range);
  const ChartScale y_scale = ChartScale::Vertical(y, y_range);
  std::string svg = OpenSvg() + DrawAxes(x, x_scale, y, y_scale);
  for (const ChartBar& bar : bars) {
    const double left = x_scale.PlaceOf(bar.lower);
    const double top = y_scale.PlaceOf(bar.height);
    absl::StrAppendFormat(
        &svg, "<rect class=\"s0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", left, top,
        std::max(1.0, x_scale.PlaceOf(bar.upper) - left - 0.5), kChartHeight - kChartBottom - top);
    absl::StrAppend(&svg, Title(x, y, bar.lower, bar.height), "</rect>\n");
  }
  return svg + "</svg>\n";
}

std::string DrawParts(const std::vector<ChartPart>& parts) {
  double whole = 0;
  for (const ChartPart& part : parts) whole += part.size;
  if (!(whole > 0)) return "";
  std::string bar;
  Legend legend(40);
  double left = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double width = parts[i].size / whole * kChartWidth;
    absl::StrAppendFormat(&bar,
                          "<rect class=\"s%d\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"30\">"
                          "<title>%s: %s</title></rect>\n",
                          static_cast<int>(i) % kColourCount, left, width,
                          EscapeHtml(parts[i].name), EscapeHtml(parts[i].text));
    legend.Add(i, absl::StrCat(parts[i].name, " ", parts[i].text));
    left += width;
  }
  return absl::StrCat(OpenSvg(legend.bottom()), bar, legend.svg(), "</svg>\n");
}

}  // namespace gridfold::client
