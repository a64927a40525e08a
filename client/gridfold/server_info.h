// What a server is, what it has done so far, and whether it serves.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_SERVER_INFO_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_SERVER_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace gridfold::client {

// A device that runs jobs.
struct Device {
  std::string name;
  uint64_t memory_bytes = 0;
  uint32_t compute_units = 0;      // Multiprocessors of a GPU; threads of the CPU engine.
  std::string compute_capability;  // Of a GPU, for example "9.0".
  std::string uuid = "";           // Of a GPU, as nvidia-smi shows it: "GPU-..."
};

// The most that a server accepts.
struct ServerLimits {
  uint64_t message_bytes_max = 0;  // One request or response.
  uint64_t bin_count_max = 0;      // One histogram, all channels together.
  uint64_t group_count_max = 0;    // One reduction or scan.
  uint32_t lane_count = 0;         // Jobs that run at the same time.
  uint64_t queued_jobs_max = 0;
  uint64_t queued_bytes_max = 0;
  uint64_t resident_bytes_max = 0;         // All arrays on the server together.
  uint64_t tenant_resident_bytes_max = 0;  // Those of one tenant.
  uint64_t array_count_max = 0;            // All arrays on the server together.
  uint64_t array_chunk_bytes_max = 0;      // Data of one message that writes or reads an array.
  uint64_t region_count_max = 0;           // Shared-memory regions; 0 where they are off.
  uint64_t region_bytes_max = 0;           // All of them together.
  uint64_t stream_count_max = 0;           // Streams that compute, open at the same time.
  uint64_t stream_pending_bytes_max = 0;   // What one of them may have waiting.
  uint64_t batch_operations_max = 0;       // One batch.
  uint64_t dealt_bytes_min = 0;  // Input on which all devices work together; 0: one works on each.
};

struct ServerInfo {
  std::string version;  // MAJOR.MINOR.PATCH.
  std::string engine;   // "cuda" or "cpu".
  std::vector<Device> devices;
  ServerLimits limits;
};

// Counters since the server started, and what it does now.
struct ServerStatistics {
  absl::Duration uptime;
  uint64_t jobs_accepted = 0;
  uint64_t jobs_refused = 0;
  uint64_t jobs_succeeded = 0;
  uint64_t jobs_failed = 0;
  uint64_t jobs_cancelled = 0;
  uint64_t bytes_processed = 0;
  uint64_t jobs_queued = 0;
  uint64_t bytes_queued = 0;
  uint32_t lanes_busy = 0;
  uint32_t lane_count = 0;
  uint64_t resident_array_count = 0;
  uint64_t resident_bytes = 0;
  uint64_t region_count = 0;
  uint64_t region_bytes = 0;
};

// The answer of the standard gRPC health service.
enum class HealthStatus { kUnknown = 0, kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_SERVER_INFO_H_
