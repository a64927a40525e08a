// Reductions of groups of up to kBriefElements: a matrix down its few rows, rows, segments.
//
// What is not certain after a look at all groups side by side (brief_lanes.h), the larger of them
// one after the other, is reduced group by group, as groups of any size are. The answers are the
// same.
#ifndef GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_H_
#define GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cpu/base/job_context.h"
#include "kernels/cpu/base/pieces.h"
#include "kernels/cpu/reduce/brief_kernels.h"
#include "kernels/cpu/reduce/kernels.h"
#include "kernels/cpu/reduce/statistic_writer.h"

namespace gridfold::kernels::cpu {

// Whether the groups are such that BriefReduction is worth while, and it has all statistics.
bool IsBrief(const ReductionPlan& plan);

template <class T>
class BriefReduction {
 public:
  // Requires IsBrief(plan).
  BriefReduction(const ReductionPlan& plan, HostSpan input, StatisticWriter& writer)
      : plan_(plan),
        data_(input.data),
        writer_(writer),
        request_(writer.Request()),
        brief_request_{request_.parts, writer.rules(), plan.statistics},
        block_groups_(BlockGroups(plan)) {
    for (const Statistic statistic : plan.statistics) brief_request_.extremes.Add(statistic);
  }

  absl::Status Run(JobContext& job) {
    const uint64_t groups = plan_.grouping.group_count;
    return job.ForEach((groups + block_groups_ - 1) / block_groups_, [&](uint64_t block) {
      const uint64_t first = block * block_groups_;
      ReduceBlock(first, static_cast<uint32_t>(std::min<uint64_t>(block_groups_, groups - first)));
    });
  }

 private:
  // As many as lanes take, or fewer, so that there are blocks for several threads.
  static uint64_t BlockGroups(const ReductionPlan& plan) {
    constexpr uint64_t kBlockElements = uint64_t{1} << 16;
    if (IsDownColumns(plan.grouping)) return kBriefLanes;
    const uint64_t mean = plan.array.element_count / plan.grouping.group_count + 1;
    return std::clamp<uint64_t>(kBlockElements / mean, 1, kBriefLanes);
  }

  void ReduceBlock(uint64_t first, uint32_t count) {
    uint64_t* slots[kStatisticCount];
    for (size_t s = 0; s < plan_.statistics.size(); ++s) slots[s] = writer_.Slots(s) + first;
    bool is_open[kBriefLanes];
    if (IsDownColumns()) {
      ReduceBriefColumns<T>(data_ + first * sizeof(T), plan_.array.row_pitch() * sizeof(T),
                            static_cast<uint32_t>(rows()), count, brief_request_, {slots, is_open});
    } else {
      uint64_t begins[kBriefLanes + 1];
      for (uint32_t i = 0; i <= count; ++i) begins[i] = GroupBegin(plan_.grouping, first + i);
      ReduceBriefGroups<T>(data_, begins, count, brief_request_, {slots, is_open});
    }
    if (std::find(is_open, is_open + count, true) == is_open + count) return;
    for (uint32_t i = 0; i < count; ++i) {
      if (is_open[i]) ReduceGroup(first + i);
    }
  }

  void ReduceGroup(uint64_t g) {
    T column[kBriefRows];
    const std::byte* elements = reinterpret_cast<const std::byte*>(column);
    uint64_t size = rows();
    if (IsDownColumns()) {
      for (uint64_t row = 0; row < size; ++row) {
        column[row] = LoadUnaligned<T>(data_, row * plan_.array.row_pitch() + g);
      }
    } else {
      elements = data_ + GroupBegin(plan_.grouping, g) * sizeof(T);
      size = GroupSize(plan_.grouping, g);
    }
    GroupStateOf<T> state;
    ScaledProduct product;
    ReduceStrip<T>(elements, {sizeof(T), size, 1, 0}, request_, &state, &product);
    writer_.Write(g, size, state, product);
  }

  // Rows of one element each are one row of columns.
  bool IsDownColumns() const { return IsDownColumns(plan_.grouping); }
  static bool IsDownColumns(const Grouping& grouping) {
    return grouping.kind == GroupingKind::kAxis0 ||
           (grouping.kind == GroupingKind::kAxis1 && grouping.group_size == 1);
  }
  // Of columns.
  uint64_t rows() const {
    return plan_.grouping.kind == GroupingKind::kAxis0 ? plan_.array.rows : 1;
  }

  const ReductionPlan& plan_;
  const std::byte* const data_;
  StatisticWriter& writer_;
  const ReduceRequest request_;
  BriefRequest brief_request_;
  const uint64_t block_groups_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_REDUCE_BRIEF_H_
