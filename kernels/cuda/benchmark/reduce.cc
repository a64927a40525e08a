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

// Adds a row of the plan by its strategy, unless that cannot take it. `offsets`, of segments, is
// the grouping's on the device.
absl::Status MeasureRoute(KernelBenchmark& benchmark, const NamedStatistics& set,
                          const ReductionPlan& plan, const uint64_t* offsets, uint64_t* slots) {
  const absl::StatusOr<ReductionRoute> route =
      PlanReductionRoute({plan, benchmark.properties(), IsVectorAddress(benchmark.input())});
  if (IsStrategyRefused(route.status())) return absl::OkStatus();
  if (!route.ok()) return route.status();
  const ReductionInput input{{benchmark.input(), plan.array.element_count}, offsets};
  // Whatever the strategy, columns and rows are different questions.
  const bool tells_axis = benchmark.selection().strategy == kAllStrategies &&
                          plan.grouping.kind == GroupingKind::kAxis0;
  const std::string name =
      absl::StrCat(route->strategy(), " ", set.name, " ", ElementTypeName(plan.array.element_type),
                   " x", plan.grouping.group_count, tells_axis ? " columns" : "");
  return benchmark.Measure(name, BytesMoved(plan), Ceiling::kRead, [&] {
    Scratch scratch = benchmark.NewScratch();
    return LaunchReduction(plan, *route, input, {slots, slots + plan.result_slot_count()}, scratch,
                           benchmark.properties(), benchmark.stream());
  });
}

// Adds a row, or one for each strategy that can take it.
absl::Status Measure(KernelBenchmark& benchmark, const NamedStatistics& set,
                     const ArrayDescription& array, GroupingSpec grouping) {
  auto plan = PlanReduction(array, {.statistics = set.statistics, .grouping = std::move(grouping)});
  if (!plan.ok()) return plan.status();
  const std::vector<uint64_t>& offsets = plan->grouping.offsets;
  const uint64_t slot_count = plan->result_slot_count() + plan->statistics.size();
  const absl::StatusOr<void*> results = benchmark.Results(slot_count * sizeof(uint64_t));
  if (!results.ok()) return results.status();
  uint64_t* const slots = static_cast<uint64_t*>(*results);
  absl::StatusOr<DeviceBuffer> offsets_buffer =
      DeviceBuffer::Allocate(offsets.size() * sizeof(uint64_t));
  if (!offsets_buffer.ok()) return offsets_buffer.status();
  const auto* const device_offsets = reinterpret_cast<const uint64_t*>(offsets_buffer->data());
  if (!offsets.empty()) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(offsets_buffer->data(), offsets.data(),
                                                  offsets_buffer->size_bytes(),
                                                  cudaMemcpyHostToDevice, benchmark.stream()));
  }
  std::vector<std::string> strategies = {benchmark.selection().strategy};
  if (strategies.front() == kAllStrategies) {
    strategies =
        ReductionStrategies({*plan, benchmark.properties(), IsVectorAddress(benchmark.input())});
  }
  for (std::string& strategy : strategies) {
    plan->strategy = std::move(strategy);
    absl::Status status = MeasureRoute(benchmark, set, *plan, device_offsets, slots);
    if (!status.ok()) return status;
  }
  // Beside one row alone.
  if (!benchmark.selection().strategy.empty()) return absl::OkStatus();
  return benchmark.CompareWithCub(CubCallFor(benchmark, set, *plan, device_offsets, slots));
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
