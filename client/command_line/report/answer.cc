#include "client/command_line/report/answer.h"

#include "absl/strings/str_cat.h"
#include "client/command_line/output/number_format.h"

namespace gridfold::client {

std::string DescribeInput(const InputDescription& input, const TextStyle& style) {
  const bool one = input.shape.empty() || (input.shape.size() == 1 && input.shape[0] == 1);
  return absl::StrCat(style.Bold(input.source), input.column.empty() ? "" : ", column ",
                      input.column, ": ", FormatShape(input.shape, style.unicode), " ",
                      ElementTypeName(input.element_type), one ? " element" : " elements");
}

std::string DescribeExecution(const ExecutionStatistics& execution, absl::Duration round_trip_time,
                              const TextStyle& style) {
  std::string line = absl::StrCat(execution.engine, ", ", execution.strategy);
  if (execution.cluster_size > 1) {
    absl::StrAppend(&line, " (clusters of ", execution.cluster_size, ")");
  }
  if (execution.device_count > 1) {
    absl::StrAppend(&line, ", ", execution.device_count, " devices");
  }
  const absl::string_view separator = style.separator();
  absl::StrAppend(&line, separator, "kernel ",
                  FormatDuration(execution.kernel_time, style.unicode));
  if (execution.kernel_time > absl::ZeroDuration() && execution.bytes_read > 0) {
    absl::StrAppend(&line, ", ", FormatRate(execution.bytes_read, execution.kernel_time));
  }
  absl::StrAppend(&line, separator, "server ", FormatDuration(execution.total_time, style.unicode),
                  separator, "round trip ", FormatDuration(round_trip_time, style.unicode));
  return style.Dim(line);
}

}  // namespace gridfold::client
