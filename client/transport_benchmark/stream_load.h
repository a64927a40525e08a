// Streams of large messages over any number of connections.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_STREAM_LOAD_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_STREAM_LOAD_H_

#include <cstdint>
#include <string>

namespace gridfold::transport_benchmark {

struct StreamLoad {
  std::string target{};            // "host:port"
  std::string method{};            // "/package.Service/Method", of a stream of requests or
                                   // one both ways.
  std::string header{};            // The first message.
  uint64_t chunk_bytes = 2 << 20;  // Of data, field 2 of each further message.
  uint64_t chunk_count = 1024;     // Of each connection.
  int connections = 1;

  // Of each connection, as float32.
  uint64_t element_count() const { return chunk_bytes * chunk_count / sizeof(float); }
};

struct StreamFigures {
  double sent_bytes_per_second = 0;  // Data of all connections together, until the last answer.
  uint64_t received_bytes = 0;       // Messages that came back.
  std::string first_error{};         // Empty where all streams ended with OK.
};

// Blocks until all streams have ended.
StreamFigures RunStreamLoad(const StreamLoad& load);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_STREAM_LOAD_H_
