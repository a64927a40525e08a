#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "kernels/contract/invalid_field.h"
#include "kernels/contract/lane_limits.h"
#include "kernels/cuda/bykey/order.h"
#include "kernels/cuda/lane/cancellation.h"
#include "kernels/cuda/lane/lane.h"
#include "kernels/numerics/bins/axes.h"

namespace gridfold::kernels::cuda {

namespace {

// The indices of an answer that may have to be mapped: two for each group.
uint64_t IndexBytesMax(const KeyedReductionPlan& plan) {
  return 2 * std::min(plan.group_count_max, plan.keys.element_count) * sizeof(uint64_t);
}

uint64_t EdgeBytesMax(const KeyedReductionPlan& plan) {
  uint64_t bytes = 0;
  for (const HistogramPlan& axis : plan.axes) {
    const PlannedBins& bins = axis.bins.front();
    if (bins.kind == BinKind::kTable) bytes += ScratchBytes((bins.bin_count + 1) * sizeof(double));
  }
  return bytes;
}

}  // namespace

uint64_t CudaLane::KeyedRoomBytes(const KeyedReductionPlan& plan) const {
  return OrderRoomBytes(plan, properties_) + ScratchBytes(IndexBytesMax(plan)) + EdgeBytesMax(plan);
}

absl::StatusOr<KeyedReductionResult> CudaLane::RunKeyedReduction(const KeyedReductionPlan& plan,
                                                                 const KeyedInput& input,
                                                                 std::stop_token stop,
                                                                 RunStatistics& statistics) {
  absl::Status status = CheckKeyedReductionFits(options_, plan, input);
  if (status.ok() && plan.keys.element_count > kKeyedElementsMax) {
    status = LargerThanALane("more keys than can be counted in 32 bits");
  }
  if (!status.ok()) return status;
  statistics = RunStatistics{};
  KeyedReductionResult result;
  RunStatistics run;
  result.bins = plan.bins();
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    if (!plan.axes[axis].needs_range()) continue;
    absl::StatusOr<HistogramResult> counted = RunHistogram(
        plan.axes[axis],
        {.array = KeysOfAxis(input, axis), .y_array = HostSpan{}, .weights = HostSpan{}}, stop,
        run);
    statistics.Add(run);
    if (!counted.ok()) return counted.status();
    result.bins[axis] = std::move(counted->bins.front());
  }
  Scratch room(input.room.data, input.room.size_bytes);
  DeviceOrder order;
  status = Run(run, [&] { return OrderKeys(plan, input, result.bins, room, stop, order); });
  statistics.Add(run);
  if (!status.ok()) return status;
  status = ReduceGroups(plan, order, room, stop, statistics, result.reduction);
  if (status.ok()) status = FindGroupQuantiles(plan, order, stop, statistics, result.quantiles);
  if (!status.ok()) return status;
  statistics.strategy = order.is_sorted ? "by-key/sort" : "by-key/in-order";
  statistics.bytes_read = SizeBytes(input.keys) + SizeBytes(input.values);
  for (const InputSpan& keys : input.further_keys) statistics.bytes_read += SizeBytes(keys);
  result.groups = std::move(order.groups);
  result.offsets = std::move(order.offsets);
  result.underflow_count = order.underflow_count;
  result.overflow_count = order.overflow_count;
  result.nan_count = order.nan_count;
  return result;
}

absl::Status CudaLane::ReduceGroups(const KeyedReductionPlan& plan, const DeviceOrder& order,
                                    Scratch& room, const std::stop_token& stop,
                                    RunStatistics& statistics, ReductionResult& result) {
  if (plan.reduction.statistics.empty() && !plan.reduction.return_states) return absl::OkStatus();
  const ReductionPlan groups = PlanOfGroups(plan, order.offsets);
  if (absl::Status status = CheckGroupsFit(options_, groups); !status.ok()) return status;
  RunStatistics run;
  absl::StatusOr<ReductionResult> reduced =
      RunReduction(groups, ResidentSpan{order.values, groups.array.size_bytes()}, stop, run);
  statistics.Add(run);
  if (!reduced.ok()) return reduced.status();
  result = *std::move(reduced);
  if (order.places == nullptr) {
    MapIndices([&](uint64_t group, uint64_t index) { return order.offsets[group] + index; },
               result);
    return absl::OkStatus();
  }
  const absl::Status status = Run(run, [&] { return MapKeyedIndices(order, room, stop, result); });
  statistics.Add(run);
  return status;
}

absl::Status CudaLane::FindGroupQuantiles(const KeyedReductionPlan& plan, const DeviceOrder& order,
                                          const std::stop_token& stop, RunStatistics& statistics,
                                          QuantileResult& result) {
  if (plan.quantiles.targets.empty() || order.groups.empty()) return absl::OkStatus();
  const QuantilePlan groups = PlanQuantilesOfGroups(plan, order.offsets);
  RunStatistics run;
  absl::StatusOr<QuantileResult> found =
      RunQuantiles(groups, ResidentSpan{order.values, groups.array.size_bytes()}, stop, run);
  statistics.Add(run);
  if (!found.ok()) return found.status();
  result = *std::move(found);
  return absl::OkStatus();
}

absl::Status CudaLane::OrderKeys(const KeyedReductionPlan& plan, const KeyedInput& input,
                                 const std::vector<PlannedBins>& bins, Scratch& room,
                                 const std::stop_token& stop, DeviceOrder& order) {
  std::array<DeviceSpan, kBinAxesMax> keys;
  DeviceSpan values;
  std::vector<StagedArray> arrays = {{input.values, values}};
  for (size_t axis = 0; axis <= input.further_keys.size(); ++axis) {
    arrays.push_back({KeysOfAxis(input, axis), keys[axis]});
  }
  absl::Status status = StageArrays(arrays, plan.keys.element_count, stop);
  if (!status.ok()) return status;
  DeviceKeyedInput device_input{.values = static_cast<const std::byte*>(values.data)};
  for (size_t axis = 0; axis < keys.size(); ++axis) {
    device_input.keys[axis] = static_cast<const std::byte*>(keys[axis].data);
  }
  for (size_t axis = 0; axis < bins.size(); ++axis) {
    if (bins[axis].kind != BinKind::kTable) continue;
    const auto edges = std::as_bytes(std::span(bins[axis].edges));
    const absl::StatusOr<std::byte*> place = room.Allocate<std::byte>(edges.size());
    if (!place.ok()) return place.status();
    const HostSpan from{edges.data(), edges.size()};
    if (status = CopyIn(std::span(&from, 1), *place, stop); !status.ok()) return status;
    device_input.edges[axis] = reinterpret_cast<const double*>(*place);
  }
  status = timer_.Mark(JobTimer::Point::kStagingEnds, stream_.get());
  timer_.WatchKernels(stream_.get());
  if (status.ok()) status = CheckStop(stop);
  if (!status.ok()) return status;
  absl::StatusOr<DeviceOrder> ordered =
      OrderByGroup(plan, bins, device_input, room, properties_, stream_.get(),
                   [&](const void* from, std::span<const MutableHostSpan> to) {
                     return CopyOut(static_cast<const std::byte*>(from), to, stop);
                   });
  if (!ordered.ok()) return ordered.status();
  order = *std::move(ordered);
  return timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
}

absl::Status CudaLane::MapKeyedIndices(const DeviceOrder& order, Scratch& room,
                                       const std::stop_token& stop, ReductionResult& result) {
  std::vector<uint64_t> positions;
  MapIndices(
      [&](uint64_t group, uint64_t index) {
        positions.push_back(order.offsets[group] + index);
        return index;
      },
      result);
  if (positions.empty()) return absl::OkStatus();
  const absl::StatusOr<uint64_t*> on_device = room.Allocate<uint64_t>(positions.size());
  if (!on_device.ok()) return on_device.status();
  const auto bytes = std::as_writable_bytes(std::span(positions));
  const HostSpan from{bytes.data(), bytes.size()};
  absl::Status status = CopyIn(std::span(&from, 1), reinterpret_cast<std::byte*>(*on_device), stop);
  if (status.ok()) {
    status = MapPlaces(order, *on_device, positions.size(), properties_, stream_.get());
  }
  const MutableHostSpan to{bytes.data(), bytes.size()};
  if (status.ok()) {
    status = CopyOut(reinterpret_cast<const std::byte*>(*on_device), std::span(&to, 1), stop);
  }
  if (!status.ok()) return status;
  // In the same order as before.
  auto next = positions.begin();
  MapIndices([&](uint64_t, uint64_t) { return *next++; }, result);
  return absl::OkStatus();
}

}  // namespace gridfold::kernels::cuda
