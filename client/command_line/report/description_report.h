// What `gridfold describe` tells of the arrays of a file.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_DESCRIPTION_REPORT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_DESCRIPTION_REPORT_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "client/command_line/output/terminal.h"
#include "client/command_line/report/answer.h"
#include "gridfold/histogram.h"
#include "gridfold/reduction.h"

namespace gridfold::client {

// The quantiles that the histogram of a description has, in this order.
inline constexpr double kDescribedQuantiles[] = {0.25, 0.5, 0.75};

// The statistics that a description tells, in this order.
inline constexpr Statistic kDescribedStatistics[] = {
    Statistic::kCount, Statistic::kNanCount, Statistic::kMin,
    Statistic::kMax,   Statistic::kMean,     Statistic::kStandardDeviation};

struct ArrayDescriptionReport {
  std::string name;                                      // Of a column or member, or empty.
  std::optional<InputDescription> input = std::nullopt;  // Nothing of a column of text.
  // Count, NaN count, minimum, maximum, mean and standard deviation; of no elements nothing.
  std::optional<ReductionResult> statistics = std::nullopt;
  // Of even bins over the range of finite elements; nothing where there is none.
  std::optional<HistogramResult> histogram = std::nullopt;
};

// A line for each array, and how exact the quartiles are.
void PrintDescriptions(const std::string& source, const std::vector<ArrayDescriptionReport>& arrays,
                       const TextStyle& style, std::ostream& out);

// The counts of `bins` as a line of `width` characters whose height is the count's share of the
// largest one.
std::string DrawSparkline(const std::vector<uint64_t>& bins, size_t width, bool unicode);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_DESCRIPTION_REPORT_H_
