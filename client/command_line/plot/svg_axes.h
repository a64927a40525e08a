// The axes of a chart in SVG: from values to places, ticks, and the lines and texts that show them.
//
// Charts use these classes of a style sheet (svg_style.h): `axis`, `grid`, `label`, and `s0` to
// `s7` for the colours of series.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_AXES_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_AXES_H_

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace gridfold::client {

// The drawing, and the margins around its area, in the units of the view box.
inline constexpr double kChartWidth = 560;
inline constexpr double kChartHeight = 280;
inline constexpr double kChartLeft = 82;
inline constexpr double kChartRight = 28;  // Half of the last tick's text.
inline constexpr double kChartTop = 15;
inline constexpr double kChartBottom = 45;

struct ChartAxis {
  std::string title;
  bool is_logarithmic = false;  // All values are then above 0; others are drawn at the edge.
  // How a value reads, at a tick and where somebody points at it.
  std::function<std::string(double)> format;
  // Values with a tick where they are in the range; empty: round ones.
  std::vector<double> ticks = {};
  bool begins_with_zero = true;  // A linear axis has 0, however far from it its values are.
};

// The range of values along an axis.
struct ChartRange {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;

  void Add(double value, const ChartAxis& axis);
  bool is_empty() const { return low > high; }
};

// From values to places along one side.
class ChartScale {
 public:
  // `range` is not empty.
  static ChartScale Horizontal(const ChartAxis& axis, const ChartRange& range);
  static ChartScale Vertical(const ChartAxis& axis, const ChartRange& range);

  double PlaceOf(double value) const;

  // The axis's own ticks, as far as they are in the range, or round ones.
  std::vector<double> TicksOf(const ChartAxis& axis) const;

 private:
  ChartScale(const ChartAxis& axis, const ChartRange& range, double begin, double end);

  std::vector<double> PowersOfTen() const;
  std::vector<double> MultiplesOfStep() const;

  bool is_logarithmic_;
  double low_;
  double high_;
  double begin_;
  double end_;
};

// The begin of a drawing, which "</svg>" ends.
std::string OpenSvg(double height = kChartHeight);

// Both axes with their ticks, grid and titles.
std::string DrawAxes(const ChartAxis& x, const ChartScale& x_scale, const ChartAxis& y,
                     const ChartScale& y_scale);

// A text whose `anchor` ("start", "middle" or "end") is at a place.
std::string DrawText(double x, double y, const char* anchor, const std::string& text);

// `text` as it stands in HTML.
std::string EscapeHtml(const std::string& text);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_AXES_H_
