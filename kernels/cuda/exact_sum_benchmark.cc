// Exact sums on data of every kind. CUB's sums beside them are not exact.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_status.h"
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
  const absl::Status status = benchmark.Measure(name, array.size_bytes(), Ceiling::kRead, [&] {
    Scratch scratch = benchmark.NewScratch();
    const ReductionInput input{{benchmark.input(), count}, nullptr, benchmark.idle_total()};
    return LaunchReduction(*plan, input, output, scratch, benchmark.properties(),
                           benchmark.stream());
  });
  if (!status.ok() || &set != &kSum) return status;
  return benchmark.CompareWithCub(
      CubReduce(CubReduction::kSum, type, benchmark.input(), count, benchmark.output()));
}

absl::Status BenchmarkOneSet(KernelBenchmark& benchmark, ElementType type, BenchmarkData data) {
  const uint64_t count = std::min(kElements, benchmark.array_bytes() / ElementSize(type));
  absl::Status status = benchmark.FillInput(type, data);
  for (const StatisticSet* set : {&kSum, &kFused}) {
    if (status.ok()) status = MeasureExact(benchmark, *set, type, count, NameOf(data));
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
