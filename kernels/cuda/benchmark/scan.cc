#include "kernels/cuda/scan/scan.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/strategy_error.h"
#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/scan/totals.h"

namespace gridfold::kernels::cuda {

namespace {

// Sums wrap around: what overflows is not what is measured.
ScanSpec SpecOf(ScanOperation operation, ElementType output_type, GroupingSpec grouping = {}) {
  ScanSpec spec;
  spec.operation = operation;
  spec.output_type = output_type;
  spec.grouping = std::move(grouping);
  spec.overflow_policy = OverflowPolicy::kWrap;
  return spec;
}

// Adds a row, unless the strategy that is forced cannot take it. `wide_form`: its operation, where
// that is measured.
absl::Status Measure(KernelBenchmark& benchmark, const ArrayDescription& array,
                     const ScanSpec& spec, const char* remark = "",
                     std::optional<ScanOperation> wide_form = std::nullopt) {
  auto plan = PlanScan(array, spec);
  if (!plan.ok()) return plan.status();
  const absl::Status is_selected =
      CheckOnlyStrategy(benchmark.selection().strategy, ScanStrategy(*plan));
  if (!is_selected.ok()) return absl::OkStatus();
  const std::vector<uint64_t>& offsets = plan->grouping.offsets;
  absl::StatusOr<DeviceBuffer> device_offsets =
      DeviceBuffer::Allocate(offsets.size() * sizeof(uint64_t));
  if (!device_offsets.ok()) return device_offsets.status();
  absl::StatusOr<DeviceBuffer> flag = DeviceBuffer::Allocate(sizeof(uint32_t));
  if (!flag.ok()) return flag.status();
  if (!offsets.empty()) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(device_offsets->data(), offsets.data(),
                                                  device_offsets->size_bytes(),
                                                  cudaMemcpyHostToDevice, benchmark.stream()));
  }
  const ScanInput input{{benchmark.input(), array.element_count},
                        reinterpret_cast<const uint64_t*>(device_offsets->data())};
  const ScanOutput output{{benchmark.output(), array.element_count},
                          reinterpret_cast<uint32_t*>(flag->data())};
  const std::string name = absl::StrCat(
      ScanStrategy(*plan), " ", ScanOperationName(plan->operation), " ",
      ElementTypeName(array.element_type), " to ", ElementTypeName(plan->output_type), remark,
      plan->grouping.group_count > 1 ? absl::StrCat(" x", plan->grouping.group_count) : "");
  const uint64_t bytes =
      array.size_bytes() + offsets.size() * sizeof(uint64_t) + plan->output_size_bytes();
  plan->operation = wide_form.value_or(plan->operation);
  const absl::Status status = benchmark.Measure(name, bytes, Ceiling::kCopy, [&] {
    Scratch scratch = benchmark.NewScratch();
    return LaunchScan(*plan, input, output, DeviceScanCarry{}, scratch, benchmark.properties(),
                      benchmark.stream());
  });
  const bool cub_does_it = plan->grouping.kind == GroupingKind::kWhole && !spec.exact &&
                           spec.direction == ScanDirection::kForward && !wide_form.has_value();
  if (!status.ok() || !cub_does_it) return status;
  return benchmark.CompareWithCub(CubScan(spec.operation, spec.mode, array.element_type,
                                          plan->output_type, benchmark.input(), array.element_count,
                                          benchmark.output()));
}

absl::Status BenchmarkTypes(KernelBenchmark& benchmark) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = static_cast<ElementType>(t);
    if (absl::Status status = benchmark.FillInput(type); !status.ok()) return status;
    const auto own = ArrayDescription::Vector(type, benchmark.array_bytes() / ElementSize(type));
    for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kMax}) {
      absl::Status status = Measure(benchmark, own, SpecOf(operation, type));
      if (!status.ok()) return status;
    }
    // As many elements as results of 8 bytes find room for.
    const ElementType wide = AccumulatorType(type);
    if (wide == type) continue;
    const auto widened = ArrayDescription::Vector(type, benchmark.array_bytes() / 8);
    for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kProduct}) {
      absl::Status status = Measure(benchmark, widened, SpecOf(operation, wide));
      if (!status.ok()) return status;
    }
    if (!IsFloatingPoint(type)) continue;
    const absl::Status status = Measure(benchmark, widened, SpecOf(ScanOperation::kProduct, wide),
                                        " scaled", ScanOperation::kScaledProduct);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status BenchmarkModes(KernelBenchmark& benchmark, const ArrayDescription& array) {
  ScanSpec exclusive = SpecOf(ScanOperation::kSum, array.element_type);
  exclusive.mode = ScanMode::kExclusive;
  absl::Status status = Measure(benchmark, array, exclusive, " exclusive");
  if (!status.ok()) return status;
  ScanSpec reverse = SpecOf(ScanOperation::kSum, array.element_type);
  reverse.direction = ScanDirection::kReverse;
  return Measure(benchmark, array, reverse, " reverse");
}

absl::Status BenchmarkGroups(KernelBenchmark& benchmark, const ArrayDescription& array) {
  for (const uint64_t columns : {4, 64, 1024, 16'384}) {
    const ArrayDescription matrix =
        ArrayDescription::Matrix(array.element_type, array.element_count / columns, columns);
    absl::Status status =
        Measure(benchmark, matrix,
                SpecOf(ScanOperation::kSum, array.element_type, {GroupingKind::kAxis1, {}}));
    if (!status.ok()) return status;
  }
  for (const uint64_t size : {16, 4096}) {
    GroupingSpec segments{GroupingKind::kSegments, {}};
    for (uint64_t i = 0; i <= array.element_count; i += size) segments.offsets.push_back(i);
    const ScanSpec spec = SpecOf(ScanOperation::kSum, array.element_type, std::move(segments));
    if (absl::Status status = Measure(benchmark, array, spec, " segments"); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

// Exact sums next to rounded ones of the same elements: 2^28 of them where arrays have 2 GiB.
absl::Status BenchmarkExactScans(KernelBenchmark& benchmark) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    if (absl::Status status = benchmark.FillInput(type); !status.ok()) return status;
    const uint64_t count = benchmark.array_bytes() / sizeof(double);
    const ArrayDescription matrix = ArrayDescription::Matrix(type, count / 1024, 1024);
    for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0}) {
      ScanSpec spec = SpecOf(ScanOperation::kSum, type, {kind, {}});
      for (const bool exact : {false, true}) {
        spec.exact = exact;
        absl::Status status =
            Measure(benchmark, matrix, spec, absl::StrCat(" of ", count >> 20, "Mi").c_str());
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

// What a scan of several parts does first, next to a read of the part.
absl::Status BenchmarkTotals(KernelBenchmark& benchmark) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    const ElementType type = static_cast<ElementType>(t);
    if (absl::Status status = benchmark.FillInput(type); !status.ok()) return status;
    const auto array = ArrayDescription::Vector(type, benchmark.array_bytes() / ElementSize(type));
    for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kMax}) {
      const auto plan = PlanScan(array, SpecOf(operation, type));
      if (!plan.ok()) return plan.status();
      absl::Status status = benchmark.Measure(
          absl::StrCat("scan/totals ", ScanOperationName(operation), " ", ElementTypeName(type)),
          array.size_bytes(), Ceiling::kRead, [&] {
            Scratch scratch = benchmark.NewScratch();
            return LaunchScanTotals(*plan, {benchmark.input(), array.element_count}, scratch,
                                    benchmark.properties(), benchmark.stream())
                .status();
          });
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchmarkScans(KernelBenchmark& benchmark) {
  absl::Status types = BenchmarkTypes(benchmark);
  if (types.ok()) types = BenchmarkTotals(benchmark);
  if (!types.ok()) return types;
  constexpr ElementType kType = ElementType::kFloat32;
  if (absl::Status status = benchmark.FillInput(kType); !status.ok()) return status;
  const auto array = ArrayDescription::Vector(kType, benchmark.array_bytes() / sizeof(float));
  if (absl::Status status = BenchmarkModes(benchmark, array); !status.ok()) return status;
  if (absl::Status status = BenchmarkGroups(benchmark, array); !status.ok()) return status;
  return BenchmarkExactScans(benchmark);
}

absl::Status BenchmarkScansOfSize(KernelBenchmark& benchmark) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kInt64}) {
    const auto array = ArrayDescription::Vector(type, benchmark.array_bytes() / ElementSize(type));
    absl::Status status = benchmark.FillInput(type);
    if (status.ok()) status = Measure(benchmark, array, SpecOf(ScanOperation::kSum, type));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Matrices from four columns to four rows.
absl::Status BenchmarkColumnScans(KernelBenchmark& benchmark) {
  using enum ElementType;
  for (const auto& [type, output_type] : {std::pair{kFloat32, kFloat32},
                                          {kFloat64, kFloat64},
                                          {kInt32, kInt32},
                                          {kInt64, kInt64},
                                          {kFloat32, kFloat64},
                                          {kInt32, kInt64}}) {
    if (absl::Status status = benchmark.FillInput(type); !status.ok()) return status;
    const uint64_t count = benchmark.array_bytes() / ElementSize(output_type);
    for (const uint64_t columns :
         {uint64_t{4}, uint64_t{16}, uint64_t{24}, uint64_t{64}, uint64_t{1000}, uint64_t{1024},
          uint64_t{16'384}, uint64_t{1} << 20, count / 100, count / 4}) {
      absl::Status status =
          Measure(benchmark, ArrayDescription::Matrix(type, count / columns, columns),
                  SpecOf(ScanOperation::kSum, output_type, {GroupingKind::kAxis0, {}}));
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
