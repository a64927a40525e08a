// A matrix as shades.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_HEAT_MAP_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_HEAT_MAP_H_

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "client/command_line/output/terminal.h"

namespace gridfold::client {

// Values as in a coordinate system: x to the right, y upwards.
struct HeatMap {
  size_t x_count;
  size_t y_count;
  std::vector<double> values;         // values[x * y_count + y].
  std::vector<std::string> y_labels;  // y_count of them.
  std::string x_first_label;
  std::string x_last_label;
};

// Columns left for a map's values beside its labels, in a style of `width`.
int HeatMapColumns(int width);

// Prints a line for each y. Narrow maps are drawn broader.
void PrintHeatMap(const HeatMap& map, const TextStyle& style, std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_HEAT_MAP_H_
