#include "kernels/cpu/bykey/group_order.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/cpu/bykey/radix_sort.h"

namespace gridfold::kernels::cpu {

namespace {

template <class Number>
absl::StatusOr<bool> IsInOrder(const Number* numbers, uint64_t count, JobContext& job) {
  std::vector<uint8_t> in_order(KeyPieceCount(count));
  absl::Status status = ForEachKeyPiece(count, job, [&](uint64_t piece, uint64_t i, uint64_t end) {
    bool ordered = true;
    for (i = std::max<uint64_t>(i, 1); i < end; ++i) ordered &= numbers[i - 1] <= numbers[i];
    in_order[piece] = ordered;
  });
  if (!status.ok()) return status;
  return std::find(in_order.begin(), in_order.end(), 0) == in_order.end();
}

// Elements that are in a group: all before those of the number that is in none.
template <class Number>
uint64_t CountKept(const KeyNumbers& numbered, const Number* numbers, uint64_t count) {
  if (!numbered.dropped) return count;
  return std::lower_bound(numbers, numbers + count, *numbered.dropped) - numbers;
}

// The runs of equal numbers, which are in order.
template <class Number>
absl::Status FindRuns(const KeyedReductionPlan& plan, const KeyNumbers& numbered,
                      const Number* numbers, JobContext& job, GroupOrder& order) {
  const uint64_t count = CountKept(numbered, numbers, plan.keys.element_count);
  const auto starts_run = [&](uint64_t i) { return i == 0 || numbers[i - 1] != numbers[i]; };
  std::vector<uint64_t> runs(KeyPieceCount(count));
  absl::Status status = ForEachKeyPiece(count, job, [&](uint64_t piece, uint64_t i, uint64_t end) {
    uint64_t found = 0;
    for (; i < end; ++i) found += starts_run(i) ? 1 : 0;
    runs[piece] = found;
  });
  if (!status.ok()) return status;
  uint64_t run_count = 0;
  for (uint64_t& of_piece : runs) run_count += std::exchange(of_piece, run_count);
  if (run_count > plan.group_count_max) return TooManyKeys(plan);
  order.groups.resize(run_count);
  order.offsets.resize(run_count + 1);
  status = ForEachKeyPiece(count, job, [&](uint64_t piece, uint64_t i, uint64_t end) {
    uint64_t run = runs[piece];
    for (; i < end; ++i) {
      if (!starts_run(i)) continue;
      order.groups[run] = (numbers[i] + numbered.first) ^ numbered.sign;
      order.offsets[run++] = i;
    }
  });
  order.offsets.back() = count;
  return status;
}

template <class Number, class Place>
absl::Status Sort(uint64_t count, JobContext& job, Buffer<Number>& numbers, GroupOrder& order) {
  RadixSort<Number, Place> sort(count, std::move(numbers), job);
  if (absl::Status status = sort.Run(); !status.ok()) return status;
  numbers = sort.TakeNumbers();
  order.places = sort.TakePlaces();
  return absl::OkStatus();
}

}  // namespace

uint64_t GroupOrder::PlaceOf(uint64_t i) const {
  if (const auto* const narrow = std::get_if<Buffer<uint32_t>>(&places)) return (*narrow)[i];
  if (const auto* const wide = std::get_if<Buffer<uint64_t>>(&places)) return (*wide)[i];
  return i;
}

absl::StatusOr<GroupOrder> OrderByGroup(const KeyedReductionPlan& plan, KeyNumbers numbered,
                                        JobContext& job) {
  const uint64_t count = plan.keys.element_count;
  GroupOrder order;
  const absl::Status status = std::visit(
      [&]<class Number>(Buffer<Number>& numbers) {
        const absl::StatusOr<bool> in_order = IsInOrder(numbers.get(), count, job);
        absl::Status sorted = in_order.status();
        if (sorted.ok() && !*in_order) {
          sorted = count <= std::numeric_limits<uint32_t>::max()
                       ? Sort<Number, uint32_t>(count, job, numbers, order)
                       : Sort<Number, uint64_t>(count, job, numbers, order);
        }
        if (!sorted.ok()) return sorted;
        return FindRuns(plan, numbered, numbers.get(), job, order);
      },
      numbered.numbers);
  if (!status.ok()) return status;
  return order;
}

}  // namespace gridfold::kernels::cpu
