// The style sheet of charts.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_STYLE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_STYLE_H_

#include <string>

namespace gridfold::client {

// What the classes of charts look like, on light and on dark paper, to stand in a <style> of the
// page or of the drawing. Without variables, which not every reader of SVG has.
std::string ChartStyle();

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_SVG_STYLE_H_
