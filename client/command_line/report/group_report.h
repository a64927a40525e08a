// Reductions by key for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_GROUP_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_GROUP_REPORT_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "client/command_line/report/answer.h"
#include "gridfold/keyed_reduction.h"

namespace gridfold::client {

// What the values of quantile `i` are called: "median", or the number.
std::string NameOfQuantile(const KeyedReductionOptions& options, size_t i);

// Prints a line for each group: its key or bin, the number of its elements, the statistics and
// the quantiles.
// `rows_max` limits the groups shown; 0 shows all.
void PrintGroups(const Answer<KeyedReductionResult>& answer, const KeyedReductionOptions& options,
                 uint64_t rows_max, const TextStyle& style, std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_GROUP_REPORT_H_
