// Calls a second of a server with small arrays: 4 KiB reductions from several threads, each of
// which waits for its answer before it asks again. GRIDFOLD_SERVER names the server, host:port.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "gridfold/client.h"

namespace gridfold::client {
namespace {

// Shared by all threads. Ends the program where the server cannot be reached.
Client& SharedClient() {
  static Client* const client = [] {
    ClientOptions options;
    if (const char* const server = std::getenv("GRIDFOLD_SERVER")) options.target = server;
    options.channel_count = 4;
    return Client::Connect(options).value().release();
  }();
  return *client;
}

void ReduceSmallArray(benchmark::State& state) {
  const std::vector<float> samples(1024, 0.5f);
  const ReductionOptions options{.statistics = {Statistic::kSum}};
  for (auto _ : state) {
    if (const auto result = SharedClient().ReduceArray(samples, options); !result.ok()) {
      state.SkipWithError(result.status().ToString().c_str());
      break;
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ReduceSmallArray)->Threads(1)->Threads(4)->Threads(8)->UseRealTime();

}  // namespace
}  // namespace gridfold::client

BENCHMARK_MAIN();
