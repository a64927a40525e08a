#include "kernels/cpu/bykey/keyed_reduction.h"

#include <cstring>
#include <utility>

#include "kernels/contract/lane_limits.h"
#include "kernels/cpu/bykey/buffer.h"
#include "kernels/cpu/bykey/group_order.h"
#include "kernels/cpu/bykey/key_numbers.h"
#include "kernels/cpu/order/quantiles.h"
#include "kernels/cpu/reduce/reduce.h"

namespace gridfold::kernels::cpu {

namespace {

template <class Unit, class Place>
absl::Status MoveValues(const std::byte* values, const Place* places, uint64_t count,
                        JobContext& job, std::byte* moved) {
  return ForEachKeyPiece(count, job, [&](uint64_t, uint64_t i, uint64_t end) {
    for (; i < end; ++i) {
      std::memcpy(moved + i * sizeof(Unit), values + places[i] * sizeof(Unit), sizeof(Unit));
    }
  });
}

template <class Place>
absl::Status MoveValues(size_t value_bytes, const std::byte* values, const Place* places,
                        uint64_t count, JobContext& job, std::byte* moved) {
  switch (value_bytes) {
    case 1: return MoveValues<uint8_t>(values, places, count, job, moved);
    case 2: return MoveValues<uint16_t>(values, places, count, job, moved);
    case 4: return MoveValues<uint32_t>(values, places, count, job, moved);
    default: return MoveValues<uint64_t>(values, places, count, job, moved);
  }
}

// Values in the order of their groups.
struct OrderedValues {
  HostSpan span;
  Buffer<std::byte> memory;
};

absl::StatusOr<OrderedValues> OrderValues(const GroupOrder& order, ElementType type,
                                          HostSpan values, JobContext& job) {
  const size_t value_bytes = ElementSize(type);
  const uint64_t count = order.offsets.back();
  OrderedValues ordered{.span = {values.data, count * value_bytes}, .memory = nullptr};
  if (std::holds_alternative<std::monostate>(order.places)) return ordered;
  ordered.memory = MakeBuffer<std::byte>(count * value_bytes);
  ordered.span.data = ordered.memory.get();
  const absl::Status status = std::visit(
      [&](const auto& places) -> absl::Status {
        if constexpr (requires { places.get(); }) {
          return MoveValues(value_bytes, values.data, places.get(), count, job,
                            ordered.memory.get());
        }
        return absl::OkStatus();
      },
      order.places);
  if (!status.ok()) return status;
  return ordered;
}

// Statistics of the values, which are in order, of each group.
absl::Status ReduceGroups(const KeyedReductionPlan& plan, const GroupOrder& order, HostSpan values,
                          const LaneOptions& options, JobContext& job,
                          KeyedReductionResult& result) {
  if (plan.reduction.statistics.empty() && !plan.reduction.return_states) return absl::OkStatus();
  const ReductionPlan groups = PlanOfGroups(plan, order.offsets);
  if (absl::Status status = CheckGroupsFit(options, groups); !status.ok()) return status;
  absl::StatusOr<ReductionResult> reduced = ReduceOnCpu(groups, values, job);
  if (!reduced.ok()) return reduced.status();
  result.reduction = *std::move(reduced);
  MapIndices(
      [&](uint64_t group, uint64_t index) { return order.PlaceOf(order.offsets[group] + index); },
      result.reduction);
  return absl::OkStatus();
}

absl::Status FindQuantiles(const KeyedReductionPlan& plan, const GroupOrder& order, HostSpan values,
                           const LaneOptions& options, JobContext& job,
                           KeyedReductionResult& result) {
  if (plan.quantiles.targets.empty()) return absl::OkStatus();
  const QuantilePlan groups = PlanQuantilesOfGroups(plan, order.offsets);
  if (absl::Status status = CheckGroupsFit(options, groups); !status.ok()) return status;
  absl::StatusOr<QuantileResult> found = QuantilesOnCpu(groups, values, job);
  if (!found.ok()) return found.status();
  result.quantiles = *std::move(found);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KeyedReductionResult> ReduceByKeyOnCpu(const KeyedReductionPlan& plan,
                                                      std::span<const HostSpan> keys,
                                                      HostSpan values, const LaneOptions& options,
                                                      JobContext& job) {
  absl::StatusOr<KeyNumbers> numbers =
      plan.has_bins() ? NumberBins(plan, keys, job) : NumberKeys(plan, keys.front(), job);
  if (!numbers.ok()) return numbers.status();
  KeyedReductionResult result;
  result.bins = std::move(numbers->bins);
  result.underflow_count = numbers->underflow_count;
  result.overflow_count = numbers->overflow_count;
  result.nan_count = numbers->nan_count;
  absl::StatusOr<GroupOrder> order = OrderByGroup(plan, *std::move(numbers), job);
  if (!order.ok()) return order.status();
  const absl::StatusOr<OrderedValues> ordered =
      OrderValues(*order, plan.reduction.array.element_type, values, job);
  if (!ordered.ok()) return ordered.status();
  absl::Status status = ReduceGroups(plan, *order, ordered->span, options, job, result);
  if (status.ok()) status = FindQuantiles(plan, *order, ordered->span, options, job, result);
  if (!status.ok()) return status;
  job.statistics.strategy = ordered->memory == nullptr ? "by-key/in-order" : "by-key/sort";
  job.statistics.bytes_read = values.size_bytes;
  for (const HostSpan& of_axis : keys) job.statistics.bytes_read += of_axis.size_bytes;
  result.groups = std::move(order->groups);
  result.offsets = std::move(order->offsets);
  return result;
}

}  // namespace gridfold::kernels::cpu
