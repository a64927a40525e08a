// Reports for programs: one JSON object each, ended by a newline.
//
// Field names are part of the program's interface: they are added to, never changed. Numbers are
// exact: integers in full, floating-point numbers with the digits that read back as the same value.
// NaN and the infinities, which JSON does not have, are the strings "NaN", "Infinity" and
// "-Infinity". Times are in microseconds.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_JSON_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_JSON_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/command_line/report/answer.h"
#include "client/command_line/report/description_report.h"
#include "gridfold/histogram.h"
#include "gridfold/keyed_reduction.h"
#include "gridfold/paired.h"
#include "gridfold/quantiles.h"
#include "gridfold/reduction.h"
#include "gridfold/region.h"
#include "gridfold/resident_array.h"
#include "gridfold/scan.h"
#include "gridfold/server_info.h"
#include "gridfold/top.h"

namespace gridfold::client {

// {"operation": "reduce", "input": {...}, "group_count": 1, "result_shape": [],
//  "statistics": {"sum": [6], ...}, "execution": {...}}; every statistic has one value for each
//  group, in row-major order of the result's shape.
std::string ToJson(const Answer<ReductionResult>& answer);

// {"operation": "scan", "input": {...}, "result": {"element_type", "shape", "values"},
//  "execution": {...}}; in place of "values" "array", its name, where the results are on the
//  server, or "output", the file's path, where that is not empty.
std::string ToJson(const Answer<ScanResult>& answer, const std::string& output);

// {"operation": "quantile", "input": {...}, "group_count", "result_shape", "method",
//  "quantiles": [{"probability", "values"}], "ranks": [{"rank", "values"}], "execution": {...}};
//  values are one for each group.
std::string ToJson(const Answer<QuantileResult>& answer, const QuantileOptions& options);

// {"operation": "topk", "input": {...}, "group_count", "result_shape", "values", "indices",
//  "execution": {...}}; those of a group follow one another.
std::string ToJson(const Answer<TopResult>& answer);

// {"operation": "relate", "input": {...}, "column_count", "observation_count", "statistics":
//  {"correlation": [...], ...}, "execution": {...}}; matrices are row by row.
std::string ToJson(const Answer<RelateResult>& answer);

// {"operation": "describe", "source", "arrays": [{"name", "input": {...}, "statistics": {"min":
// [0],
//  ...}, "quantiles": [...], "counts": [...], "edges": [...]}]}; a column of text has its name
//  alone, and what an array has no value for is left out.
std::string ToJson(const std::string& source, const std::vector<ArrayDescriptionReport>& arrays);

// {"array": {"name", "element_type", "shape", "size_bytes", "idle_expiry_us", "idle_time_us"}}.
std::string ToJson(const ArrayDescription& array);

// {"arrays": [{...}, ...]}, each as above.
std::string ToJson(const std::vector<ArrayDescription>& arrays);

// {"regions": [...]}.
std::string ToJson(const std::vector<RegionDescription>& regions);

// {"operation": "histogram", "input": {...}, "channels": [{"counts" or "weight_sums",
//  "bin_indices" (sparse only), "underflow_count", "overflow_count", "nan_count", "quantiles"}],
//  "bins": [{"bin_count", "edges" (not of integer bins)}], "execution": {...}}.
std::string ToJson(const Answer<HistogramResult>& answer, const HistogramOptions& options);

// {"operation": "group", "input": {...}, "group_count", "keys" (found ones), "first_key" (of a
//  range), "bins" (as above) with "underflow_count", "overflow_count" and "nan_count", "counts":
//  elements of each group, "statistics": as of "reduce", "execution": {...}}.
std::string ToJson(const Answer<KeyedReductionResult>& answer,
                   const KeyedReductionOptions& options);

// {"target", "health", "version", "engine", "devices": [...], "limits": {...}, "statistics":
// {...}}.
std::string ToJson(const std::string& target, HealthStatus health, const ServerInfo& info,
                   const std::optional<ServerStatistics>& statistics);

// {"target", "health"}.
std::string ToJson(const std::string& target, HealthStatus health);

// {"error": {"code", "message", "field", "reason", "retry_delay_us"}}; the last three where known.
// `message` is what people are told, in place of the error's own.
std::string ToJson(const absl::Status& error, const std::string& message);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_JSON_REPORT_H_
