#include "kernels/folds/reduction_fold.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/reduction_finish.h"
#include "kernels/accumulators/state.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/lane_limits.h"
#include "kernels/contract/segments.h"
#include "kernels/folds/fold_checks.h"

namespace gridfold::kernels {

namespace {

// States of consecutive groups that one batch hands out at most; a lane may have less room.
constexpr uint64_t kStateBytesMax = uint64_t{16} << 20;

// What all folds know of the elements so far.
class FoldBase : public ReductionFold {
 public:
  explicit FoldBase(ReductionFoldSpec spec)
      : plan_(std::move(spec.plan)),
        part_(PlanOfParts(plan_)),
        first_index_(spec.first_index),
        lane_(spec.lane),
        element_bytes_(ElementSize(plan_.array.element_type)),
        elements_max_(lane_.input_bytes_max / element_bytes_),
        parts_(PartsOf(plan_)),
        values_(plan_, plan_.return_states ? AnswerOf::kPart : AnswerOf::kArray) {}

  const ReductionPlan& plan() const final { return plan_; }

 protected:
  // The next batch, where its elements have indices.
  absl::StatusOr<std::optional<ReductionPlan>> Checked(ReductionPlan batch) const {
    const uint64_t end = element_count_ + batch.array.element_count;
    if (first_index_ > kNoIndex - end) {
      return IndicesTooLarge();
    }
    return std::optional<ReductionPlan>(std::move(batch));
  }

  ArrayDescription Vector(uint64_t count) const {
    return ArrayDescription::Vector(plan_.array.element_type, count);
  }

  // Closes a group: rounds its values and writes its state.
  template <class S>
  absl::Status Close(uint64_t group, uint64_t element_count, const FullState<S>& state) {
    if (plan_.return_states) WriteGroup(parts_, element_count, state, groups_);
    return values_.Add(group, element_count, state);
  }

  absl::Status CheckEnd(uint64_t rest_bytes) const {
    return CheckWholeRows(plan_, element_count_ * element_bytes_ + rest_bytes);
  }

  // The answer, once every group is closed.
  ReductionMerge TakeAnswer() {
    plan_.array.element_count = element_count_;
    if (plan_.array.is_matrix) plan_.array.rows = element_count_ / plan_.array.columns;
    ReductionMerge answer{std::move(values_).Finish(), {}, element_count_};
    if (plan_.return_states) {
      AccumulatorWriter writer(AccumulatorKind::kReduction);
      WriteReductionHeader(plan_, writer);
      writer.Append(groups_);
      answer.accumulator = std::move(writer).Finish();
    }
    return answer;
  }

  ReductionPlan plan_;
  const ReductionPlan part_;  // Of batches that hand out states.
  const uint64_t first_index_;
  const LaneOptions lane_;
  const uint64_t element_bytes_;
  const uint64_t elements_max_;  // Of a batch.
  const uint32_t parts_;
  ValueCollector values_;
  AccumulatorWriter groups_;    // The closed ones.
  uint64_t element_count_ = 0;  // So far.
};

// Every batch goes on with the same groups: the whole array, or its columns.
template <class S>
class CommonGroupsFold final : public FoldBase {
 public:
  explicit CommonGroupsFold(ReductionFoldSpec spec)
      : FoldBase(std::move(spec)),
        by_columns_(plan_.grouping.kind == GroupingKind::kAxis0),
        unit_elements_(by_columns_ ? plan_.array.columns : 1) {}

  uint64_t batch_bytes_min() const override { return unit_elements_ * element_bytes_; }

  absl::StatusOr<std::optional<ReductionPlan>> NextBatch(uint64_t available_bytes) override {
    const uint64_t units =
        std::min(available_bytes / element_bytes_, elements_max_) / unit_elements_;
    if (units == 0) return std::nullopt;
    ReductionPlan batch = part_;
    batch.array = by_columns_
                      ? ArrayDescription::Matrix(plan_.array.element_type, units, unit_elements_)
                      : Vector(units);
    batch.grouping = {.kind = plan_.grouping.kind,
                      .group_count = plan_.grouping.group_count,
                      .group_size = units,
                      .offsets = {}};
    return Checked(std::move(batch));
  }

  absl::StatusOr<uint64_t> Add(const ReductionPlan& batch,
                               absl::StatusOr<ReductionResult> result) override {
    if (!result.ok()) return result.status();
    ShiftIndices(first_index_ + element_count_ / unit_elements_, *result);
    auto& added = std::get<GroupStates<S>>(result->states);
    if (states_.empty()) {
      states_ = std::move(added);
    } else {
      for (size_t g = 0; g < states_.size(); ++g) MergeParts(parts_, added[g], states_[g]);
    }
    element_count_ += batch.array.element_count;
    return batch.array.size_bytes();
  }

  absl::StatusOr<ReductionMerge> Finish(uint64_t rest_bytes) override {
    if (absl::Status status = CheckEnd(rest_bytes); !status.ok()) return status;
    plan_.grouping.group_size = element_count_ / unit_elements_;
    if (!plan_.return_states) {
      if (absl::Status status = CheckGroupSizes(plan_); !status.ok()) return status;
    }
    states_.resize(plan_.grouping.group_count);  // Of an array without elements there are none.
    for (size_t g = 0; g < states_.size(); ++g) {
      absl::Status status = Close(g, plan_.grouping.group_size, states_[g]);
      if (!status.ok()) return status;
    }
    ReductionMerge answer = TakeAnswer();
    if (plan_.return_states) answer.result.states = std::move(states_);
    return answer;
  }

 private:
  const bool by_columns_;
  const uint64_t unit_elements_;  // That a batch has a multiple of.
  GroupStates<S> states_;         // None before the first part.
};

// Groups follow one another: rows, or segments. At most one is open.
//
// Groups that lie in a batch whole are finished by the engine, which costs less than to hand out
// their states; but where one of them turns out to have no value the same groups are run for their
// states, to say which one it is.
template <class S>
class ConsecutiveGroupsFold final : public FoldBase {
 public:
  explicit ConsecutiveGroupsFold(ReductionFoldSpec spec)
      : FoldBase(std::move(spec)),
        is_segments_(plan_.grouping.kind == GroupingKind::kSegments),
        group_count_max_(spec.group_count_max),
        finish_in_engine_(!plan_.return_states) {}

  uint64_t batch_bytes_min() const override {
    const uint64_t rest_bytes = RestOfGroup() * element_bytes_;
    return rest_bytes == 0 || rest_bytes > kWholeGroupBytesMax ? element_bytes_ : rest_bytes;
  }

  absl::StatusOr<std::optional<ReductionPlan>> NextBatch(uint64_t available_bytes) override {
    if (available_bytes < batch_bytes_min()) return std::nullopt;
    const uint64_t available = std::min(available_bytes / element_bytes_, elements_max_);
    if (absl::Status status = CheckRoom(); !status.ok()) return status;
    if (absl::Status status = CheckRowSize(); !status.ok()) return status;
    if (open_elements_ == 0 && RestOfGroup() <= available) return Checked(PlanGroups(available));
    ReductionPlan batch = part_;
    batch.array = Vector(std::min(available, RestOfGroup()));
    batch.grouping = {
        .kind = GroupingKind::kWhole, .group_size = batch.array.element_count, .offsets = {}};
    return Checked(std::move(batch));
  }

  absl::StatusOr<uint64_t> Add(const ReductionPlan& batch,
                               absl::StatusOr<ReductionResult> result) override {
    if (!result.ok()) return TryStates(batch, result.status());
    const absl::Status status = batch.grouping.kind == GroupingKind::kWhole
                                    ? AddToOpenGroup(batch, *result)
                                    : AddGroups(batch, *result);
    if (!status.ok()) return status;
    element_count_ += batch.array.element_count;
    return batch.array.size_bytes();
  }

  absl::StatusOr<ReductionMerge> Finish(uint64_t rest_bytes) override {
    if (absl::Status status = CheckEnd(rest_bytes); !status.ok()) return status;
    if (is_segments_ && element_count_ + rest_bytes / element_bytes_ != LastOffset()) {
      return WrongElementCount(plan_, absl::StrCat(element_count_ + rest_bytes / element_bytes_));
    }
    // Empty segments at the end.
    for (; is_segments_ && group_ < plan_.grouping.group_count; ++group_) {
      if (absl::Status status = Close(group_, 0, FullState<S>()); !status.ok()) return status;
    }
    plan_.grouping.group_count = group_;
    return TakeAnswer();
  }

 private:
  uint64_t LastOffset() const { return plan_.grouping.offsets.back(); }

  uint64_t SizeOf(uint64_t group) const {
    if (!is_segments_) return plan_.array.columns;
    return plan_.grouping.offsets[group + 1] - plan_.grouping.offsets[group];
  }

  // Elements of the next group that have yet to come; 0 where there is no next group.
  uint64_t RestOfGroup() const {
    if (is_segments_ && group_ == plan_.grouping.group_count) return 0;
    return SizeOf(group_) - open_elements_;
  }

  // Whether elements that are there may belong to a group.
  absl::Status CheckRoom() const {
    if (is_segments_) {
      if (element_count_ < LastOffset()) return absl::OkStatus();
      return WrongElementCount(plan_, absl::StrCat("of which there are more than ", LastOffset()));
    }
    if (group_ < group_count_max_) return absl::OkStatus();
    return TooManyRows(group_count_max_);
  }

  // Whether rows are too small for a statistic, which is an error from the first row on: an array
  // without rows has an answer.
  absl::Status CheckRowSize() const {
    if (is_segments_ || plan_.return_states) return absl::OkStatus();
    ReductionPlan row = PlanOfBatches(plan_);
    row.grouping = {.kind = GroupingKind::kAxis1,
                    .group_count = 1,
                    .group_size = plan_.array.columns,
                    .offsets = {}};
    return CheckGroupSizes(row);
  }

  // A batch of the groups that lie in the next `available` elements whole: at least one.
  ReductionPlan PlanGroups(uint64_t available) {
    ReductionPlan batch = finish_in_engine_ ? PlanOfBatches(plan_) : part_;
    const uint64_t room = OutputRoom(batch);
    if (!is_segments_) {
      const uint64_t rows =
          std::min({available / plan_.array.columns, room, group_count_max_ - group_});
      batch.array = ArrayDescription::Matrix(plan_.array.element_type, rows, plan_.array.columns);
      batch.grouping = {.kind = GroupingKind::kAxis1,
                        .group_count = rows,
                        .group_size = plan_.array.columns,
                        .offsets = {}};
      return batch;
    }
    const auto begin = plan_.grouping.offsets.begin() + static_cast<ptrdiff_t>(group_);
    const uint64_t start = *begin;
    auto end = std::upper_bound(begin, plan_.grouping.offsets.end(), start + available);
    if (static_cast<uint64_t>(end - begin) > room + 1)
      end = begin + static_cast<ptrdiff_t>(room) + 1;
    std::vector<uint64_t> offsets(begin, end);
    for (uint64_t& offset : offsets) offset -= start;
    batch.grouping = SegmentsAt(std::move(offsets));
    batch.array = Vector(batch.grouping.offsets.back());
    return batch;
  }

  // Groups whose answers a lane has room for.
  uint64_t OutputRoom(const ReductionPlan& batch) const {
    const uint64_t bytes = batch.return_states ? std::min(lane_.output_bytes_max, kStateBytesMax)
                                               : lane_.output_bytes_max;
    const uint64_t room = std::max<uint64_t>(bytes / OutputBytesPerGroup(batch), 1);
    return std::min(room, lane_.group_count_max);
  }

  absl::StatusOr<uint64_t> TryStates(const ReductionPlan& batch, const absl::Status& status) {
    const bool is_of_the_data = absl::IsOutOfRange(status) || absl::IsInvalidArgument(status);
    if (batch.return_states || !is_of_the_data) return status;
    finish_in_engine_ = false;
    return uint64_t{0};
  }

  absl::Status AddToOpenGroup(const ReductionPlan& batch, ReductionResult& result) {
    ShiftIndices(first_index_ + open_elements_, result);
    MergeParts(parts_, std::get<GroupStates<S>>(result.states)[0], open_);
    open_elements_ += batch.array.element_count;
    if (RestOfGroup() > 0) return absl::OkStatus();
    ResizeFor(1);
    absl::Status status = Close(group_, open_elements_, open_);
    ResetParts(parts_, open_);
    open_elements_ = 0;
    ++group_;
    return status;
  }

  absl::Status AddGroups(const ReductionPlan& batch, ReductionResult& result) {
    const uint64_t count = batch.grouping.group_count;
    ResizeFor(count);
    ShiftIndices(first_index_, result);
    if (!batch.return_states) {
      values_.Add(group_, result);
    } else {
      const auto& states = std::get<GroupStates<S>>(result.states);
      for (uint64_t g = 0; g < count; ++g) {
        absl::Status status = Close(group_ + g, SizeOf(group_ + g), states[g]);
        if (!status.ok()) return status;
      }
    }
    group_ += count;
    return absl::OkStatus();
  }

  // Rows are not counted before they have come.
  void ResizeFor(uint64_t more_groups) {
    if (!is_segments_) values_.Resize(group_ + more_groups);
  }

  const bool is_segments_;
  const uint64_t group_count_max_;
  bool finish_in_engine_;
  uint64_t group_ = 0;          // The next group, or the open one.
  uint64_t open_elements_ = 0;  // Of the open one, so far.
  FullState<S> open_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ReductionFold>> ReductionFold::Make(ReductionFoldSpec spec) {
  const GroupingKind kind = spec.plan.grouping.kind;
  absl::Status status;
  if (kind == GroupingKind::kAxis0) status = CheckRow(spec);
  if (status.ok() && kind == GroupingKind::kSegments && !spec.plan.return_states) {
    status = CheckGroupSizes(spec.plan);
  }
  if (!status.ok()) return status;
  const bool is_consecutive = kind == GroupingKind::kAxis1 || kind == GroupingKind::kSegments;
  return VisitElementType(spec.plan.array.element_type,
                          [&](auto tag) -> std::unique_ptr<ReductionFold> {
                            using S = ComputeType<typename decltype(tag)::type>;
                            if (is_consecutive)
                              return std::make_unique<ConsecutiveGroupsFold<S>>(std::move(spec));
                            return std::make_unique<CommonGroupsFold<S>>(std::move(spec));
                          });
}

}  // namespace gridfold::kernels
