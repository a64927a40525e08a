// An answer, and limits of a server, for tests of reports: every figure is another one.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_TEST_UTIL_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_TEST_UTIL_H_

#include <utility>

#include "client/command_line/output/terminal.h"
#include "client/command_line/report/answer.h"
#include "gridfold/server_info.h"

namespace gridfold::client {

inline constexpr TextStyle kPlain = {.width = 80, .unicode = false, .colour = false};

template <typename Result>
Answer<Result> AnswerOf(Result result) {
  ExecutionStatistics& execution = result.execution;
  execution.engine = "cuda";
  execution.strategy = "some/way";
  execution.cluster_size = 4;
  execution.bytes_read = 90'000;
  execution.queue_time = absl::Microseconds(1);
  execution.stage_in_time = absl::Microseconds(2);
  execution.kernel_time = absl::Microseconds(20);
  execution.stage_out_time = absl::Microseconds(3);
  execution.total_time = absl::Microseconds(150);
  execution.device_count = 2;
  execution.transport = ArrayTransport::kStreams;
  execution.streams = 5;
  return {.input = {.source = "a.csv",
                    .column = "x",
                    .element_type = ElementType::kInt16,
                    .shape = {2, 3},
                    .missing_count = 7},
          .result = std::move(result),
          .round_trip_time = absl::Milliseconds(1.5)};
}

// A server's limits, each another number.
inline ServerLimits LimitsOfServer() {
  return {.message_bytes_max = 1000,
          .bin_count_max = 2000,
          .group_count_max = 3000,
          .lane_count = 4,
          .queued_jobs_max = 5000,
          .queued_bytes_max = 6000,
          .resident_bytes_max = 7000,
          .tenant_resident_bytes_max = 8000,
          .array_count_max = 9000,
          .array_chunk_bytes_max = 10'000,
          .region_count_max = 11'000,
          .region_bytes_max = 12'000,
          .stream_count_max = 13'000,
          .stream_pending_bytes_max = 14'000,
          .batch_operations_max = 15'000,
          .dealt_bytes_min = 16'000};
}

// How each report says it for people, the parts that come first and last.
inline constexpr char kInputLine[] = "a.csv, column x: 2 x 3 int16 elements\n\n";
inline constexpr char kExecutionLine[] =
    "cuda, some/way (clusters of 4), 2 devices | kernel 20.0 us, 4.50 GB/s | server 150 us | "
    "round trip 1.50 ms\n";

// And for programs.
inline constexpr char kInputJson[] =
    R"("input":{"source":"a.csv","element_type":"int16","shape":[2,3],"element_count":6,)"
    R"("column":"x","missing_count":7})";
inline constexpr char kExecutionJson[] =
    R"("execution":{"engine":"cuda","strategy":"some/way","cluster_size":4,"bytes_read":90000,)"
    R"("queue_time_us":1.0,"stage_in_time_us":2.0,"kernel_time_us":20.0,"stage_out_time_us":3.0,)"
    R"("total_time_us":150.0,"device_count":2,"transport":"streams","streams":5,)"
    R"("round_trip_time_us":1500.0})";

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_REPORT_ANSWER_TEST_UTIL_H_
