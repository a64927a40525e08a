// Answers as charts.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_PLOT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_PLOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/command_line/report/answer.h"
#include "gridfold/histogram.h"
#include "gridfold/scan.h"

namespace gridfold::client {

// Bars, a line for each of several channels, or in two dimensions a map of shades; neighbouring
// bins share a place where there are more than can be seen. A bin that reaches to infinity is as
// wide as its neighbour. Empty where there is nothing to draw. `options` are those of the request.
std::string PlotHistogram(const HistogramResult& result, const HistogramOptions& options);

// Results by their index: one line, or of a matrix that is scanned along its rows or columns a line
// for each of them. INVALID_ARGUMENT where they are too many lines to tell apart, or are not here.
// `grouping` is that of the request.
absl::StatusOr<std::string> PlotScan(const ScanResult& scan, const Grouping& grouping);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_PLOT_H_
