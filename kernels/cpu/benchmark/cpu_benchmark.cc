// Bandwidth of the CPU engine, beside what the machine's memory gives to a plain read and to a copy
// in the same run. `bytes_per_second` counts the input, and the output of scans and copies.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/contract/engine.h"
#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/base/worker_pool.h"

namespace gridfold::kernels::cpu {
namespace {

constexpr uint64_t kArrayBytes = uint64_t{256} << 20;
constexpr uint64_t kBlockBytes = uint64_t{1} << 20;
constexpr uint64_t kUnlimited = ~uint64_t{0};

// Small integers, and floats between 0 and 1: no overflow, no NaN.
template <class T>
std::vector<T> MakeSamples() {
  std::vector<T> samples(kArrayBytes / sizeof(T));
  std::minstd_rand random(1);
  for (T& x : samples) {
    if constexpr (HalfElement<T>) {
      x = T::FromDouble(static_cast<double>(random() % 1000) / 1000);
    } else if constexpr (FloatingElement<T>) {
      x = static_cast<T>(static_cast<double>(random()) / 2147483648.0);
    } else {
      x = static_cast<T>(random() % 100);
    }
  }
  return samples;
}

template <class T>
HostSpan SamplesOf() {
  static const std::vector<T> samples = MakeSamples<T>();
  return {reinterpret_cast<const std::byte*>(samples.data()), samples.size() * sizeof(T)};
}

Engine& CpuEngine() {
  static const std::unique_ptr<Engine> engine = CreateEngine({.kind = EngineKind::kCpu}).value();
  return *engine;
}

Lane& CpuLane() {
  static const std::unique_ptr<Lane> lane =
      CpuEngine().CreateLane({kUnlimited, kUnlimited, kUnlimited, kUnlimited}).value();
  return *lane;
}

struct SumWords {
  static void Run(const uint64_t* words, uint64_t* sum) {
    uint64_t total = 0;
    for (uint64_t i = 0; i < kBlockBytes / sizeof(uint64_t); ++i) total += words[i];
    *sum = total;
  }
};

void PlainRead(benchmark::State& state) {
  WorkerPool workers(0);
  const auto* words = reinterpret_cast<const uint64_t*>(SamplesOf<double>().data);
  for (auto _ : state) {
    (void)workers.ForEach(
        kArrayBytes / kBlockBytes, workers.thread_count(), {}, [&](uint64_t block) {
          uint64_t sum;
          RunForProcessor<SumWords>(words + block * kBlockBytes / sizeof(uint64_t), &sum);
          benchmark::DoNotOptimize(sum);
        });
  }
  state.SetBytesProcessed(state.iterations() * kArrayBytes);
}
BENCHMARK(PlainRead)->MeasureProcessCPUTime()->UseRealTime();

void PlainCopy(benchmark::State& state) {
  WorkerPool workers(0);
  const std::byte* source = SamplesOf<double>().data;
  std::vector<std::byte> target(kArrayBytes);
  for (auto _ : state) {
    (void)workers.ForEach(kArrayBytes / kBlockBytes, workers.thread_count(), {},
                          [&](uint64_t block) {
                            std::memcpy(target.data() + block * kBlockBytes,
                                        source + block * kBlockBytes, kBlockBytes);
                          });
  }
  state.SetBytesProcessed(state.iterations() * 2 * kArrayBytes);
}
BENCHMARK(PlainCopy)->MeasureProcessCPUTime()->UseRealTime();

template <class T>
void Reduce(benchmark::State& state, std::vector<Statistic> statistics, GroupingKind kind,
            uint64_t columns) {
  const HostSpan input = SamplesOf<T>();
  const uint64_t count = input.size_bytes / sizeof(T);
  const ArrayDescription array =
      columns == 0 ? ArrayDescription::Vector(kElementTypeOf<T>, count)
                   : ArrayDescription::Matrix(kElementTypeOf<T>, count / columns, columns);
  const ReductionPlan plan =
      PlanReduction(array, {.statistics = std::move(statistics), .grouping = {kind, {}}}).value();
  RunStatistics run;
  for (auto _ : state) {
    const auto result =
        CpuLane().RunReduction(plan, HostSpan{input.data, array.size_bytes()}, {}, run);
    if (!result.ok()) state.SkipWithError(result.status().ToString().c_str());
  }
  state.SetBytesProcessed(state.iterations() * array.size_bytes());
}

template <class T>
void RegisterReductions(const char* type) {
  const std::vector<Statistic> several = {Statistic::kMin, Statistic::kMax, Statistic::kMean,
                                          Statistic::kVariance, Statistic::kNonzeroCount};
  const auto add = [&](const char* name, std::vector<Statistic> statistics, GroupingKind kind,
                       uint64_t columns) {
    benchmark::RegisterBenchmark(
        (std::string("Reduce/") + name + "/" + type).c_str(),
        [=](benchmark::State& state) { Reduce<T>(state, statistics, kind, columns); })
        ->MeasureProcessCPUTime()
        ->UseRealTime();
  };
  add("sum", {Statistic::kSum}, GroupingKind::kWhole, 0);
  add("min_max", {Statistic::kMin, Statistic::kMax}, GroupingKind::kWhole, 0);
  add("several", several, GroupingKind::kWhole, 0);
  add("sum_rows_of_16", {Statistic::kSum}, GroupingKind::kAxis1, 16);
  add("sum_rows_of_1024", {Statistic::kSum}, GroupingKind::kAxis1, 1024);
  add("sum_down_3_columns", {Statistic::kSum}, GroupingKind::kAxis0, 3);
  add("sum_down_1024_columns", {Statistic::kSum}, GroupingKind::kAxis0, 1024);
  add("several_down_1024_columns", several, GroupingKind::kAxis0, 1024);
}

}  // namespace
}  // namespace gridfold::kernels::cpu

int main(int argc, char** argv) {
  using namespace gridfold::kernels;       // NOLINT
  using namespace gridfold::kernels::cpu;  // NOLINT
  RegisterReductions<int8_t>("int8");
  RegisterReductions<int16_t>("int16");
  RegisterReductions<int32_t>("int32");
  RegisterReductions<int64_t>("int64");
  RegisterReductions<Float16>("float16");
  RegisterReductions<Bfloat16>("bfloat16");
  RegisterReductions<float>("float32");
  RegisterReductions<double>("float64");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
