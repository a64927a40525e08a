#include "kernels/folds/reduction_slices.h"

#include <cstdint>
#include <utility>
#include <variant>

#include "kernels/accumulators/reduction_finish.h"
#include "kernels/accumulators/state.h"

namespace gridfold::kernels {

namespace {

// Groups between two looks at whether to stop: some hundred microseconds.
constexpr uint64_t kGroupsPerLook = 4096;

struct GroupSlice {
  uint64_t first;
  uint64_t end;
};
GroupSlice GroupsOfSlice(const ReductionPlan& plan, size_t slice, size_t slice_count) {
  const uint64_t count = plan.grouping.group_count;
  return {count * slice / slice_count, count * (slice + 1) / slice_count};
}

// The error of the first slice that has one.
absl::Status FirstOf(const std::vector<absl::Status>& errors) {
  for (const absl::Status& error : errors) {
    if (!error.ok()) return error;
  }
  return absl::OkStatus();
}

template <class S>
class SlicesOf final : public ReductionSlices {
 public:
  SlicesOf(const ReductionPlan& plan, std::vector<ReductionStates> parts, size_t slice_count)
      : plan_(plan),
        part_set_(PartsOf(plan)),
        errors_(slice_count),
        values_(plan, plan.return_states ? AnswerOf::kPart : AnswerOf::kArray) {
    for (ReductionStates& part : parts) {
      parts_.push_back(std::move(std::get<GroupStates<S>>(part)));
    }
    if (parts_.empty()) parts_.emplace_back(plan.grouping.group_count);
  }

  absl::Status Merge(size_t slice, Lane&, const std::stop_token& stop) override {
    const auto [first, end] = GroupsOfSlice(plan_, slice, errors_.size());
    for (uint64_t g = first; g < end; ++g) {
      if ((g - first) % kGroupsPerLook == 0 && stop.stop_requested()) {
        return absl::CancelledError("the job was cancelled");
      }
      FullState<S>& state = parts_[0][g];
      for (size_t part = 1; part < parts_.size(); ++part) {
        MergeParts(part_set_, parts_[part][g], state);
      }
      errors_[slice] = values_.Add(g, plan_.grouping.group_size, state);
      if (!errors_[slice].ok()) break;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ReductionResult> Finish() override {
    if (absl::Status error = FirstOf(errors_); !error.ok()) return error;
    ReductionResult result = std::move(values_).Finish();
    if (plan_.return_states) result.states = std::move(parts_[0]);
    return result;
  }

 private:
  const ReductionPlan& plan_;
  const uint32_t part_set_;
  std::vector<GroupStates<S>> parts_;  // At least one; the first becomes the whole.
  std::vector<absl::Status> errors_;   // Of each slice's first group that has one.
  ValueCollector values_;
};

class ResidentSlices final : public ReductionSlices {
 public:
  ResidentSlices(const ReductionPlan& plan, std::vector<ResidentStates> parts)
      : plan_(plan),
        parts_(std::move(parts)),
        errors_(parts_.size()),
        values_(plan, AnswerOf::kArray) {}

  absl::Status Merge(size_t slice, Lane& lane, const std::stop_token& stop) override {
    const auto [first, end] = GroupsOfSlice(plan_, slice, parts_.size());
    if (first == end) return absl::OkStatus();
    std::vector<ResidentStates> parts = parts_;
    std::swap(parts.front(), parts[slice]);
    const absl::StatusOr<ReductionResult> result =
        lane.MergeStates(PlanOf({first, end}), first, parts, stop);
    const bool is_of_values =
        absl::IsOutOfRange(result.status()) || absl::IsInvalidArgument(result.status());
    if (!result.ok() && !is_of_values) return result.status();
    errors_[slice] = result.status();
    if (result.ok()) values_.Add(first, *result);
    return absl::OkStatus();
  }

  absl::StatusOr<ReductionResult> Finish() override {
    if (absl::Status error = FirstOf(errors_); !error.ok()) return error;
    return std::move(values_).Finish();
  }

 private:
  // A plan of these columns alone.
  ReductionPlan PlanOf(GroupSlice groups) const {
    ReductionPlan plan = plan_;
    const uint64_t count = groups.end - groups.first;
    plan.array = ArrayDescription::Matrix(plan_.array.element_type, plan_.array.rows, count);
    plan.grouping.group_count = count;
    plan.first_group = plan_.first_group + groups.first;
    return plan;
  }

  const ReductionPlan& plan_;
  const std::vector<ResidentStates> parts_;
  std::vector<absl::Status> errors_;  // Of each slice's first group that has one.
  ValueCollector values_;
};

}  // namespace

std::unique_ptr<ReductionSlices> ReductionSlices::MakeResident(const ReductionPlan& plan,
                                                               std::vector<ResidentStates> parts) {
  return std::make_unique<ResidentSlices>(plan, std::move(parts));
}

std::unique_ptr<ReductionSlices> ReductionSlices::Make(const ReductionPlan& plan,
                                                       std::vector<ReductionStates> parts,
                                                       size_t slice_count) {
  return VisitElementType(
      plan.array.element_type, [&](auto tag) -> std::unique_ptr<ReductionSlices> {
        using S = ComputeType<typename decltype(tag)::type>;
        return std::make_unique<SlicesOf<S>>(plan, std::move(parts), slice_count);
      });
}

}  // namespace gridfold::kernels
