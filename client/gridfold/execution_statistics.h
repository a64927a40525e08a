// What a server, and the client before it, did for one answer.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_EXECUTION_STATISTICS_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_EXECUTION_STATISTICS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "gridfold/array_transport.h"

namespace gridfold::client {

// How a job ran on the server. The times do not include the network. Of an array that came in
// parts: how their results were merged, and the bytes and times of all parts together.
struct ExecutionStatistics {
  std::string engine;         // "cuda" or "cpu".
  std::string strategy;       // The kernels that ran, for example "histogram/shared".
  uint32_t cluster_size = 1;  // Thread blocks in one cluster.
  uint64_t bytes_read = 0;    // Input read by the kernels, once for each pass.
  absl::Duration queue_time;
  absl::Duration stage_in_time;
  absl::Duration kernel_time;
  absl::Duration stage_out_time;
  absl::Duration total_time;
  // Devices that worked on it: of several, the bytes are a sum, and times those of the slowest. 0
  // of a server that does not tell.
  uint32_t device_count = 1;
  // How the array came to the server, which the client adds to what the server says; kAuto where it
  // was there already, or in a region of the caller's.
  ArrayTransport transport = ArrayTransport::kAuto;
  // By how many calls at the same time it came. 0 where it was there.
  uint32_t streams = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_EXECUTION_STATISTICS_H_
