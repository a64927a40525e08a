// Reductions for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_REDUCTION_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_REDUCTION_REPORT_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "client/command_line/report/answer.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

// The value of a group; of an entry in the type that it was asked for, and so with its digits.
std::string FormatValue(const StatisticValues& values, uint64_t group);
std::string FormatValue(const ReductionResult::Entry& entry, uint64_t group);

// Whether a group has a value of the statistic; what stands in its place means nothing otherwise.
bool HasValue(const ReductionResult::Entry& entry, uint64_t group);

// Prints a line for each statistic of the whole array, or a line for each group, also where a
// server answers for a whole array with none or several. `rows_max` limits the groups shown; 0
// shows all.
void PrintReduction(const Answer<ReductionResult>& answer, bool grouped, uint64_t rows_max,
                    const TextStyle& style, std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_REDUCTION_REPORT_H_
