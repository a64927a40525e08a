// Order statistics as tables and arrays; see table_report.h.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ORDER_TABLE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ORDER_TABLE_H_

#include "absl/status/statusor.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/output/data_table.h"
#include "client/command_line/report/answer.h"
#include "gridfold/quantiles.h"
#include "gridfold/top.h"

namespace gridfold::client {

// "source", "column", "index_0" and so on for the result's dimensions, "quantile_0.5" and so on,
// "rank_7" and so on: a row for each group.
DataTable ToTable(const Answer<QuantileResult>& answer, const QuantileOptions& options);

// "source", "column", "index_0" and so on, of which the last is the place among a group's elements,
// "value" and "index": a row for each element.
DataTable ToTable(const Answer<TopResult>& answer);

// The values in the result's shape. As numpy.quantile, several are along a first dimension, the
// quantiles before the ranks; INVALID_ARGUMENT where these are not of one type.
absl::StatusOr<HostArray> ToArray(const QuantileResult& result);

// The values in the result's shape, without the indices.
HostArray ToArray(const TopResult& result);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ORDER_TABLE_H_
