#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/kernel_benchmark.h"
#include "kernels/cuda/reduce.h"

namespace gridfold::kernels::cuda {

namespace {

struct StatisticSet {
  const char* name;
  std::vector<Statistic> statistics;
};

const StatisticSet kSum = {"sum", {Statistic::kSum}};
const StatisticSet kExtremes = {"min+argmax", {Statistic::kMin, Statistic::kArgmax}};
const StatisticSet kMoments = {
    "sum+min+max+variance",
    {Statistic::kSum, Statistic::kMin, Statistic::kMax, Statistic::kVariance}};

absl::Status Measure(KernelBenchmark& benchmark, const StatisticSet& set,
                     const ArrayDescription& array, GroupingSpec grouping) {
  const auto plan =
      PlanReduction(array, {.statistics = set.statistics, .grouping = std::move(grouping)});
  if (!plan.ok()) return plan.status();
  const std::vector<uint64_t>& offsets = plan->grouping.offsets;
  const uint64_t slot_count = plan->result_slot_count() + plan->statistics.size();
  absl::StatusOr<DeviceBuffer> results = DeviceBuffer::Allocate(slot_count * sizeof(uint64_t));
  if (!results.ok()) return results.status();
  absl::StatusOr<DeviceBuffer> device_offsets =
      DeviceBuffer::Allocate(offsets.size() * sizeof(uint64_t));
  if (!device_offsets.ok()) return device_offsets.status();
  if (!offsets.empty()) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(device_offsets->data(), offsets.data(),
                                                  device_offsets->size_bytes(),
                                                  cudaMemcpyHostToDevice, benchmark.stream()));
  }
  uint64_t* const slots = reinterpret_cast<uint64_t*>(results->data());
  const ReductionInput input{{benchmark.input(), array.element_count},
                             reinterpret_cast<const uint64_t*>(device_offsets->data()),
                             benchmark.idle_total()};
  const std::string name =
      absl::StrCat(ReductionStrategy(*plan, benchmark.properties()), " ", set.name, " ",
                   ElementTypeName(array.element_type), " x", plan->grouping.group_count);
  return benchmark.Measure(name, array.size_bytes(), Ceiling::kRead, [&] {
    Scratch scratch = benchmark.NewScratch();
    return LaunchReduction(*plan, input, {slots, slots + plan->result_slot_count()}, scratch,
                           benchmark.properties(), benchmark.stream());
  });
}

// Segments of `size` elements, the last one of what is left.
GroupingSpec EvenSegments(uint64_t element_count, uint64_t size) {
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  while (grouping.offsets.back() < element_count) {
    grouping.offsets.push_back(std::min(grouping.offsets.back() + size, element_count));
  }
  return grouping;
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
    for (const StatisticSet* set : {&kSum, &kExtremes, &kMoments}) {
      if (absl::Status status = Measure(benchmark, *set, array, {}); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status BenchmarkGroups(KernelBenchmark& benchmark) {
  constexpr ElementType kType = ElementType::kFloat32;
  const uint64_t count = benchmark.array_bytes() / sizeof(float);
  if (absl::Status status = benchmark.FillInput(kType); !status.ok()) return status;
  for (const uint64_t columns : {4, 64, 1024, 16'384}) {
    const ArrayDescription matrix = ArrayDescription::Matrix(kType, count / columns, columns);
    for (const GroupingKind kind : {GroupingKind::kAxis0, GroupingKind::kAxis1}) {
      if (absl::Status status = Measure(benchmark, kSum, matrix, {kind, {}}); !status.ok()) {
        return status;
      }
    }
  }
  const ArrayDescription vector = ArrayDescription::Vector(kType, count);
  for (const uint64_t size : {16, 256, 4096, 100'000}) {
    absl::Status status = Measure(benchmark, kSum, vector, EvenSegments(count, size));
    if (!status.ok()) return status;
  }
  return Measure(benchmark, kSum, vector, UnevenSegments(count));
}

}  // namespace

absl::Status BenchmarkReductions(KernelBenchmark& benchmark) {
  if (absl::Status status = BenchmarkWhole(benchmark); !status.ok()) return status;
  return BenchmarkGroups(benchmark);
}

}  // namespace gridfold::kernels::cuda
