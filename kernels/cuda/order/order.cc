#include "kernels/cuda/order/order.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cuda/device/status.h"
#include "kernels/cuda/order/launchers.h"
#include "kernels/numerics/order/order_key.h"

namespace gridfold::kernels::cuda {

namespace {

// Where there are fewer groups than this for each multiprocessor, groups that are larger than the
// first number are counted by all blocks; else those that are larger than the second.
constexpr uint64_t kLargeOfFew = uint64_t{1} << 16;
constexpr uint64_t kLargeOfMany = uint64_t{1} << 22;

uint64_t TeamElementsMax(const Grouping& grouping, const DeviceProperties& properties) {
  const bool are_few =
      grouping.group_count < static_cast<uint64_t>(properties.multiprocessor_count);
  return are_few ? kLargeOfFew : kLargeOfMany;
}

struct Group {
  uint64_t number;
  uint64_t begin;
  uint64_t size;
};

// The groups that a team does not take, and the largest one that it does.
struct DealtGroups {
  std::vector<Group> large;
  uint64_t largest_other = 0;
};

DealtGroups DealGroups(const Grouping& grouping, uint64_t team_elements_max) {
  DealtGroups dealt;
  const bool is_segments = grouping.kind == GroupingKind::kSegments;
  if (!is_segments && grouping.group_size <= team_elements_max) {
    dealt.largest_other = grouping.group_size;
    return dealt;
  }
  for (uint64_t g = 0; g < grouping.group_count; ++g) {
    const uint64_t begin = is_segments ? grouping.offsets[g] : g * grouping.group_size;
    const uint64_t size = is_segments ? grouping.offsets[g + 1] - begin : grouping.group_size;
    if (size > team_elements_max) {
      dealt.large.push_back({g, begin, size});
    } else {
      dealt.largest_other = std::max(dealt.largest_other, size);
    }
  }
  return dealt;
}

OrderGroups GroupsOf(const Grouping& grouping, const OrderInput& input,
                     uint64_t team_elements_max) {
  return {.elements = input.array.data,
          .offsets = grouping.kind == GroupingKind::kSegments ? input.offsets : nullptr,
          .group_count = grouping.group_count,
          .size = grouping.group_size,
          .size_max = team_elements_max};
}

const void* ElementsAt(const OrderInput& input, uint64_t index, ElementType type) {
  return static_cast<const std::byte*>(input.array.data) + index * ElementSize(type);
}

// The key by which a value is ordered, as its element is.
uint64_t KeyOfSlot(const TopPlan& plan, uint64_t slot) {
  const bool ignores_nan = plan.ignores_nan();
  if (IsFloatingPoint(plan.array.element_type)) {
    return ToSelectionKey(std::bit_cast<double>(slot), plan.smallest, ignores_nan);
  }
  if (IsUnsigned(plan.array.element_type)) {
    return ToSelectionKey(slot, plan.smallest, ignores_nan);
  }
  return ToSelectionKey(static_cast<int64_t>(slot), plan.smallest, ignores_nan);
}

}  // namespace

uint64_t OrderScratchBytesMax() {
  return LargeGroups::ScratchBytesMax() + ScratchBytes(kQuantilesMax * sizeof(QuantileTarget));
}

const char* QuantileStrategy(const QuantilePlan& plan, const OrderInput& input,
                             const DeviceProperties& properties) {
  if (plan.grouping.group_size > TeamElementsMax(plan.grouping, properties)) {
    const bool is_sampled = QuantileSampleLog2(plan.array.element_type, plan.grouping.group_size,
                                               static_cast<uint32_t>(plan.targets.size()),
                                               KeptBytes(input.spare.size())) != 0;
    return is_sampled ? "quantiles/sample" : "quantiles/digits";
  }
  return plan.grouping.group_size <= kWarpGroupMax ? "quantiles/warps" : "quantiles/blocks";
}

const char* TopStrategy(const TopPlan& plan, const OrderInput& input,
                        const DeviceProperties& properties) {
  if (plan.grouping.group_size > TeamElementsMax(plan.grouping, properties)) {
    const bool is_sampled = TopSampleLog2(plan.array.element_type, plan.grouping.group_size,
                                          plan.count, KeptBytes(input.spare.size())) != 0;
    return is_sampled ? "top/sample" : "top/digits";
  }
  const bool by_warps = plan.grouping.group_size <= kWarpGroupMax && plan.count <= kWarpSelectedMax;
  return by_warps ? "top/warps" : "top/blocks";
}

absl::Status LaunchQuantiles(const QuantilePlan& plan, const OrderInput& input,
                             const QuantileTarget* targets, uint64_t* slots, Scratch& scratch,
                             const DeviceProperties& properties, cudaStream_t stream) {
  const Grouping& grouping = plan.grouping;
  const ElementType type = plan.array.element_type;
  const uint64_t team_elements_max = TeamElementsMax(grouping, properties);
  const DealtGroups dealt = DealGroups(grouping, team_elements_max);
  const auto target_count = static_cast<uint32_t>(plan.targets.size());
  const bool ignores_nan = plan.nan_policy == NanPolicy::kIgnore;
  if (dealt.largest_other > 0) {
    const QuantileArguments arguments{.groups = GroupsOf(grouping, input, team_elements_max),
                                      .targets = targets,
                                      .target_count = target_count,
                                      .method = plan.method,
                                      .ignores_nan = ignores_nan,
                                      .slots = slots};
    absl::Status status =
        LaunchGroupQuantiles(type, arguments, dealt.largest_other, properties, stream);
    if (!status.ok()) return status;
  }
  if (dealt.large.empty()) return absl::OkStatus();
  absl::StatusOr<LargeGroups> large =
      LargeGroups::Create(type, 2 * target_count, input.spare, scratch, properties, stream);
  if (!large.ok()) return large.status();
  for (const Group& group : dealt.large) {
    const TargetsArguments arguments{.ranks = {.count = group.size,
                                               .targets = targets,
                                               .target_count = target_count,
                                               .method = plan.method,
                                               .ignores_nan = ignores_nan},
                                     .slots = slots + group.number,
                                     .slot_stride = grouping.group_count};
    absl::Status status = large->LaunchQuantiles(ElementsAt(input, group.begin, type), arguments);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LaunchTop(const TopPlan& plan, const OrderInput& input, const TopOutput& output,
                       Scratch& scratch, const DeviceProperties& properties, cudaStream_t stream) {
  const Grouping& grouping = plan.grouping;
  const ElementType type = plan.array.element_type;
  const uint64_t team_elements_max = TeamElementsMax(grouping, properties);
  const DealtGroups dealt = DealGroups(grouping, team_elements_max);
  const KeyKind kind{
      .is_selection = true, .smallest = plan.smallest, .ignores_nan = plan.ignores_nan()};
  const bool is_sorted = plan.count <= kSortedOnDeviceMax;
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemsetAsync(output.lacking_group, 0xFF, sizeof(uint64_t), stream));
  if (dealt.largest_other > 0) {
    const TopArguments arguments{.groups = GroupsOf(grouping, input, team_elements_max),
                                 .count = plan.count,
                                 .kind = kind,
                                 .is_sorted = is_sorted,
                                 .slots = output.slots,
                                 .indices = output.indices,
                                 .lacking_group = output.lacking_group};
    absl::Status status = LaunchGroupTop(type, arguments, dealt.largest_other, properties, stream);
    if (!status.ok()) return status;
  }
  if (dealt.large.empty()) return absl::OkStatus();
  absl::StatusOr<LargeGroups> large =
      LargeGroups::Create(type, 1, input.spare, scratch, properties, stream);
  if (!large.ok()) return large.status();
  for (const Group& group : dealt.large) {
    const CollectArguments arguments{.elements = ElementsAt(input, group.begin, type),
                                     .count = group.size,
                                     .kind = kind,
                                     .selected = plan.count,
                                     .group = group.number,
                                     .slots = output.slots + group.number * plan.count,
                                     .indices = output.indices + group.number * plan.count,
                                     .lacking_group = output.lacking_group};
    if (absl::Status status = large->LaunchTop(arguments, is_sorted); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void SortTop(const TopPlan& plan, TopResult& result) {
  struct Entry {
    uint64_t key;
    uint64_t index;
    uint64_t slot;
  };
  std::vector<Entry> entries(plan.count);
  for (uint64_t g = 0; g < plan.grouping.group_count; ++g) {
    const uint64_t begin = g * plan.count;
    for (uint64_t i = 0; i < plan.count; ++i) {
      const uint64_t slot = result.slots[begin + i];
      entries[i] = {KeyOfSlot(plan, slot), result.indices[begin + i], slot};
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.key != b.key ? a.key > b.key : a.index < b.index;
    });
    for (uint64_t i = 0; i < plan.count; ++i) {
      result.slots[begin + i] = entries[i].slot;
      result.indices[begin + i] = entries[i].index;
    }
  }
}

}  // namespace gridfold::kernels::cuda
