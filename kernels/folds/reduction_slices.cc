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

  absl::Status Merge(size_t slice, const std::stop_token& stop) override {
    const uint64_t count = plan_.grouping.group_count;
    const uint64_t first = count * slice / errors_.size();
    const uint64_t end = count * (slice + 1) / errors_.size();
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
    for (const absl::Status& error : errors_) {
      if (!error.ok()) return error;
    }
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

}  // namespace

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
