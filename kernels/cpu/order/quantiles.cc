#include "kernels/cpu/order/quantiles.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/base/pieces.h"
#include "kernels/cpu/order/digit_counts.h"
#include "kernels/cpu/order/rank_select.h"

namespace gridfold::kernels::cpu {

namespace {

// Groups of up to so many elements are copied.
constexpr uint64_t kCopiedElementsMax = uint64_t{1} << 16;
// What a thread takes at a time of smaller ones.
constexpr uint64_t kElementsTogether = uint64_t{1} << 16;

template <class T>
HostSpan GroupSpan(const QuantilePlan& plan, HostSpan input, uint64_t group) {
  return {input.data + GroupBegin(plan.grouping, group) * sizeof(T),
          GroupSize(plan.grouping, group) * sizeof(T)};
}

// What a thread keeps from group to group.
template <class T>
struct GroupScratch {
  std::vector<OrderKey<T>> keys;
  std::vector<uint64_t> ranks;  // Of a group of so many numbers.
  uint64_t ranked_count = 0;
};

template <class T>
void FindInCopy(const QuantilePlan& plan, HostSpan input, uint64_t group, GroupScratch<T>& scratch,
                std::vector<uint64_t>& slots) {
  std::vector<OrderKey<T>>& keys = scratch.keys;
  const HostSpan span = GroupSpan<T>(plan, input, group);
  const uint64_t count = span.size_bytes / sizeof(T);
  keys.clear();
  for (uint64_t i = 0; i < count; ++i) {
    const OrderKey<T> key = ToOrderKey(LoadUnaligned<T>(span.data, i));
    if (!IsNanKey<T>(key)) keys.push_back(key);
  }
  const bool is_nan = IsAllNan(plan, count - keys.size());
  if (scratch.ranked_count != keys.size()) {
    scratch.ranks = RanksOf(plan, keys.size());
    scratch.ranked_count = keys.size();
  }
  if (!is_nan) SelectRanks<OrderKey<T>>(keys, scratch.ranks);
  WriteTargets<T>(
      plan, group, keys.size(), is_nan, [&](uint64_t rank) { return keys[rank]; }, slots);
}

template <class T>
absl::Status FindByDigits(const QuantilePlan& plan, HostSpan input, uint64_t group, JobContext& job,
                          std::vector<uint64_t>& slots) {
  DigitCounts<T> digits(GroupSpan<T>(plan, input, group), job);
  if (absl::Status status = digits.CountAll(); !status.ok()) return status;
  const uint64_t number_count = GroupSize(plan.grouping, group) - digits.nan_count();
  const bool is_nan = IsAllNan(plan, digits.nan_count());
  std::vector<uint64_t> ranks;
  if (!is_nan) ranks = RanksOf(plan, number_count);
  if (!ranks.empty()) {
    if (absl::Status status = digits.Find(ranks); !status.ok()) return status;
  }
  WriteTargets<T>(
      plan, group, number_count, is_nan,
      [&](uint64_t rank) {
        const auto place = std::lower_bound(ranks.begin(), ranks.end(), rank);
        return digits.key(static_cast<size_t>(place - ranks.begin()));
      },
      slots);
  return absl::OkStatus();
}

template <class T>
absl::Status Find(const QuantilePlan& plan, HostSpan input, JobContext& job,
                  std::vector<uint64_t>& slots) {
  const Grouping& grouping = plan.grouping;
  std::vector<uint64_t> large;
  if (grouping.group_size > kCopiedElementsMax) {
    for (uint64_t g = 0; g < grouping.group_count; ++g) {
      if (GroupSize(grouping, g) > kCopiedElementsMax) large.push_back(g);
    }
  }
  job.statistics.strategy = large.empty() ? "quantiles/partial-sort" : "quantiles/digits";
  for (const uint64_t group : large) {
    absl::Status status = FindByDigits<T>(plan, input, group, job, slots);
    if (!status.ok()) return status;
  }
  const uint64_t together =
      std::max<uint64_t>(kElementsTogether / std::max<uint64_t>(grouping.group_size, 1), 1);
  return job.ForEach((grouping.group_count + together - 1) / together, [&](uint64_t turn) {
    GroupScratch<T> scratch;
    const uint64_t end = std::min((turn + 1) * together, grouping.group_count);
    for (uint64_t g = turn * together; g < end; ++g) {
      if (GroupSize(grouping, g) > kCopiedElementsMax) continue;
      FindInCopy<T>(plan, input, g, scratch, slots);
    }
  });
}

}  // namespace

absl::StatusOr<QuantileResult> QuantilesOnCpu(const QuantilePlan& plan, HostSpan input,
                                              JobContext& job) {
  job.statistics.bytes_read = input.size_bytes;
  QuantileResult result;
  result.slots.resize(plan.result_slot_count());
  const absl::Status status = VisitElementType(plan.array.element_type, [&](auto tag) {
    return Find<typename decltype(tag)::type>(plan, input, job, result.slots);
  });
  if (!status.ok()) return status;
  return result;
}

}  // namespace gridfold::kernels::cpu
