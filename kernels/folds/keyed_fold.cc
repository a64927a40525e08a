#include "kernels/folds/keyed_fold.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/accumulators/keyed_groups.h"
#include "kernels/accumulators/reduction_finish.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/fold_checks.h"
#include "kernels/folds/joined.h"
#include "kernels/folds/keyed_states.h"
#include "kernels/numerics/arithmetic/ordered_key.h"

namespace gridfold::kernels {

namespace {

// Batches that hand out states. What only the whole may be refused for is no error of a part.
KeyedReductionPlan PlanOfKeyedParts(const KeyedReductionPlan& plan) {
  KeyedReductionPlan part = PlanStates(plan);
  part.reduction.overflow_policy = OverflowPolicy::kWrap;
  return part;
}

// The error of the first of these keys that is outside of a range, which counts from the first key
// of all; `status` where none is.
absl::Status FirstOutside(const KeyedReductionPlan& plan, const HostSlices& keys,
                          uint64_t keys_before, const absl::Status& status) {
  const PlannedBins& range = plan.axes.front().bins.front();
  const uint64_t first = range.first_value_bits();
  const std::string bytes = Joined(keys);
  return VisitElementType(plan.keys.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) {
      for (uint64_t i = 0; i < bytes.size() / sizeof(T); ++i) {
        T key;
        std::memcpy(&key, bytes.data() + i * sizeof(T), sizeof(T));
        if (KeyBits(key) - first >= range.bin_count) {
          return KeyOutsideRange(plan, keys_before + i, KeyBits(key));
        }
      }
    }
    return status;
  });
}

template <class S>
class Fold final : public KeyedFold {
 public:
  explicit Fold(KeyedFoldSpec spec)
      : plan_(std::move(spec.plan)),
        batch_(PlanOfKeyedParts(plan_)),
        key_count_max_(spec.key_count_max),
        first_index_(spec.first_index),
        keys_max_(std::max<uint64_t>(spec.lane.input_bytes_max / plan_.bytes_per_element(), 1)),
        states_(PartsOf(plan_.reduction),
                plan_.has_bins() ? 0 : KeySignOf(plan_.keys.element_type)) {
    outcomes_.bins = plan_.bins();
  }

  const KeyedReductionPlan& plan() const override { return plan_; }
  uint64_t state_bytes() const override { return states_.size_bytes(); }
  const KeyedReductionResult& outcomes() const override { return outcomes_; }

  const KeyedReductionPlan* NextBatch(uint64_t available_keys) override {
    const uint64_t count = std::min(available_keys, keys_max_);
    if (count == 0) return nullptr;
    SetKeyCount(count, batch_);
    return &batch_;
  }

  absl::StatusOr<uint64_t> Add(absl::StatusOr<KeyedReductionResult> result,
                               const HostSlices& keys) override {
    const uint64_t count = batch_.keys.element_count;
    if (!result.ok()) return Failed(result.status(), keys);
    if (first_index_ > kNoIndex - plan_.keys.element_count - count) {
      return IndicesTooLarge();
    }
    ShiftIndices(first_index_ + plan_.keys.element_count, result->reduction);
    states_.Add(*result);
    if (!plan_.has_bins() && states_.group_count() > plan_.group_count_max) {
      return TooManyKeys(plan_);
    }
    outcomes_.underflow_count += result->underflow_count;
    outcomes_.overflow_count += result->overflow_count;
    outcomes_.nan_count += result->nan_count;
    SetKeyCount(plan_.keys.element_count + count, plan_);
    return count;
  }

  absl::StatusOr<KeyedPart> Finish(const std::stop_token& stop) override {
    KeyedReductionResult total;
    total.groups = states_.groups();
    total.offsets = {0};
    const bool is_part = plan_.reduction.return_states;
    ReductionPlan groups = plan_.reduction;
    groups.grouping = {
        .kind = GroupingKind::kSegments, .group_count = total.groups.size(), .offsets = {}};
    ValueCollector values(groups, is_part ? AnswerOf::kPart : AnswerOf::kArray,
                          is_part ? SmallGroups::kHaveNoValue : SmallGroups::kAreNan);
    KeyedGroupWriter accumulator(plan_, key_count_max_, total.groups);
    absl::Status status;
    states_.ForEach([&](uint64_t group, uint64_t element_count, const FullState<S>& state) {
      if (stop.stop_requested()) status = absl::CancelledError("stopped");
      if (status.ok()) status = values.Add(total.offsets.size() - 1, element_count, state);
      total.offsets.push_back(total.offsets.back() + element_count);
      if (is_part) accumulator.Add(group, element_count, state);
      return status.ok();
    });
    if (!status.ok()) return status;
    total.reduction = std::move(values).Finish();
    KeyedPart part{.answer = SpreadGroups(plan_, std::move(total)), .accumulator = {}};
    if (is_part) part.accumulator = std::move(accumulator).Finish();
    return part;
  }

 private:
  // A lane has room for the states of so many groups; fewer keys have fewer.
  absl::StatusOr<uint64_t> Failed(const absl::Status& status, const HostSlices& keys) {
    const uint64_t count = batch_.keys.element_count;
    if (absl::IsResourceExhausted(status) && IsAboveLimit(status) && count > 1) {
      keys_max_ = count / 2;
      return 0;
    }
    if (plan_.refuses_outside && FieldOf(status) == "keys") {
      return FirstOutside(plan_, keys, plan_.keys.element_count, status);
    }
    return status;
  }

  KeyedReductionPlan plan_;
  KeyedReductionPlan batch_;
  const uint64_t key_count_max_;
  const uint64_t first_index_;
  uint64_t keys_max_;  // Of a batch.
  KeyedStates<S> states_;
  KeyedReductionResult outcomes_;
};

}  // namespace

std::unique_ptr<KeyedFold> KeyedFold::Make(KeyedFoldSpec spec) {
  return VisitElementType(spec.plan.reduction.array.element_type,
                          [&](auto tag) -> std::unique_ptr<KeyedFold> {
                            using S = ComputeType<typename decltype(tag)::type>;
                            return std::make_unique<Fold<S>>(std::move(spec));
                          });
}

}  // namespace gridfold::kernels
