// Times an operation of the CPU engine on the elements in a file, for numpy_benchmark.py, which
// writes the file.
//
//   operation_benchmark sum|scan|histogram|copy TYPE FILE THREADS
//
// prints the least time of several runs in milliseconds, and of the answer the sum, the last prefix
// sum, the count of the first of 1,024 even bins of [0, 1), or the last element copied. No scan is
// faster than a copy, which goes past the caches.
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
#include <memory>
#include <string>

#include "kernels/contract/engine.h"
#include "kernels/cpu/base/streaming_store.h"
#include "kernels/cpu/base/worker_pool.h"

namespace gridfold::kernels::cpu {
namespace {

constexpr int kWarmUps = 1;
constexpr int kRuns = 6;
constexpr uint64_t kBins = 1024;

// Memory of the engine, as uploaded arrays have it, with the bytes of a file.
class ResidentFile {
 public:
  ResidentFile(ResidentPool& pool, const char* path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    memory_ = pool.Allocate(file ? static_cast<uint64_t>(file.tellg()) : 0).value();
    file.seekg(0);
    file.read(reinterpret_cast<char*>(memory_->span().data),
              static_cast<std::streamsize>(memory_->span().size_bytes));
  }
  ResidentSpan span() const { return memory_->span(); }

 private:
  std::unique_ptr<ResidentMemory> memory_;
};

// An operation on one array by one lane. Each returns its answer as a number, or NaN where it
// fails.
class Operations {
 public:
  Operations(Lane& lane, ResidentPool& pool, const ArrayDescription& array, ResidentSpan input)
      : lane_(lane), pool_(pool), array_(array), input_(input) {}

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
    output_ = pool_.Allocate(plan.output_size_bytes()).value();
    return [this, plan] {
      RunStatistics statistics;
      const absl::Status status = lane_.RunScan(plan, input_, output_->span(), {}, statistics);
      return status.ok() ? LastResult() : kFailed;
    };
  }

  std::function<double()> Copy(WorkerPool& workers) {
    output_ = pool_.Allocate(input_.size_bytes).value();
    return [this, &workers] {
      constexpr uint64_t kBlockBytes = 1 << 20;
      const uint64_t blocks = (input_.size_bytes + kBlockBytes - 1) / kBlockBytes;
      const absl::Status status =
          workers.ForEach(blocks, workers.thread_count(), {}, [this](uint64_t block) {
            const uint64_t begin = block * kBlockBytes;
            CopyPastCaches(begin, std::min(begin + kBlockBytes, input_.size_bytes));
          });
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

  void CopyPastCaches(uint64_t begin, uint64_t end) const {
    uint64_t i = begin;
    for (; i + kVectorBytes <= end; i += kVectorBytes) {
      StoreVector<true>(LoadVector<uint64_t>(input_.data + i), output_->span().data + i);
    }
    std::copy(input_.data + i, input_.data + end, output_->span().data + i);
    FinishStreaming();
  }

  double LastResult() const {
    const std::byte* const last = output_->span().data + output_->span().size_bytes;
    return VisitElementType(array_.element_type, [&](auto tag) {
      typename decltype(tag)::type x;
      std::memcpy(&x, last - sizeof(x), sizeof(x));
      return static_cast<double>(x);
    });
  }

  Lane& lane_;
  ResidentPool& pool_;
  const ArrayDescription array_;
  const ResidentSpan input_;
  std::unique_ptr<ResidentMemory> output_;
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

int Main(const std::string& name, ElementType type, const char* path, int threads) {
  constexpr uint64_t kResidentBytes = uint64_t{1} << 40;
  const auto engine = CreateEngine({.kind = EngineKind::kCpu, .cpu_threads = threads}).value();
  const auto pool = engine->CreateResidentPool(kResidentBytes).value();
  const ResidentFile file(*pool, path);
  const uint64_t size_bytes = file.span().size_bytes;
  const auto lane = engine
                        ->CreateLane({.input_bytes_max = size_bytes,
                                      .output_bytes_max = size_bytes + (1 << 20),
                                      .bin_count_max = kBins,
                                      .group_count_max = 1})
                        .value();
  Operations operations(
      *lane, *pool, ArrayDescription::Vector(type, size_bytes / ElementSize(type)), file.span());
  if (name == "sum") {
    Measure(operations.Sum());
  } else if (name == "scan") {
    Measure(operations.Scan());
  } else if (name == "copy") {
    WorkerPool workers(threads);
    Measure(operations.Copy(workers));
  } else {
    Measure(operations.Histogram());
  }
  return 0;
}

}  // namespace
}  // namespace gridfold::kernels::cpu

int main(int argc, char** argv) {
  using namespace gridfold::kernels;       // NOLINT
  using namespace gridfold::kernels::cpu;  // NOLINT
  if (argc != 5) {
    std::fprintf(stderr, "usage: operation_benchmark sum|scan|histogram|copy TYPE FILE THREADS\n");
    return 2;
  }
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = static_cast<ElementType>(t);
    if (argv[2] != std::string(ElementTypeName(type))) continue;
    return Main(argv[1], type, argv[3], std::atoi(argv[4]));
  }
  return 2;
}
