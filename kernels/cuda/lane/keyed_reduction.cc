#include <algorithm>
#include <array>
#include <optional>
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
  status = FindKeyRanges(plan, input, stop, statistics, result.bins);
  if (status.ok()) status = ReduceByKey(plan, input, stop, statistics, result);
  if (!status.ok()) return status;
  statistics.bytes_read = SizeBytes(input.keys) + SizeBytes(input.values);
  for (const InputSpan& keys : input.further_keys) statistics.bytes_read += SizeBytes(keys);
  return result;
}

absl::Status CudaLane::FindKeyRanges(const KeyedReductionPlan& plan, const KeyedInput& input,
                                     const std::stop_token& stop, RunStatistics& statistics,
                                     std::vector<PlannedBins>& bins) {
  bins = plan.bins();
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    if (!plan.axes[axis].needs_range()) continue;
    RunStatistics run;
    absl::StatusOr<HistogramResult> counted = RunHistogram(
        plan.axes[axis],
        {.array = KeysOfAxis(input, axis), .y_array = HostSpan{}, .weights = HostSpan{}}, stop,
        run);
    statistics.Add(run);
    if (!counted.ok()) return counted.status();
    bins[axis] = std::move(counted->bins.front());
  }
  return absl::OkStatus();
}

absl::Status CudaLane::ReduceByKey(const KeyedReductionPlan& plan, const KeyedInput& input,
                                   const std::stop_token& stop, RunStatistics& statistics,
                                   KeyedReductionResult& result) {
  if (const auto counts = PlanKeyCounts(plan, input, result.bins)) {
    const absl::StatusOr<bool> done =
        SumByHistogram(plan, *counts, input, stop, statistics, result);
    if (!done.ok() || *done) return done.status();
  }
  Scratch room(input.room.data, input.room.size_bytes);
  DeviceOrder order;
  std::optional<HistogramPlan> counts;
  absl::Status status = OrderByKey(plan, input, result.bins, room, stop, statistics, order, counts);
  if (!status.ok()) return status;
  if (counts) return SumByHistogram(plan, *counts, input, stop, statistics, result).status();
  return ReduceOrdered(plan, order, room, stop, statistics, result);
}

absl::Status CudaLane::OrderByKey(const KeyedReductionPlan& plan, const KeyedInput& input,
                                  const std::vector<PlannedBins>& bins, Scratch& room,
                                  const std::stop_token& stop, RunStatistics& statistics,
                                  DeviceOrder& order, std::optional<HistogramPlan>& counts) {
  const auto copy = [&](const void* from, std::span<const MutableHostSpan> to) {
    return CopyOut(static_cast<const std::byte*>(from), to, stop);
  };
  return RunStep(statistics, [&]() -> absl::Status {
    DeviceKeyedInput device_input;
    absl::Status staged = StageKeys(plan, input, bins, room, stop, device_input);
    if (!staged.ok()) return staged;
    GroupOrderer orderer(plan, bins, device_input, room, properties_, stream_.get(), copy);
    if (absl::Status surveyed = orderer.Survey(); !surveyed.ok()) return surveyed;
    if (!orderer.is_in_order()) counts = PlanKeyCounts(plan, input, orderer.interval());
    if (!counts) {
      absl::StatusOr<DeviceOrder> ordered = orderer.Order();
      if (!ordered.ok()) return ordered.status();
      order = *std::move(ordered);
    }
    return timer_.Mark(JobTimer::Point::kKernelsEnd, stream_.get());
  });
}

absl::Status CudaLane::ReduceOrdered(const KeyedReductionPlan& plan, const DeviceOrder& order,
                                     Scratch& room, const std::stop_token& stop,
                                     RunStatistics& statistics, KeyedReductionResult& result) {
  result.underflow_count = order.underflow_count;
  result.overflow_count = order.overflow_count;
  result.nan_count = order.nan_count;
  const auto copy = [&](const void* from, std::span<const MutableHostSpan> to) {
    return CopyOut(static_cast<const std::byte*>(from), to, stop);
  };
  const auto fetch = [&] { return FetchGroups(order, copy, result.groups, result.offsets); };
  // Products and quantiles are planned by the offsets; other statistics need not wait for them.
  const bool fetches_first = HasFloatingProduct(plan.reduction) || !plan.quantiles.targets.empty();
  absl::Status status;
  if (fetches_first) status = RunStep(statistics, fetch);
  if (status.ok()) {
    status = ReduceGroups(plan, order, result.offsets, stop, statistics, result.reduction);
  }
  if (status.ok() && !fetches_first) status = RunStep(statistics, fetch);
  if (status.ok()) {
    status = FindGroupQuantiles(plan, order, result.offsets, stop, statistics, result.quantiles);
  }
  if (status.ok()) {
    status = MapKeyedIndices(order, result.offsets, room, stop, statistics, result.reduction);
  }
  statistics.strategy = order.is_sorted ? "by-key/sort" : "by-key/in-order";
  return status;
}

absl::Status CudaLane::StageKeys(const KeyedReductionPlan& plan, const KeyedInput& input,
                                 const std::vector<PlannedBins>& bins, Scratch& room,
                                 const std::stop_token& stop, DeviceKeyedInput& device_input) {
  std::array<DeviceSpan, kBinAxesMax> keys;
  DeviceSpan values;
  std::vector<StagedArray> arrays = {{input.values, values}};
  for (size_t axis = 0; axis <= input.further_keys.size(); ++axis) {
    arrays.push_back({KeysOfAxis(input, axis), keys[axis]});
  }
  absl::Status status = StageArrays(arrays, plan.keys.element_count, stop);
  if (!status.ok()) return status;
  device_input.values = static_cast<const std::byte*>(values.data);
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
  return BeginKernels(stop);
}

absl::Status CudaLane::ReduceGroups(const KeyedReductionPlan& plan, const DeviceOrder& order,
                                    const std::vector<uint64_t>& offsets,
                                    const std::stop_token& stop, RunStatistics& statistics,
                                    ReductionResult& result) {
  if (plan.reduction.statistics.empty() && !plan.reduction.return_states) return absl::OkStatus();
  ReductionPlan groups = plan.reduction;
  groups.array.element_count = order.element_count;
  groups.grouping = {.kind = GroupingKind::kSegments,
                     .group_count = order.group_count,
                     .group_size = order.largest_group,
                     .offsets = offsets};
  if (absl::Status status = CheckGroupsFit(options_, groups); !status.ok()) return status;
  result = MakeReductionResult(groups);
  RunStatistics run;
  const absl::Status status = Run(run, [&] {
    const auto stage = [&]() -> absl::StatusOr<ReductionInput> {
      if (absl::Status begun = BeginKernels(stop); !begun.ok()) return begun;
      return ReductionInput{{order.values, order.element_count}, order.offsets};
    };
    return Reduce(groups, stage, stop, run, result);
  });
  statistics.Add(run);
  return status;
}

absl::Status CudaLane::FindGroupQuantiles(const KeyedReductionPlan& plan, const DeviceOrder& order,
                                          const std::vector<uint64_t>& offsets,
                                          const std::stop_token& stop, RunStatistics& statistics,
                                          QuantileResult& result) {
  if (plan.quantiles.targets.empty() || order.group_count == 0) return absl::OkStatus();
  const QuantilePlan groups = PlanQuantilesOfGroups(plan, offsets);
  RunStatistics run;
  absl::StatusOr<QuantileResult> found =
      RunQuantiles(groups, ResidentSpan{order.values, groups.array.size_bytes()}, stop, run);
  statistics.Add(run);
  if (!found.ok()) return found.status();
  result = *std::move(found);
  return absl::OkStatus();
}

absl::Status CudaLane::MapKeyedIndices(const DeviceOrder& order,
                                       const std::vector<uint64_t>& offsets, Scratch& room,
                                       const std::stop_token& stop, RunStatistics& statistics,
                                       ReductionResult& result) {
  std::vector<uint64_t> positions;
  MapIndices(
      [&](uint64_t group, uint64_t index) {
        positions.push_back(offsets[group] + index);
        return positions.back();
      },
      result);
  if (positions.empty() || order.places == nullptr) return absl::OkStatus();
  const absl::Status status =
      RunStep(statistics, [&] { return MapPositions(order, room, stop, positions); });
  if (!status.ok()) return status;
  // In the same order as before.
  auto next = positions.begin();
  MapIndices([&](uint64_t, uint64_t) { return *next++; }, result);
  return absl::OkStatus();
}

absl::Status CudaLane::MapPositions(const DeviceOrder& order, Scratch& room,
                                    const std::stop_token& stop, std::vector<uint64_t>& positions) {
  const absl::StatusOr<uint64_t*> on_device = room.Allocate<uint64_t>(positions.size());
  if (!on_device.ok()) return on_device.status();
  const auto bytes = std::as_writable_bytes(std::span(positions));
  const HostSpan from{bytes.data(), bytes.size()};
  absl::Status status = CopyIn(std::span(&from, 1), reinterpret_cast<std::byte*>(*on_device), stop);
  if (status.ok()) {
    status = MapPlaces(order, *on_device, positions.size(), properties_, stream_.get());
  }
  if (!status.ok()) return status;
  const MutableHostSpan to{bytes.data(), bytes.size()};
  return CopyOut(reinterpret_cast<const std::byte*>(*on_device), std::span(&to, 1), stop);
}

}  // namespace gridfold::kernels::cuda
