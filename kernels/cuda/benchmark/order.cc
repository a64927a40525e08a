#include "kernels/cuda/order/order.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

// What lanes have for the inputs of other jobs, where a job's own is resident.
constexpr uint64_t kSpareBytes = uint64_t{256} << 20;

OrderInput InputOf(KernelBenchmark& benchmark, const ArrayDescription& array) {
  return {{benchmark.input(), array.element_count},
          nullptr,
          {static_cast<std::byte*>(benchmark.output()),
           std::min(kSpareBytes, benchmark.array_bytes())}};
}

std::string NameOf(const char* strategy, const ArrayDescription& array, const char* remark,
                   const Grouping& grouping) {
  return absl::StrCat(strategy, " ", ElementTypeName(array.element_type), remark,
                      grouping.group_count > 1
                          ? absl::StrCat(" ", grouping.group_count, " x ", grouping.group_size)
                          : "");
}

absl::Status MeasureQuantiles(KernelBenchmark& benchmark, const ArrayDescription& array,
                              QuantileSpec spec, const char* remark) {
  if (array.is_matrix) spec.grouping.kind = GroupingKind::kAxis1;
  const auto plan = PlanQuantiles(array, std::move(spec));
  if (!plan.ok()) return plan.status();
  const uint64_t target_bytes = plan->targets.size() * sizeof(QuantileTarget);
  const absl::StatusOr<void*> results =
      benchmark.Results(target_bytes + plan->result_slot_count() * sizeof(uint64_t));
  if (!results.ok()) return results.status();
  const auto* const targets = static_cast<const QuantileTarget*>(*results);
  GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(*results, plan->targets.data(), target_bytes,
                                                cudaMemcpyHostToDevice, benchmark.stream()));
  auto* const slots = reinterpret_cast<uint64_t*>(static_cast<std::byte*>(*results) + target_bytes);
  const OrderInput input = InputOf(benchmark, array);
  return benchmark.Measure(
      NameOf(QuantileStrategy(*plan, input, benchmark.properties()), array, remark, plan->grouping),
      array.size_bytes(), Ceiling::kRead, [&] {
        Scratch scratch = benchmark.NewScratch();
        return LaunchQuantiles(*plan, input, targets, slots, scratch, benchmark.properties(),
                               benchmark.stream());
      });
}

absl::Status MeasureTop(KernelBenchmark& benchmark, const ArrayDescription& array, TopSpec spec,
                        const char* remark) {
  if (array.is_matrix) spec.grouping.kind = GroupingKind::kAxis1;
  const auto plan = PlanTop(array, std::move(spec));
  if (!plan.ok()) return plan.status();
  const uint64_t count = plan->result_count();
  const absl::StatusOr<void*> results = benchmark.Results((2 * count + 1) * sizeof(uint64_t));
  if (!results.ok()) return results.status();
  auto* const slots = static_cast<uint64_t*>(*results);
  const OrderInput input = InputOf(benchmark, array);
  return benchmark.Measure(
      NameOf(TopStrategy(*plan, input, benchmark.properties()), array, remark, plan->grouping),
      array.size_bytes(), Ceiling::kRead, [&] {
        Scratch scratch = benchmark.NewScratch();
        return LaunchTop(*plan, input, {slots, slots + count, slots + 2 * count}, scratch,
                         benchmark.properties(), benchmark.stream());
      });
}

}  // namespace

// 2^28 float32 and other types of as many bytes, whole and in rows.
absl::Status BenchmarkOrder(KernelBenchmark& benchmark) {
  const uint64_t bytes = std::min(benchmark.array_bytes(), uint64_t{1} << 30);
  const QuantileSpec median{.quantiles = {0.5}};
  QuantileSpec nine;
  for (int i = 1; i < 10; ++i) nine.quantiles.push_back(i / 10.0);
  using enum ElementType;
  for (const ElementType type : {kFloat32, kFloat16, kFloat64, kInt64}) {
    for (const BenchmarkData data : {BenchmarkData::kUniform, BenchmarkData::kNormal}) {
      const bool is_normal = data == BenchmarkData::kNormal;
      if (is_normal && type != kFloat32) continue;
      const auto whole = ArrayDescription::Vector(type, bytes / ElementSize(type));
      absl::Status status = benchmark.FillInput(type, data);
      if (status.ok()) {
        status = MeasureQuantiles(benchmark, whole, median, is_normal ? " normal" : "");
      }
      if (status.ok()) {
        status = MeasureQuantiles(benchmark, whole, nine, is_normal ? " nine normal" : " nine");
      }
      if (status.ok()) {
        status = MeasureTop(benchmark, whole, {.count = 100}, is_normal ? " 100 normal" : " 100");
      }
      if (!status.ok()) return status;
    }
  }
  if (absl::Status status = benchmark.FillInput(kFloat32); !status.ok()) return status;
  const uint64_t count = bytes / sizeof(float);
  for (const uint64_t columns : {256, 1024, 16'384, 262'144}) {
    const auto rows = ArrayDescription::Matrix(kFloat32, count / columns, columns);
    absl::Status status = MeasureQuantiles(benchmark, rows, median, "");
    if (status.ok()) status = MeasureQuantiles(benchmark, rows, nine, " nine");
    if (status.ok()) status = MeasureTop(benchmark, rows, {.count = 8}, " 8");
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
