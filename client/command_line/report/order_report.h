// Quantiles, and the largest or smallest elements, for people.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ORDER_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ORDER_REPORT_H_

#include <cstdint>
#include <ostream>

#include "client/command_line/report/answer.h"
#include "gridfold/quantiles.h"
#include "gridfold/top.h"

namespace gridfold::client {

// Prints a line for each quantile and rank of the whole array, or a line for each group. `rows_max`
// limits the groups shown; 0 shows all.
void PrintQuantiles(const Answer<QuantileResult>& answer, const QuantileOptions& options,
                    uint64_t rows_max, const TextStyle& style, std::ostream& out);

// Prints a line for each element, with its group where there are several. `rows_max` limits the
// lines; 0 shows all.
void PrintTop(const Answer<TopResult>& answer, const TopOptions& options, uint64_t rows_max,
              const TextStyle& style, std::ostream& out);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ORDER_REPORT_H_
