// Histograms for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_HISTOGRAM_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_HISTOGRAM_REPORT_H_

#include <cstdint>
#include <ostream>

#include "client/command_line/report/answer.h"
#include "gridfold/histogram.h"

namespace gridfold::client {

// Draws each channel as bars, or two dimensions as a map of shades, with the samples outside the
// bins and the quantiles below. Where there are more bins than `rows_max`, neighbours share a row;
// 0 draws every bin. `options` are those of the request.
void PrintHistogram(const Answer<HistogramResult>& answer, const HistogramOptions& options,
                    uint64_t rows_max, const TextStyle& style, std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_HISTOGRAM_REPORT_H_
