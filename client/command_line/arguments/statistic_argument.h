// The names of statistics on the command line.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STATISTIC_ARGUMENT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STATISTIC_ARGUMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/statistic.h"

namespace gridfold::client {

// All of them, and what a flag's help says of them.
std::string DescribeStatisticNames();

// Also by the names that NumPy, pandas and SQL have for them. INVALID_ARGUMENT, which ends the
// program with kUsage, names `flag` and the name that is none.
absl::StatusOr<std::vector<Statistic>> ParseStatistics(absl::string_view flag,
                                                       const std::vector<std::string>& names);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STATISTIC_ARGUMENT_H_
