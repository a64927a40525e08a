// Unary calls over any number of connections: in closed loops, or at a given rate.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_UNARY_LOAD_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_UNARY_LOAD_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace gridfold::transport_benchmark {

// Threads that send calls and take answers. More of them than this compete with
// the server for the processors without sending more.
inline constexpr int kUnaryThreadsMax = 4;

struct UnaryLoad {
  std::string target{};   // "host:port"
  std::string method{};   // "/package.Service/Method"
  std::string request{};  // The bytes of every call.
  int connections = 1;
  int calls_per_connection = 1;  // Under way at the same time.
  // Of all connections together, evenly spaced whatever the answers take, as far as the calls that
  // may be under way allow; 0: each call follows the one before it.
  double calls_per_second = 0;
  std::chrono::milliseconds warm_up{500};
  std::chrono::milliseconds duration{2000};
};

struct UnaryFigures {
  uint64_t answered = 0;        // With OK, within `duration`.
  uint64_t refused = 0;         // With RESOURCE_EXHAUSTED.
  uint64_t failed = 0;          // With anything else.
  double calls_per_second = 0;  // Answered ones.
  // From sending to the answer, of answered calls and of refused ones.
  double p50_us = 0;
  double p99_us = 0;
  double refused_p50_us = 0;
  double refused_p99_us = 0;
  std::string first_error{};
};

// Blocks for the time of the load.
UnaryFigures RunUnaryLoad(const UnaryLoad& load);

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_UNARY_LOAD_H_
