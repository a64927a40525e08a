// Cells of answers' tables and elements of answers' arrays, which reports of several operations
// have in common.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_TABLE_CELLS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_TABLE_CELLS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "client/command_line/input/host_array.h"
#include "client/command_line/report/answer.h"
#include "gridfold/histogram.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

// A value, or one element, without commas between thousands.
std::string TextOf(const StatisticValues& values, uint64_t group);
std::string TextOf(const ArrayView& array, uint64_t index);

// The cells under "source" and "column".
std::vector<std::string> InputCells(const InputDescription& input);

// "source", "column", and "index_0" and so on for the dimensions of `shape`.
std::vector<std::string> HeadingWith(std::span<const uint64_t> shape);

// What comes before the values in the row of element `index` of a result of this shape.
std::vector<std::string> RowWith(const InputDescription& input, std::span<const uint64_t> shape,
                                 uint64_t index);

// Appends the names of statistics, or the values of a group: empty where it has none, as in CSV
// that is read.
void AddNames(const std::vector<ReductionResult::Entry>& entries,
              std::vector<std::string>& heading);
void AddEntries(const std::vector<ReductionResult::Entry>& entries, uint64_t group,
                std::vector<std::string>& row);

// Appends the lower and the upper edge of a bin; of integer bins its integer twice, where
// `first_value` is that of bin 0.
void AddEdges(const ResolvedBins& bins, absl::int128 first_value, uint64_t bin,
              std::vector<std::string>& row);

// Values as an array. Truth values are uint8.
HostArray ToArray(const StatisticValues& values, std::vector<uint64_t> shape);

// The values of the one statistic, in the type that it was asked for. INVALID_ARGUMENT where there
// are several, or where a group lacks a value and the type has no NaN.
absl::StatusOr<HostArray> ToArray(const std::vector<ReductionResult::Entry>& entries,
                                  std::vector<uint64_t> shape);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_TABLE_CELLS_H_
