// Reductions by key: the order of the elements, and the reduction of the groups; not the sums of
// few keys, which are those of weighted histograms.
#include <algorithm>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/cuda/benchmark/bykey_device.h"
#include "kernels/cuda/benchmark/kernel_benchmark.h"
#include "kernels/cuda/bykey/order.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/reduce/reduce.h"

namespace gridfold::kernels::cuda {

namespace {

struct Case {
  const char* name;
  KeyData data;
  uint64_t key_count;  // 0: a run for each 64 elements.
};

constexpr Case kCases[] = {{"sorted runs of 64", KeyData::kSorted, 0},
                           {"one key", KeyData::kUniform, 1},
                           {"uniform", KeyData::kUniform, 1000},
                           {"uniform", KeyData::kUniform, 65'536},
                           {"uniform", KeyData::kUniform, uint64_t{1} << 24},
                           {"power law", KeyData::kPowerLaw, uint64_t{1} << 24}};

class KeyedBenchmark {
 public:
  KeyedBenchmark(KernelBenchmark& benchmark, uint64_t count)
      : benchmark_(benchmark),
        count_(count),
        keys_(static_cast<int32_t*>(benchmark.input())),
        values_(reinterpret_cast<float*>(keys_ + count)) {}

  absl::Status Measure(const Case& measured, Statistic statistic) {
    const uint64_t key_count = measured.key_count == 0 ? count_ / 64 : measured.key_count;
    absl::Status status =
        Launch(GetFillKeysKernel(), {.grid = dim3(4096), .block = dim3(kBenchmarkThreads)},
               benchmark_.stream(), keys_, count_, measured.data, static_cast<uint32_t>(key_count));
    if (!status.ok()) return status;
    KeyedReductionSpec spec{.groups = FoundKeysSpec{}, .reduction = {}};
    spec.reduction.statistics = {statistic};
    const absl::StatusOr<KeyedReductionPlan> plan = OutlineKeyedReduction(
        ArrayDescription::Vector(ElementType::kInt32, count_),
        ArrayDescription::Vector(ElementType::kFloat32, count_), spec, uint64_t{1} << 24);
    if (!plan.ok()) return plan.status();
    absl::StatusOr<DeviceBuffer> room =
        DeviceBuffer::Allocate(OrderRoomBytes(*plan, benchmark_.properties()));
    if (!room.ok()) return room.status();
    absl::StatusOr<DeviceBuffer> groups = DeviceBuffer::Allocate((key_count + 64) * 16);
    if (!groups.ok()) return groups.status();
    status = benchmark_.Measure(absl::StrCat("by-key ", StatisticName(statistic), " float32, ",
                                             measured.name, " of ", key_count),
                                count_ * 8, Ceiling::kRead,
                                [&] { return Reduce(*plan, *room, *groups); });
    if (!status.ok() || statistic != Statistic::kSum) return status;
    absl::StatusOr<DeviceBuffer> work = DeviceBuffer::Allocate(count_ * 16 + 64);
    if (!work.ok()) return work.status();
    return benchmark_.CompareWithCub(
        CubSumByKey(keys_, values_, count_, measured.data == KeyData::kSorted, work->data()));
  }

 private:
  // As a lane does it.
  absl::Status Reduce(const KeyedReductionPlan& plan, DeviceBuffer& room, DeviceBuffer& groups) {
    Scratch memory(room.data(), room.size_bytes());
    const DeviceKeyedInput input{.keys = {reinterpret_cast<const std::byte*>(keys_)},
                                 .values = reinterpret_cast<const std::byte*>(values_)};
    const std::vector<PlannedBins> no_bins;
    const auto copy = [&](const void* from, std::span<const MutableHostSpan> to) {
      return Copy(from, to);
    };
    GroupOrderer orderer(plan, no_bins, input, memory, benchmark_.properties(), benchmark_.stream(),
                         copy);
    if (absl::Status status = orderer.Survey(); !status.ok()) return status;
    const absl::StatusOr<DeviceOrder> order = orderer.Order();
    if (!order.ok()) return order.status();
    ReductionPlan reduction = plan.reduction;
    reduction.array.element_count = order->element_count;
    reduction.grouping = {.kind = GroupingKind::kSegments,
                          .group_count = order->group_count,
                          .group_size = order->largest_group,
                          .offsets = {}};
    Scratch scratch = benchmark_.NewScratch();
    const absl::StatusOr<ReductionRoute> route =
        PlanReductionRoute({reduction, benchmark_.properties(), IsVectorAddress(order->values)});
    if (!route.ok()) return route.status();
    return LaunchReduction(reduction, *route,
                           {{order->values, reduction.array.element_count}, order->offsets},
                           {reinterpret_cast<uint64_t*>(groups.data()), nullptr}, scratch,
                           benchmark_.properties(), benchmark_.stream());
  }

  absl::Status Copy(const void* from, std::span<const MutableHostSpan> to) {
    const auto* bytes = static_cast<const std::byte*>(from);
    for (const MutableHostSpan& span : to) {
      GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(span.data, bytes, span.size_bytes,
                                                    cudaMemcpyDeviceToHost, benchmark_.stream()));
      bytes += span.size_bytes;
    }
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(benchmark_.stream()));
    return absl::OkStatus();
  }

  KernelBenchmark& benchmark_;
  const uint64_t count_;
  int32_t* const keys_;
  float* const values_;
};

}  // namespace

absl::Status BenchmarkKeys(KernelBenchmark& benchmark) {
  absl::Status status = benchmark.FillInput(ElementType::kFloat32);
  KeyedBenchmark keyed(benchmark, benchmark.array_bytes() / 8);
  for (const Case& measured : kCases) {
    for (const Statistic statistic : {Statistic::kSum, Statistic::kMean, Statistic::kArgmax}) {
      if (status.ok()) status = keyed.Measure(measured, statistic);
    }
  }
  return status;
}

}  // namespace gridfold::kernels::cuda
