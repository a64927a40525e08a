// The parts of the benchmark. Each adds rows to the report.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_SECTIONS_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_SECTIONS_H_

#include <cstdint>
#include <string>

#include "client/transport_benchmark/report.h"

namespace gridfold::transport_benchmark {

// What the sections measure.
struct Targets {
  std::string gridfold;  // "host:port" of gridfold_server
  std::string bare;      // of the bare server
  bool quick = false;    // A check that all works rather than a measurement.
};

// A resident array of 2^28 elements: what the server takes beside its kernel.
void MeasureResident(const Targets& targets, Report& report);
// Small unary calls against a bare echo of the same bytes.
void MeasureUnary(const Targets& targets, Report& report);
// Many operations in one call.
void MeasureBatches(const Targets& targets, Report& report);
// Streams of chunks against a bare sink, and both ways against a bare relay.
void MeasureStreams(const Targets& targets, Report& report);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_SECTIONS_H_
