// Counts by two coordinates as SVG.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_HEAT_MAP_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_HEAT_MAP_H_

#include <string>
#include <vector>

#include "client/command_line/plot/svg_axes.h"

namespace gridfold::client {

// Cells between finite edges that increase: of cell (x, y), values[x * y_cell_count + y].
struct ChartCells {
  std::vector<double> x_edges;
  std::vector<double> y_edges;
  std::vector<double> values;
};

// A rectangle for each cell with a value above 0, the darker the larger it is, and a scale beside
// them. `format` is how a value reads where somebody points at its cell. Empty where there are no
// cells.
std::string DrawHeatMap(const ChartAxis& x, const ChartAxis& y, const ChartCells& cells,
                        const std::function<std::string(double)>& format);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_HEAT_MAP_H_
