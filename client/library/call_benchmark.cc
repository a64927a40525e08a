// Arrays that servers reduce for callers each of whom waits for its answer before it asks again:
// those of 4 KiB, in a call of their own or in batches of 256, and of 1 GiB.
//
//   call_benchmark HOST:PORT... [Google Benchmark's options]
//
// To compare servers on a busy machine, let their turns alternate: --benchmark_repetitions=100
// --benchmark_enable_random_interleaving=true.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gridfold/client.h"

namespace gridfold::client {
namespace {

void ReduceSmallArray(benchmark::State& state, Client& client) {
  const std::vector<float> samples(1024, 0.5f);
  const ReductionOptions options{.statistics = {Statistic::kSum}};
  for (auto _ : state) {
    if (const auto result = client.ReduceArray(samples, options); !result.ok()) {
      state.SkipWithError(result.status().ToString().c_str());
      break;
    }
  }
  state.SetItemsProcessed(state.iterations());
}

void ReduceSmallArraysInBatches(benchmark::State& state, Client& client) {
  constexpr int kOperations = 256;
  const std::vector<float> samples(1024, 0.5f);
  Batch batch;
  for (int i = 0; i < kOperations; ++i) {
    batch.ReduceArray(samples, {.statistics = {Statistic::kSum}});
  }
  absl::Duration kernel_time;
  for (auto _ : state) {
    const auto result = client.BatchCompute(batch);
    if (!result.ok()) {
      state.SkipWithError(result.status().ToString().c_str());
      break;
    }
    kernel_time += result->execution().kernel_time;
  }
  state.SetItemsProcessed(state.iterations() * kOperations);
  const auto operations = static_cast<double>(state.iterations()) * kOperations;
  state.counters["kernel_us_per_operation"] = benchmark::Counter(
      absl::ToDoubleMicroseconds(kernel_time) / operations, benchmark::Counter::kAvgThreads);
}

// The client chooses how the array travels.
void ReduceLargeArray(benchmark::State& state, Client& client) {
  const std::vector<float> samples(size_t{1} << 28, 0.5f);
  const ReductionOptions options{.statistics = {Statistic::kSum}};
  for (auto _ : state) {
    if (const auto result = client.ReduceArray(samples, options); !result.ok()) {
      state.SkipWithError(result.status().ToString().c_str());
      break;
    }
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(samples.size() * sizeof(float)));
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 1; i < argc; ++i) {
    auto client = Client::Connect({.target = argv[i], .channel_count = 4});
    if (!client.ok()) {
      fprintf(stderr, "%s: %s\n", argv[i], client.status().ToString().c_str());
      return EXIT_FAILURE;
    }
    clients.push_back(*std::move(client));
    benchmark::RegisterBenchmark((std::string("ReduceSmallArray/") + argv[i]).c_str(),
                                 ReduceSmallArray, std::ref(*clients.back()))
        ->Threads(1)
        ->Threads(4)
        ->UseRealTime();
    benchmark::RegisterBenchmark((std::string("ReduceSmallArraysInBatches/") + argv[i]).c_str(),
                                 ReduceSmallArraysInBatches, std::ref(*clients.back()))
        ->Threads(1)
        ->Threads(4)
        ->UseRealTime();
    benchmark::RegisterBenchmark((std::string("ReduceLargeArray/") + argv[i]).c_str(),
                                 ReduceLargeArray, std::ref(*clients.back()))
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace gridfold::client

int main(int argc, char** argv) { return gridfold::client::Main(argc, argv); }
