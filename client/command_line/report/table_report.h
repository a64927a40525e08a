// Answers as tables for programs and documents, and as arrays. Numbers are exact: integers in full,
// floating-point numbers with the digits that read back as the same value.
//
// The headings of tables are part of the program's interface: they are added to, never changed.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_TABLE_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_TABLE_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/output/data_table.h"
#include "client/command_line/report/answer.h"
#include "client/command_line/report/description_report.h"
#include "gridfold/histogram.h"
#include "gridfold/reduction.h"
#include "gridfold/scan.h"

namespace gridfold::client {

// "source" and "column" (of the file, where one was named), "index_0" and so on for the result's
// dimensions, and a column for each statistic: a row for each group.
DataTable ToTable(const Answer<ReductionResult>& answer);

// "source", "column", "index_0" and so on, "value": a row for each result.
DataTable ToTable(const Answer<ScanResult>& answer);

// "source", "column", "channel", "lower", "upper" and "count" or "weight_sum": a row for each
// listed bin, of integer bins with its integer twice; in two dimensions "lower_x", "upper_x",
// "lower_y" and "upper_y" in place of channel and edges. What is in no bin is in the JSON report
// only.
DataTable ToTable(const Answer<HistogramResult>& answer, const HistogramOptions& options);

// "source", "name", "type", the statistics and "quantile_0.25" and so on: a row for each array.
DataTable ToTable(const std::string& source, const std::vector<ArrayDescriptionReport>& arrays);

// The values of the one statistic, in the result's shape. INVALID_ARGUMENT where there are several.
absl::StatusOr<HostArray> ToArray(const ReductionResult& result);

// Counts (uint64) or sums of weights (float64): of bins, of channels by bins, or of x by y.
// INVALID_ARGUMENT where not all bins are listed, or where channels have different ones.
absl::StatusOr<HostArray> ToArray(const HistogramResult& result, const HistogramOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_TABLE_REPORT_H_
