#include "kernels/cuda/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/benchmark/segments.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

struct NamedStatistics {
  const char* name;
  std::vector<Statistic> statistics;
  CubReduction cub;
};

const NamedStatistics kSum = {"sum", {Statistic::kSum}, CubReduction::kSum};
const NamedStatistics kMean = {"mean", {Statistic::kMean}, CubReduction::kMoments};
const NamedStatistics kExtremes = {
    "min+argmax", {Statistic::kMin, Statistic::kArgmax}, CubReduction::kExtremes};
const NamedStatistics kMoments = {
    "sum+min+max+variance",
    {Statistic::kSum, Statistic::kMin, Statistic::kMax, Statistic::kVariance},
    CubReduction::kMoments};

// What CUB would do for the plan; `offsets` and `results` are in device memory.
CubCall CubCallFor(const KernelBenchmark& benchmark, const NamedStatistics& set,
                   const ReductionPlan& plan, const uint64_t* offsets, uint64_t* results) {
  if (plan.grouping.kind == GroupingKind::kWhole) {
    return CubReduce(set.cub, plan.array.element_type, benchmark.input(), plan.array.element_count,
                     results);
  }
  if (set.cub != CubReduction::kSum || plan.array.element_type != ElementType::kFloat32) {
    return nullptr;
  }
  const float* const input = static_cast<const float*>(benchmark.input());
  const uint64_t groups = plan.grouping.group_count;
  float* const sums = reinterpret_cast<float*>(results);
  switch (plan.grouping.kind) {
    case GroupingKind::kSegments: return CubSegmentedSum(input, offsets, groups, sums);
    case GroupingKind::kAxis1: return CubRowSum(input, groups, plan.grouping.group_size, sums);
    case GroupingKind::kWhole:
    case GroupingKind::kAxis0: break;
  }
  return nullptr;
}

// Adds a row, unless the strategy that is forced cannot take it.
absl::Status Measure(KernelBenchmark& benchmark, const NamedStatistics& set,
                     const ArrayDescription& array, GroupingSpec grouping) {
  const auto plan = PlanReduction(array, {.statistics = set.statistics,
                                          .grouping = std::move(grouping),
                                          .strategy = benchmark.selection().strategy});
  if (!plan.ok()) return plan.status();
  const absl::StatusOr<ReductionRoute> route =
      PlanReductionRoute({*plan, benchmark.properties(), IsVectorAddress(benchmark.input())});
  if (IsStrategyRefused(route.status())) return absl::OkStatus();
  if (!route.ok()) return route.status();
  const std::vector<uint64_t>& offsets = plan->grouping.offsets;
  const uint64_t slot_count = plan->result_slot_count() + plan->statistics.size();
  const absl::StatusOr<void*> results = benchmark.Results(slot_count * sizeof(uint64_t));
  if (!results.ok()) return results.status();
  absl::StatusOr<DeviceBuffer> device_offsets =
      DeviceBuffer::Allocate(offsets.size() * sizeof(uint64_t));
  if (!device_offsets.ok()) return device_offsets.status();
  if (!offsets.empty()) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(device_offsets->data(), offsets.data(),
                                                  device_offsets->size_bytes(),
                                                  cudaMemcpyHostToDevice, benchmark.stream()));
  }
  uint64_t* const slots = static_cast<uint64_t*>(*results);
  const ReductionInput input{{benchmark.input(), array.element_count},
                             reinterpret_cast<const uint64_t*>(device_offsets->data())};
  const std::string name =
      absl::StrCat(route->strategy(), " ", set.name, " ", ElementTypeName(array.element_type), " x",
                   plan->grouping.group_count);
  const absl::Status status = benchmark.Measure(name, BytesMoved(*plan), Ceiling::kRead, [&] {
    Scratch scratch = benchmark.NewScratch();
    return LaunchReduction(*plan, *route, input, {slots, slots + plan->result_slot_count()},
                           scratch, benchmark.properties(), benchmark.stream());
  });
  if (!status.ok()) return status;
  return benchmark.CompareWithCub(CubCallFor(benchmark, set, *plan, input.offsets, slots));
}

// Segments of `size` elements, the last one of what is left.
GroupingSpec EvenSegments(uint64_t element_count, uint64_t size) {
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  while (grouping.offsets.back() < element_count) {
    grouping.offsets.push_back(std::min(grouping.offsets.back() + size, element_count));
  }
  return grouping;
}

// Sizes of all magnitudes from 1 to a million.
GroupingSpec SegmentsOfAllMagnitudes(uint64_t element_count) {
  std::uniform_real_distribution<double> digits(0, 6);
  return RaggedSegments(element_count, [&](std::mt19937_64& random) {
    return static_cast<uint64_t>(std::pow(10, digits(random)));
  });
}

// A million segments of 16 elements, and one of all others.
GroupingSpec UnevenSegments(uint64_t element_count) {
  GroupingSpec grouping = EvenSegments(std::min<uint64_t>(element_count / 2, 16 << 20), 16);
  grouping.offsets.push_back(element_count);
  return grouping;
}

absl::Status BenchmarkWhole(KernelBenchmark& benchmark) {
  for (int type = 0; type < kElementTypeCount; ++type) {
    const ElementType element_type = static_cast<ElementType>(type);
    const ArrayDescription array =
        ArrayDescription::Vector(element_type, benchmark.array_bytes() / ElementSize(element_type));
    if (absl::Status status = benchmark.FillInput(element_type); !status.ok()) return status;
    for (const NamedStatistics* set : {&kSum, &kExtremes, &kMoments}) {
      if (absl::Status status = Measure(benchmark, *set, array, {}); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// The columns and the rows of matrices with so many columns.
absl::Status MeasureMatrices(KernelBenchmark& benchmark, ElementType type,
                             std::initializer_list<uint64_t> column_counts,
                             std::initializer_list<const NamedStatistics*> sets) {
  if (absl::Status status = benchmark.FillInput(type); !status.ok()) return status;
  const uint64_t count = benchmark.array_bytes() / ElementSize(type);
  for (const uint64_t columns : column_counts) {
    if (columns > count) continue;
    const ArrayDescription matrix = ArrayDescription::Matrix(type, count / columns, columns);
    for (const GroupingKind kind : {GroupingKind::kAxis0, GroupingKind::kAxis1}) {
      for (const NamedStatistics* set : sets) {
        absl::Status status = Measure(benchmark, *set, matrix, {kind, {}});
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status BenchmarkGroups(KernelBenchmark& benchmark) {
  constexpr ElementType kType = ElementType::kFloat32;
  absl::Status status =
      MeasureMatrices(benchmark, kType, {4, 64, 1024, 16'384, 1 << 20, 1 << 27}, {&kSum});
  if (!status.ok()) return status;
  const uint64_t count = benchmark.array_bytes() / sizeof(float);
  const ArrayDescription vector = ArrayDescription::Vector(kType, count);
  for (const uint64_t size : {16, 256, 4096, 100'000}) {
    status = Measure(benchmark, kSum, vector, EvenSegments(count, size));
    if (!status.ok()) return status;
  }
  for (const GroupingSpec& segments :
       {SegmentsOfMean(count / 2, 16), SegmentsOfMean(count / 2, 256),
        SegmentsOfAllMagnitudes(count), UnevenSegments(count)}) {
    const ArrayDescription array = ArrayDescription::Vector(kType, segments.offsets.back());
    status = Measure(benchmark, kSum, array, segments);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Unrelated arrays of 1 KiB to 64 KiB that share a launch, as many as the input holds of 4,096,
// beside one array of as many elements.
absl::Status BenchmarkBatch(KernelBenchmark& benchmark) {
  constexpr ElementType kType = ElementType::kFloat32;
  constexpr uint64_t kArrays = 4096;
  std::mt19937_64 random(4096);
  constexpr uint64_t kElementsMax = 16 * 1024;
  const uint64_t room = benchmark.array_bytes() / sizeof(float);
  std::uniform_int_distribution<uint64_t> size(256, kElementsMax);
  GroupingSpec arrays{GroupingKind::kSegments, {0}};
  while (arrays.offsets.size() <= kArrays && arrays.offsets.back() + kElementsMax <= room) {
    arrays.offsets.push_back(arrays.offsets.back() + size(random));
  }
  const ArrayDescription array = ArrayDescription::Vector(kType, arrays.offsets.back());
  if (absl::Status status = benchmark.FillInput(kType); !status.ok()) return status;
  for (const NamedStatistics* set : {&kSum, &kMoments}) {
    if (absl::Status status = Measure(benchmark, *set, array, arrays); !status.ok()) return status;
    if (absl::Status status = Measure(benchmark, *set, array, {}); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchmarkReductions(KernelBenchmark& benchmark) {
  if (absl::Status status = BenchmarkWhole(benchmark); !status.ok()) return status;
  if (absl::Status status = BenchmarkGroups(benchmark); !status.ok()) return status;
  return BenchmarkBatch(benchmark);
}

absl::Status BenchmarkReductionsOfSize(KernelBenchmark& benchmark) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    absl::Status status = benchmark.FillInput(type);
    const auto array = ArrayDescription::Vector(type, benchmark.array_bytes() / ElementSize(type));
    if (status.ok()) status = Measure(benchmark, kSum, array, {});
    if (status.ok()) status = Measure(benchmark, kMoments, array, {});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status BenchmarkMatrices(KernelBenchmark& benchmark) {
  using enum ElementType;
  for (const ElementType type : {kInt8, kInt32, kInt64, kFloat16, kBfloat16, kFloat32, kFloat64}) {
    absl::Status status = MeasureMatrices(benchmark, type, {4, 64, 1000, 1 << 20},
                                          {&kSum, &kMean, &kExtremes, &kMoments});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
