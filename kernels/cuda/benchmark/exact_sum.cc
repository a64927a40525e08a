// Exact sums on data of every kind. CUB's sums beside them are not exact.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/benchmark/segments.h"
#include "kernels/cuda/device/buffer.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/reduce/reduce.h"

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

struct NamedStatistics {
  const char* name;
  std::vector<Statistic> statistics;
};
const NamedStatistics kSum = {"sum", {Statistic::kSum}};
const NamedStatistics kFused = {
    "sum+mean+variance+min+max",
    {Statistic::kSum, Statistic::kMean, Statistic::kVariance, Statistic::kMin, Statistic::kMax}};

// Of the input's first elements, unless the strategy that is forced cannot take them. `offsets`, of
// segments, is the grouping's on the device.
absl::Status MeasureExact(KernelBenchmark& benchmark, const NamedStatistics& set,
                          const ArrayDescription& array, const GroupingSpec& grouping,
                          const std::string& what, const uint64_t* offsets = nullptr) {
  const uint64_t count = array.element_count;
  const ElementType type = array.element_type;
  const auto plan = PlanReduction(array, {.statistics = set.statistics,
                                          .grouping = grouping,
                                          .strategy = benchmark.selection().strategy});
  if (!plan.ok()) return plan.status();
  const absl::StatusOr<ReductionRoute> route =
      PlanReductionRoute({*plan, benchmark.properties(), IsVectorAddress(benchmark.input())});
  if (IsStrategyRefused(route.status())) return absl::OkStatus();
  if (!route.ok()) return route.status();
  uint64_t* const slots = static_cast<uint64_t*>(benchmark.output());
  const ReductionOutput output{slots, slots + plan->result_slot_count()};
  const std::string name = absl::StrCat("exact ", set.name, " ", ElementTypeName(type), " ", what);
  const absl::Status status = benchmark.Measure(name, BytesMoved(*plan), Ceiling::kRead, [&] {
    Scratch scratch = benchmark.NewScratch();
    const ReductionInput input{{benchmark.NextInput(array.size_bytes()), count}, offsets};
    return LaunchReduction(*plan, *route, input, output, scratch, benchmark.properties(),
                           benchmark.stream());
  });
  if (!status.ok() || &set != &kSum || grouping.kind != GroupingKind::kWhole) return status;
  const auto next_call = [&] {
    return CubReduce(CubReduction::kSum, type, benchmark.NextInput(array.size_bytes()), count,
                     benchmark.output());
  };
  if (next_call() == nullptr) return status;
  return benchmark.CompareWithCub([&](void* scratch, size_t& scratch_bytes, cudaStream_t stream) {
    return next_call()(scratch, scratch_bytes, stream);
  });
}

absl::Status BenchmarkOneSet(KernelBenchmark& benchmark, ElementType type, BenchmarkData data) {
  const uint64_t count = std::min(kElements, benchmark.array_bytes() / ElementSize(type));
  absl::Status status = benchmark.FillInput(type, data);
  for (const NamedStatistics* set : {&kSum, &kFused}) {
    if (!status.ok()) return status;
    status = MeasureExact(benchmark, *set, ArrayDescription::Vector(type, count), {}, NameOf(data));
  }
  return status;
}

absl::Status BenchmarkSmall(KernelBenchmark& benchmark) {
  constexpr ElementType kType = ElementType::kFloat32;
  absl::Status status = benchmark.FillInput(kType);
  for (const int log2 : {10, 12, 14, 16, 20}) {
    const uint64_t count = uint64_t{1} << log2;
    const std::string what = absl::StrCat("2^", log2);
    if (!status.ok()) return status;
    status = MeasureExact(benchmark, kSum, ArrayDescription::Vector(kType, count), {}, what);
  }
  return status;
}

absl::Status MeasureSegments(KernelBenchmark& benchmark, const NamedStatistics& set,
                             ElementType type, uint64_t count, uint64_t mean,
                             const std::string& what) {
  // A variance needs an element.
  const GroupingSpec segments = SegmentsOfMean(count, mean, &set == &kSum ? 0 : 1);
  const uint64_t bytes = segments.offsets.size() * sizeof(uint64_t);
  absl::StatusOr<DeviceBuffer> offsets = DeviceBuffer::Allocate(bytes);
  if (!offsets.ok()) return offsets.status();
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(offsets->data(), segments.offsets.data(), bytes,
                                                cudaMemcpyHostToDevice, benchmark.stream()));
  return MeasureExact(benchmark, set, ArrayDescription::Vector(type, count), segments,
                      absl::StrCat("segments of mean ", mean, " ", what),
                      reinterpret_cast<const uint64_t*>(offsets->data()));
}

// Several statistics of groups, of which the moments are made another way where magnitudes are far
// apart or elements far from 0.
absl::Status BenchmarkGroupMoments(KernelBenchmark& benchmark, BenchmarkData data) {
  constexpr ElementType kType = ElementType::kFloat64;
  const uint64_t count = std::min(kElements, benchmark.array_bytes() / ElementSize(kType));
  absl::Status status = benchmark.FillInput(kType, data);
  for (const uint64_t size : {8, 64, 1000}) {
    if (!status.ok()) return status;
    const auto rows = ArrayDescription::Matrix(kType, count / size, size);
    status = MeasureExact(benchmark, kFused, rows, {GroupingKind::kAxis1, {}},
                          absl::StrCat("rows of ", size, " ", NameOf(data)));
  }
  for (const uint64_t mean : {16, 256}) {
    if (!status.ok()) return status;
    status = MeasureSegments(benchmark, kFused, kType, count, mean, NameOf(data));
  }
  return status;
}

// Sums of groups, which are made another way where the magnitudes of a group are far apart.
absl::Status BenchmarkGroups(KernelBenchmark& benchmark) {
  constexpr ElementType kType = ElementType::kFloat32;
  const uint64_t count = std::min(kElements, benchmark.array_bytes() / ElementSize(kType));
  for (const BenchmarkData data :
       {BenchmarkData::kNormal, BenchmarkData::kSpread, BenchmarkData::kAnyBits}) {
    absl::Status status = benchmark.FillInput(kType, data);
    for (const uint64_t size : {4, 64, 1024}) {
      if (!status.ok()) return status;
      const auto rows = ArrayDescription::Matrix(kType, count / size, size);
      status = MeasureExact(benchmark, kSum, rows, {GroupingKind::kAxis1, {}},
                            absl::StrCat("rows of ", size, " ", NameOf(data)));
    }
    for (const uint64_t columns : {64, 1 << 20}) {
      if (!status.ok()) return status;
      if (columns > count) continue;
      const auto matrix = ArrayDescription::Matrix(kType, count / columns, columns);
      status = MeasureExact(benchmark, kSum, matrix, {GroupingKind::kAxis0, {}},
                            absl::StrCat("axis-0 x", columns, " ", NameOf(data)));
    }
    if (status.ok()) status = MeasureSegments(benchmark, kSum, kType, count, 256, NameOf(data));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchmarkExactSums(KernelBenchmark& benchmark) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                 ElementType::kFloat16, ElementType::kBfloat16}) {
    for (const BenchmarkData data : kBenchmarkDataSets) {
      if (absl::Status status = BenchmarkOneSet(benchmark, type, data); !status.ok()) return status;
    }
  }
  absl::Status status = BenchmarkSmall(benchmark);
  if (status.ok()) status = BenchmarkGroups(benchmark);
  for (const BenchmarkData data : {BenchmarkData::kNormal, BenchmarkData::kSorted,
                                   BenchmarkData::kSpread, BenchmarkData::kAnyBits}) {
    if (status.ok()) status = BenchmarkGroupMoments(benchmark, data);
  }
  return status;
}

}  // namespace gridfold::kernels::cuda
