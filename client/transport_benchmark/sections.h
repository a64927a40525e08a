// The parts of the benchmark. Each adds rows to the report.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_SECTIONS_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_SECTIONS_H_

#include <cstdint>
#include <string>

#include "client/transport_benchmark/child_process.h"
#include "client/transport_benchmark/report.h"

namespace gridfold::transport_benchmark {

// What the sections measure.
struct Targets {
  std::string gridfold;      // "host:port" of gridfold_server
  std::string bare;          // of the bare server that echoes
  std::string bare_answers;  // of the one whose unary answers are empty
  std::string one_device;    // of a gridfold_server with one of its devices; of "devices" only
  int metrics_port = 0;      // of gridfold_server
  const ChildProcess* server = nullptr;
  std::string kernel_benchmark;  // A program that measures the bus; there may be none.
  std::string folder;            // For files of the run.
  bool quick = false;            // A check that all works rather than a measurement.
  int soak_seconds = 60;
  uint64_t one_caller_bytes = 1'000'000'000;
  uint64_t devices_bytes = uint64_t{8} << 30;  // Of the resident array and the largest region.
};

// A resident array of 2^28 elements: what the server takes beside its kernel.
void MeasureResident(const Targets& targets, Report& report);
// Small unary calls against a bare echo of the same bytes.
void MeasureUnary(const Targets& targets, Report& report);
// Many operations in one call.
void MeasureBatches(const Targets& targets, Report& report);
// Streams of chunks against a bare sink, and both ways against a bare relay.
void MeasureStreams(const Targets& targets, Report& report);
// One caller's large arrays, in every way in which they travel, against a bare sink and NumPy.
void MeasureOneCaller(const Targets& targets, Report& report);
// One caller's sums of all sizes in every way: where another one becomes the fastest.
void MeasureCrossovers(const Targets& targets, Report& report);
// A region of shared memory against a copy of pinned memory to the device.
void MeasureRegions(const Targets& targets, Report& report);
// All devices against one of them.
void MeasureDevices(const Targets& targets, Report& report);
// The load generator, gridfold_load, against a client that does nothing but send.
void MeasureGenerator(const Targets& targets, Report& report);
// Memory over a minute of 256 jobs of mixed sizes.
void MeasureSoak(const Targets& targets, Report& report);

// Three times as many calls as the server can answer: of one with so few lanes and places to wait.
inline constexpr int kOverloadLanes = 4;
inline constexpr int kOverloadQueue = 16;
void MeasureOverload(const Targets& targets, Report& report);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_SECTIONS_H_
