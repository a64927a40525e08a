// What every report says beside the numbers: which array it was, and how long the answer took.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/command_line/output/terminal.h"
#include "gridfold/element_type.h"
#include "gridfold/execution_statistics.h"

namespace gridfold::client {

// The array that was asked about.
struct InputDescription {
  std::string source = "";
  std::string column = "";  // Of a file of several, where one was named.
  ElementType element_type = ElementType::kFloat64;
  std::vector<uint64_t> shape;
  uint64_t missing_count = 0;  // Elements that are NaN because the file has no value for them.
};

// A result of the server, with what the client knows about it.
template <typename Result>
struct Answer {
  InputDescription input;
  Result result;
  absl::Duration round_trip_time;  // From the call to its return, with the network's part.
};

// "delay.npy: 200,000 int16 elements", "flights.csv, column delay: 200,000 int64 elements".
std::string DescribeInput(const InputDescription& input, const TextStyle& style);

// "cuda, reduce/long/blocks · kernel 9 µs, 44 GB/s · server 140 µs · round trip 4.1 ms".
std::string DescribeExecution(const ExecutionStatistics& execution, absl::Duration round_trip_time,
                              const TextStyle& style);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_H_
