// Exact sums on data of every kind, beside CUB's sums, which are not exact.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/exact_sum_benchmark_device.h"
#include "kernels/cuda/kernel_benchmark.h"
#include "kernels/cuda/reduce.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint64_t kElements = uint64_t{1} << 28;

const char* NameOf(BenchmarkData data) {
  switch (data) {
    case BenchmarkData::kUniform: return "uniform";
    case BenchmarkData::kNormal: return "normal";
    case BenchmarkData::kSorted: return "sorted";
    case BenchmarkData::kDrifting: return "drifting";
    case BenchmarkData::kSpread: return "spread";
    case BenchmarkData::kAnyBits: return "any-bits";
  }
  return "";
}

struct StatisticSet {
  const char* name;
  std::vector<Statistic> statistics;
};
const StatisticSet kSum = {"sum", {Statistic::kSum}};
const StatisticSet kFused = {
    "sum+mean+variance+min+max",
    {Statistic::kSum, Statistic::kMean, Statistic::kVariance, Statistic::kMin, Statistic::kMax}};

// Of the first `count` elements of the input.
absl::Status MeasureExact(KernelBenchmark& benchmark, const StatisticSet& set, ElementType type,
                          uint64_t count, const std::string& what) {
  const ArrayDescription array = ArrayDescription::Vector(type, count);
  const auto plan = PlanReduction(array, {.statistics = set.statistics, .grouping = {}});
  if (!plan.ok()) return plan.status();
  uint64_t* const slots = static_cast<uint64_t*>(benchmark.output());
  const ReductionOutput output{slots, slots + plan->result_slot_count()};
  const std::string name = absl::StrCat("exact ", set.name, " ", ElementTypeName(type), " ", what);
  return benchmark.Measure(name, array.size_bytes(), Ceiling::kRead, [&] {
    Scratch scratch = benchmark.NewScratch();
    const ReductionInput input{{benchmark.input(), count}, nullptr, benchmark.idle_total()};
    return LaunchReduction(*plan, input, output, scratch, benchmark.properties(),
                           benchmark.stream());
  });
}

template <class T>
absl::Status MeasureCub(KernelBenchmark& benchmark, ElementType type, uint64_t count,
                        const std::string& what) {
  Scratch scratch = benchmark.NewScratch();
  const T* const input = static_cast<const T*>(benchmark.input());
  T* const output = static_cast<T*>(benchmark.output());
  size_t bytes = 0;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      CubSum<T>(nullptr, bytes, input, output, count, benchmark.stream()));
  const auto memory = scratch.Allocate<std::byte>(bytes);
  if (!memory.ok()) return memory.status();
  const std::string name = absl::StrCat("cub sum ", ElementTypeName(type), " ", what);
  return benchmark.Measure(name, count * sizeof(T), Ceiling::kRead, [&]() -> absl::Status {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        CubSum<T>(*memory, bytes, input, output, count, benchmark.stream()));
    return absl::OkStatus();
  });
}

absl::Status BenchmarkOneSet(KernelBenchmark& benchmark, ElementType type, BenchmarkData data) {
  const uint64_t count = std::min(kElements, benchmark.array_bytes() / ElementSize(type));
  absl::Status status = benchmark.FillInput(type, data);
  for (const StatisticSet* set : {&kSum, &kFused}) {
    if (status.ok()) status = MeasureExact(benchmark, *set, type, count, NameOf(data));
  }
  if (status.ok() && type == ElementType::kFloat32) {
    status = MeasureCub<float>(benchmark, type, count, NameOf(data));
  } else if (status.ok() && type == ElementType::kFloat64) {
    status = MeasureCub<double>(benchmark, type, count, NameOf(data));
  }
  return status;
}

absl::Status BenchmarkSmall(KernelBenchmark& benchmark) {
  constexpr ElementType kType = ElementType::kFloat32;
  absl::Status status = benchmark.FillInput(kType);
  for (const int log2 : {10, 12, 14, 16, 20}) {
    const uint64_t count = uint64_t{1} << log2;
    const std::string what = absl::StrCat("2^", log2);
    if (status.ok()) status = MeasureExact(benchmark, kSum, kType, count, what);
    if (status.ok()) status = MeasureCub<float>(benchmark, kType, count, what);
  }
  return status;
}

}  // namespace

absl::Status BenchmarkExactSums(KernelBenchmark& benchmark) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                 ElementType::kFloat16, ElementType::kBfloat16}) {
    for (const BenchmarkData data : kBenchmarkDataSets) {
      if (absl::Status status = BenchmarkOneSet(benchmark, type, data); !status.ok()) return status;
    }
  }
  return BenchmarkSmall(benchmark);
}

}  // namespace gridfold::kernels::cuda
