// Times the exact sum of the elements in a file, for numpy_benchmark.py, which writes the file.
//
//   exact_sum_benchmark float32|float64 FILE THREADS
//
// prints the least time of a sum in milliseconds, of several runs, and the sum.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "kernels/engine.h"

namespace gridfold::kernels {
namespace {

constexpr int kWarmUps = 1;
constexpr int kRuns = 6;

std::vector<std::byte> ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> bytes(file ? static_cast<size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

int Measure(ElementType type, const std::vector<std::byte>& bytes, int threads) {
  const auto engine = CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = threads}).value();
  const auto lane = engine->CreateLane({bytes.size(), 1 << 20, 1, 1}).value();
  const ReductionPlan plan =
      PlanReduction(ArrayDescription::Vector(type, bytes.size() / ElementSize(type)),
                    {.statistics = {Statistic::kSum}, .grouping = {}})
          .value();
  double least_ms = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (int run = 0; run < kWarmUps + kRuns; ++run) {
    RunStatistics statistics;
    const auto begin = std::chrono::steady_clock::now();
    const auto result =
        lane->RunReduction(plan, HostSpan{bytes.data(), plan.array.size_bytes()}, {}, statistics);
    const auto end = std::chrono::steady_clock::now();
    if (!result.ok()) return 1;
    sum = std::bit_cast<double>(result->columns[0].slots[0]);
    if (run >= kWarmUps) {
      least_ms = std::min(least_ms, std::chrono::duration<double, std::milli>(end - begin).count());
    }
  }
  std::printf("%.3f %.17g\n", least_ms, sum);
  return 0;
}

}  // namespace
}  // namespace gridfold::kernels

int main(int argc, char** argv) {
  using namespace gridfold::kernels;  // NOLINT
  if (argc != 4) {
    std::fprintf(stderr, "usage: exact_sum_benchmark float32|float64 FILE THREADS\n");
    return 2;
  }
  const ElementType type =
      std::string(argv[1]) == "float32" ? ElementType::kFloat32 : ElementType::kFloat64;
  return Measure(type, ReadFile(argv[2]), std::atoi(argv[3]));
}
