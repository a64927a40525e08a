// Charts as files.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_PLOT_FILE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_PLOT_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace gridfold::client {

// Whether a chart can be written to `path`: its name ends in .svg, .html or .png.
// INVALID_ARGUMENT otherwise.
absl::Status CheckPlotPath(const std::string& path);

// Writes a chart (svg_chart.h, svg_heat_map.h) with its style as a drawing of its own, or where the
// path ends so as a page that has it under `title`, or as an image. Errors: those of CheckPlotPath,
// ToPng and WriteFile.
absl::Status WritePlot(const std::string& path, const std::string& title, const std::string& svg);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PLOT_PLOT_FILE_H_
