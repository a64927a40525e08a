// Reductions by key as tables and arrays; see table_report.h.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_GROUP_TABLE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_GROUP_TABLE_H_

#include "absl/status/statusor.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/output/data_table.h"
#include "client/command_line/report/answer.h"
#include "gridfold/keyed_reduction.h"

namespace gridfold::client {

// "source", "column", "key" (of bins "lower" and "upper", of integer bins their integer twice; in
// two dimensions "lower_x", "upper_x", "lower_y" and "upper_y"), "elements", and a column for each
// statistic: a row for each group.
DataTable ToTable(const Answer<KeyedReductionResult>& answer, const KeyedReductionOptions& options);

// The values of the one statistic, in the order of the keys or bins, of x by y in two dimensions.
// INVALID_ARGUMENT where there are several.
absl::StatusOr<HostArray> ToArray(const KeyedReductionResult& result);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_GROUP_TABLE_H_
