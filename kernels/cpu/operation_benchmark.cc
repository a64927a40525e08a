// Times an operation of the CPU engine on the elements in a file, for numpy_benchmark.py, which
// writes the file.
//
//   operation_benchmark sum|scan|histogram TYPE FILE THREADS
//
// prints the least time of several runs in milliseconds, and of the answer the sum, the last prefix
// sum, or the count of the first of 1,024 even bins of [0, 1).
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernels/engine.h"

namespace gridfold::kernels {
namespace {

constexpr int kWarmUps = 1;
constexpr int kRuns = 6;
constexpr uint64_t kBins = 1024;

std::vector<std::byte> ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> bytes(file ? static_cast<size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// An operation on one array by one lane. Each returns its answer as a number, or NaN where it
// fails.
class Operations {
 public:
  Operations(Lane& lane, const ArrayDescription& array, const std::vector<std::byte>& bytes)
      : lane_(lane), array_(array), input_(HostSpan{bytes.data(), bytes.size()}) {}

  std::function<double()> Sum() {
    const ReductionPlan plan =
        PlanReduction(array_, {.statistics = {Statistic::kSum}, .grouping = {}}).value();
    return [this, plan] {
      RunStatistics statistics;
      const auto result = lane_.RunReduction(plan, input_, {}, statistics);
      return result.ok() ? std::bit_cast<double>(result->columns[0].slots[0]) : kFailed;
    };
  }

  std::function<double()> Scan() {
    ScanSpec spec;
    spec.output_type = array_.element_type;
    spec.overflow_policy = OverflowPolicy::kWrap;  // As NumPy's.
    const ScanPlan plan = PlanScan(array_, std::move(spec)).value();
    output_.resize(plan.output_size_bytes());
    return [this, plan] {
      RunStatistics statistics;
      const absl::Status status = lane_.RunScan(
          plan, input_, MutableHostSpan{output_.data(), output_.size()}, {}, statistics);
      return status.ok() ? LastResult() : kFailed;
    };
  }

  std::function<double()> Histogram() {
    HistogramSpec spec;
    spec.bins = {EvenBinsSpec{kBins, 0, 1}};
    const HistogramPlan plan = PlanHistogram(array_, std::move(spec), kBins).value();
    return [this, plan] {
      RunStatistics statistics;
      const auto result =
          lane_.RunHistogram(plan, {.array = input_, .y_array = {}, .weights = {}}, {}, statistics);
      return result.ok() ? static_cast<double>(result->channels[0].counts[0]) : kFailed;
    };
  }

 private:
  static constexpr double kFailed = std::numeric_limits<double>::quiet_NaN();

  double LastResult() const {
    const std::byte* const last = output_.data() + output_.size();
    return VisitElementType(array_.element_type, [&](auto tag) {
      typename decltype(tag)::type x;
      std::memcpy(&x, last - sizeof(x), sizeof(x));
      return static_cast<double>(x);
    });
  }

  Lane& lane_;
  const ArrayDescription array_;
  const InputSpan input_;
  std::vector<std::byte> output_;
};

void Measure(const std::function<double()>& operation) {
  double least_ms = std::numeric_limits<double>::infinity();
  double answer = 0;
  for (int run = 0; run < kWarmUps + kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    answer = operation();
    const auto end = std::chrono::steady_clock::now();
    if (run >= kWarmUps) {
      least_ms = std::min(least_ms, std::chrono::duration<double, std::milli>(end - begin).count());
    }
  }
  std::printf("%.3f %.17g\n", least_ms, answer);
}

int Main(const std::string& name, ElementType type, const std::vector<std::byte>& bytes,
         int threads) {
  const auto engine = CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = threads}).value();
  const auto lane = engine
                        ->CreateLane({.input_bytes_max = bytes.size(),
                                      .output_bytes_max = bytes.size() + (1 << 20),
                                      .bin_count_max = kBins,
                                      .group_count_max = 1})
                        .value();
  Operations operations(*lane, ArrayDescription::Vector(type, bytes.size() / ElementSize(type)),
                        bytes);
  if (name == "sum") {
    Measure(operations.Sum());
  } else if (name == "scan") {
    Measure(operations.Scan());
  } else {
    Measure(operations.Histogram());
  }
  return 0;
}

}  // namespace
}  // namespace gridfold::kernels

int main(int argc, char** argv) {
  using namespace gridfold::kernels;  // NOLINT
  if (argc != 5) {
    std::fprintf(stderr, "usage: operation_benchmark sum|scan|histogram TYPE FILE THREADS\n");
    return 2;
  }
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = static_cast<ElementType>(t);
    if (argv[2] != std::string(ElementTypeName(type))) continue;
    return Main(argv[1], type, ReadFile(argv[3]), std::atoi(argv[4]));
  }
  return 2;
}
