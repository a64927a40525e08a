// Line and bar charts as SVG.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_CHART_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_CHART_H_

#include <string>
#include <utility>
#include <vector>

#include "client/command_line/plot/svg_axes.h"

namespace gridfold::client {

struct ChartSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // By x.
  bool has_dots = true;  // That tell their values where somebody points at them.
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

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_CHART_H_
