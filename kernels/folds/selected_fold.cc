#include "kernels/folds/selected_fold.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/reduction_finish.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/fold_checks.h"
#include "kernels/folds/joined.h"
#include "kernels/folds/keyed_states.h"

namespace gridfold::kernels {

namespace {

// Of a batch: its copies and keys take up to 25 bytes for each.
constexpr uint64_t kBatchElementsMax = uint64_t{1} << 20;

// Where an element of the array stands: in which group, and which element of it.
struct GroupPlace {
  uint64_t group;
  uint64_t index;
};

// Walks over consecutive elements.
class PlaceFinder {
 public:
  PlaceFinder(const ReductionPlan& plan, uint64_t first_element)
      : plan_(plan), element_(first_element) {
    if (plan.grouping.kind == GroupingKind::kSegments) segment_ = SegmentOf(first_element);
  }

  GroupPlace Next() {
    const uint64_t e = element_++;
    switch (plan_.grouping.kind) {
      case GroupingKind::kWhole: return {0, e};
      case GroupingKind::kAxis0: return {e % plan_.array.columns, e / plan_.array.columns};
      case GroupingKind::kAxis1: return {e / plan_.array.columns, e % plan_.array.columns};
      case GroupingKind::kSegments: break;
    }
    const std::vector<uint64_t>& offsets = plan_.grouping.offsets;
    while (offsets[segment_ + 1] <= e) ++segment_;
    return {segment_, e - offsets[segment_]};
  }

 private:
  uint64_t SegmentOf(uint64_t element) const {
    const std::vector<uint64_t>& offsets = plan_.grouping.offsets;
    return std::upper_bound(offsets.begin() + 1, offsets.end(), element) - (offsets.begin() + 1);
  }

  const ReductionPlan& plan_;
  uint64_t element_;
  uint64_t segment_ = 0;
};

template <class S>
class Fold final : public SelectedFold {
 public:
  explicit Fold(ReductionFoldSpec spec)
      : plan_(std::move(spec.plan)),
        first_index_(spec.first_index),
        group_count_max_(spec.group_count_max),
        element_bytes_(ElementSize(plan_.array.element_type)),
        elements_max_(std::clamp<uint64_t>(
            spec.lane.input_bytes_max / (element_bytes_ + sizeof(uint64_t)), 1, kBatchElementsMax)),
        states_(PartsOf(plan_), /*sign=*/0),
        values_(plan_, AnswerOf::kArray) {
    batch_.keys = ArrayDescription::Vector(ElementType::kUint64, 0);
    batch_.reduction = PlanOfParts(plan_);
    batch_.group_count_max = kNoIndex;
  }

  uint64_t state_bytes() const override { return states_.size_bytes(); }
  const ReductionPlan& plan() const override { return plan_; }
  const KeyedReductionPlan& plan_of_batch() const override { return batch_; }

  KeyedInput input() const override {
    return {
        .keys = HostSpan{reinterpret_cast<const std::byte*>(groups_.data()),
                         groups_.size() * sizeof(uint64_t)},
        .values = HostSpan{reinterpret_cast<const std::byte*>(selected_.data()), selected_.size()}};
  }

  absl::StatusOr<uint64_t> NextBatch(uint64_t available_elements) override {
    taken_ = std::min(available_elements, elements_max_);
    if (taken_ == 0) return 0;
    const uint64_t end = element_count_ + taken_;
    if (first_index_ > kNoIndex - end) return IndicesTooLarge();
    if (plan_.grouping.kind == GroupingKind::kSegments && end > plan_.grouping.offsets.back()) {
      return WrongElementCount(
          plan_, absl::StrCat("of which there are more than ", plan_.grouping.offsets.back()));
    }
    if (plan_.grouping.kind == GroupingKind::kAxis1 &&
        (end - 1) / plan_.array.columns >= group_count_max_) {
      return TooManyRows(group_count_max_);
    }
    return taken_;
  }

  void Select(const HostSlices& elements, const HostSlices& mask) override {
    const std::string bytes = Joined(elements);
    const std::string selects = Joined(mask);
    PlaceFinder finder(plan_, element_count_);
    groups_.clear();
    indices_.clear();
    selected_.clear();
    for (uint64_t i = 0; i < selects.size(); ++i) {
      const GroupPlace place = finder.Next();
      if (selects[i] == 0) continue;
      groups_.push_back(place.group);
      indices_.push_back(place.index);
      selected_.append(bytes, i * element_bytes_, element_bytes_);
    }
    batch_.keys.element_count = groups_.size();
    batch_.reduction.array = ArrayDescription::Vector(plan_.array.element_type, groups_.size());
    batch_.reduction.grouping = {.group_size = groups_.size(), .offsets = {}};
  }

  absl::StatusOr<uint64_t> Add(absl::StatusOr<KeyedReductionResult> result) override {
    if (!result.ok()) {
      const bool is_too_large =
          absl::IsResourceExhausted(result.status()) && IsAboveLimit(result.status());
      if (!is_too_large || taken_ == 1) return result.status();
      elements_max_ = taken_ / 2;
      return 0;
    }
    MapIndices([&](uint64_t, uint64_t i) { return first_index_ + indices_[i]; }, result->reduction);
    states_.Add(*result);
    element_count_ += taken_;
    if (!HasCommonGroups()) {
      absl::Status status = CloseBefore(OpenGroup());
      if (!status.ok()) return status;
    }
    return taken_;
  }

  absl::StatusOr<ReductionMerge> Finish(uint64_t rest_bytes) override {
    absl::Status status = CheckWholeRows(plan_, element_count_ * element_bytes_ + rest_bytes);
    if (!status.ok()) return status;
    if (plan_.grouping.kind == GroupingKind::kSegments &&
        element_count_ != plan_.grouping.offsets.back()) {
      return WrongElementCount(plan_, absl::StrCat(element_count_));
    }
    plan_.array.element_count = element_count_;
    if (plan_.array.is_matrix) plan_.array.rows = element_count_ / plan_.array.columns;
    if (plan_.grouping.kind == GroupingKind::kAxis1) plan_.grouping.group_count = plan_.array.rows;
    if (plan_.grouping.kind == GroupingKind::kWhole) plan_.grouping.group_size = element_count_;
    if (plan_.grouping.kind == GroupingKind::kAxis0) plan_.grouping.group_size = plan_.array.rows;
    if (status = CloseBefore(plan_.grouping.group_count); !status.ok()) return status;
    return ReductionMerge{std::move(values_).Finish(), {}, element_count_};
  }

 private:
  // Every batch goes on with the same groups.
  bool HasCommonGroups() const {
    return plan_.grouping.kind == GroupingKind::kWhole ||
           plan_.grouping.kind == GroupingKind::kAxis0;
  }

  // The first group that may get more elements.
  uint64_t OpenGroup() const {
    if (plan_.grouping.kind == GroupingKind::kAxis1) return element_count_ / plan_.array.columns;
    const std::vector<uint64_t>& offsets = plan_.grouping.offsets;
    return std::upper_bound(offsets.begin() + 1, offsets.end(), element_count_) -
           (offsets.begin() + 1);
  }

  // Rounds the values of the groups before `end`, those without selected elements too, in order.
  absl::Status CloseBefore(uint64_t end) {
    if (plan_.grouping.kind == GroupingKind::kAxis1) values_.Resize(end);
    absl::Status status;
    states_.ForEach([&](uint64_t group, uint64_t element_count, const FullState<S>& state) {
      if (group >= end) return false;
      status = CloseEmpty(group);
      if (status.ok()) status = values_.Add(closed_++, element_count, state);
      return status.ok();
    });
    if (!status.ok()) return status;
    states_.RemoveBefore(end);
    return CloseEmpty(end);
  }

  absl::Status CloseEmpty(uint64_t end) {
    absl::Status status;
    while (status.ok() && closed_ < end) status = values_.Add(closed_++, 0, FullState<S>());
    return status;
  }

  ReductionPlan plan_;
  const uint64_t first_index_;
  const uint64_t group_count_max_;
  const uint64_t element_bytes_;
  uint64_t elements_max_;  // Of a batch.
  KeyedStates<S> states_;
  ValueCollector values_;
  KeyedReductionPlan batch_;
  uint64_t taken_ = 0;  // By the batch.
  // The selected elements of the batch: their groups, which elements of them they are, and their
  // bytes.
  std::vector<uint64_t> groups_;
  std::vector<uint64_t> indices_;
  std::string selected_;
  uint64_t element_count_ = 0;  // So far.
  uint64_t closed_ = 0;         // Groups.
};

}  // namespace

absl::StatusOr<std::unique_ptr<SelectedFold>> SelectedFold::Make(ReductionFoldSpec spec) {
  if (spec.plan.grouping.kind == GroupingKind::kAxis0) {
    if (absl::Status status = CheckRow(spec); !status.ok()) return status;
  }
  return VisitElementType(spec.plan.array.element_type,
                          [&](auto tag) -> std::unique_ptr<SelectedFold> {
                            using S = ComputeType<typename decltype(tag)::type>;
                            return std::make_unique<Fold<S>>(std::move(spec));
                          });
}

}  // namespace gridfold::kernels
