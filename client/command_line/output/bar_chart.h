// Horizontal bars.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_BAR_CHART_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_BAR_CHART_H_

#include <ostream>
#include <string>
#include <vector>

#include "client/command_line/output/terminal.h"

namespace gridfold::client {

// One bar: "label   value  ████▌".
struct Bar {
  std::string label;
  std::string value;
  double length = 0;  // In any unit. Negative and NaN lengths draw nothing.
};

// Prints one line a bar, the longest as wide as the style allows. A bar longer than nothing is
// seen.
void PrintBars(const std::vector<Bar>& bars, const TextStyle& style, std::ostream& out);

// A bar of `columns`, a fraction of a column as a partial block; whole columns of '#' in ASCII.
std::string DrawBar(double columns, bool unicode);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_BAR_CHART_H_
