// Line and bar charts as SVG, to stand in an HTML page whose style sheet has the classes `axis`,
// `grid`, `label`, and `s0` to `s7` for the colours of series.
#ifndef GRIDFOLD_CLIENT_LOAD_REPORT_SVG_CHART_H_
#define GRIDFOLD_CLIENT_LOAD_REPORT_SVG_CHART_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gridfold::load {

struct ChartAxis {
  std::string title;
  bool is_logarithmic = false;  // All values are then above 0; others are drawn at the edge.
  // How a value reads, at a tick and where somebody points at it.
  std::function<std::string(double)> format;
  // Values with a tick where they are in the range; empty: round ones.
  std::vector<double> ticks = {};
};

struct ChartSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // By x.
};

// The lines of all series over a common range. Empty where there are no points.
std::string DrawLines(const ChartAxis& x, const ChartAxis& y,
                      const std::vector<ChartSeries>& series);

struct ChartBar {
  double lower;
  double upper;
  double height;
};

// Bars that stand on the x axis, from 0 up.
std::string DrawBars(const ChartAxis& x, const ChartAxis& y, const std::vector<ChartBar>& bars);

// Parts of a whole along one line, each with its name and its text.
struct ChartPart {
  std::string name;
  double size;
  std::string text;
};
std::string DrawParts(const std::vector<ChartPart>& parts);

// `text` as it stands in HTML.
std::string EscapeHtml(const std::string& text);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_REPORT_SVG_CHART_H_
