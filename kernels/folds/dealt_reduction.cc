#include "kernels/folds/dealt_reduction.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "kernels/accumulators/reduction_accumulator.h"
#include "kernels/contract/input_part.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/lane_limits.h"
#include "kernels/contract/segments.h"
#include "kernels/folds/reduction_fold.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kUnbounded = std::numeric_limits<uint64_t>::max();

// The fold takes what lanes have run, whatever they have room for.
constexpr LaneOptions kAnyLane{.input_bytes_max = kUnbounded,
                               .output_bytes_max = kUnbounded,
                               .bin_count_max = kUnbounded,
                               .group_count_max = kUnbounded,
                               .resident_input_bytes_max = kUnbounded};

// Groups for which a thread is woken up, which takes as long as to merge some hundred.
constexpr uint64_t kGroupsPerSliceMin = 512;

// Whether all parts have elements of the same groups.
bool HasCommonGroups(const ReductionPlan& plan) {
  return plan.grouping.kind == GroupingKind::kWhole || plan.grouping.kind == GroupingKind::kAxis0;
}

// All that plans of pieces have in common with the whole's.
ReductionPlan PlanWithoutArray(const ReductionPlan& plan) {
  return {.array = {.element_type = plan.array.element_type},
          .statistics = plan.statistics,
          .grouping = {},
          .nan_policy = plan.nan_policy,
          .overflow_policy = plan.overflow_policy,
          .delta_degrees_of_freedom = plan.delta_degrees_of_freedom,
          .return_states = plan.return_states};
}

// A plan for the states of a part. What only the whole may be refused for is no error of a part.
ReductionPlan PlanOfStates(const ReductionPlan& plan) {
  ReductionPlan part = PlanStates(PlanWithoutArray(plan));
  part.overflow_policy = OverflowPolicy::kWrap;
  return part;
}

// A fold of parts of a group that cuts go through.
absl::StatusOr<std::unique_ptr<ReductionFold>> MakeFold(ReductionPlan plan) {
  plan.array.element_count = 0;
  plan.array.rows = 0;
  plan.grouping.group_size = 0;
  const uint64_t group_count = plan.grouping.group_count;
  return ReductionFold::Make(
      {.plan = std::move(plan), .lane = kAnyLane, .group_count_max = group_count});
}

// Gives the fold its next part, of so many bytes.
absl::Status AddPart(uint64_t size_bytes, ReductionResult result, ReductionFold& fold) {
  const absl::StatusOr<std::optional<ReductionPlan>> batch = fold.NextBatch(size_bytes);
  if (!batch.ok()) return batch.status();
  return fold.Add(**batch, std::move(result)).status();
}

// Puts the values and states of consecutive groups where they belong in the whole.
void PutGroups(uint64_t first_group, ReductionResult&& groups, ReductionResult& whole) {
  const auto offset = static_cast<ptrdiff_t>(first_group);
  for (size_t i = 0; i < groups.columns.size(); ++i) {
    std::copy(groups.columns[i].slots.begin(), groups.columns[i].slots.end(),
              whole.columns[i].slots.begin() + offset);
  }
  std::visit(
      [&](auto& states) {
        if constexpr (requires { states.begin(); }) {
          auto& all = std::get<std::decay_t<decltype(states)>>(whole.states);
          std::move(states.begin(), states.end(), all.begin() + offset);
        }
      },
      groups.states);
}

// A group of the plan by itself, the only column of an array: its errors have the group's number.
ReductionPlan PlanOfGroup(const ReductionPlan& plan, uint64_t group, uint64_t size) {
  ReductionPlan alone = PlanWithoutArray(plan);
  alone.array = ArrayDescription::Matrix(plan.array.element_type, size, 1);
  alone.grouping = {.kind = GroupingKind::kAxis0, .group_size = size, .offsets = {}};
  alone.first_group = group;
  return alone;
}

}  // namespace

uint64_t DealtStateBytes(const ReductionPlan& plan) {
  return OutputBytesPerGroup(PlanStates(PlanWithoutArray(plan))) *
         (HasCommonGroups(plan) ? plan.grouping.group_count : 1);
}

absl::Status DealtReduction::Check(const ReductionPlan& plan, const Cuts& cuts) {
  if (!HasFloatingProduct(plan)) return absl::OkStatus();
  const std::vector<uint64_t>& offsets = plan.grouping.offsets;
  const bool all_groups_are_whole =
      plan.grouping.kind == GroupingKind::kAxis1 ||
      (plan.grouping.kind == GroupingKind::kSegments &&
       std::all_of(cuts.begin(), cuts.end(), [&](uint64_t cut) {
         return std::binary_search(offsets.begin(), offsets.end(), cut);
       }));
  if (all_groups_are_whole) return absl::OkStatus();
  return InvalidField("statistics",
                      "a floating-point product, whose group would lie on several devices");
}

DealtReduction::DealtReduction(ReductionPlan plan, Cuts cuts)
    : plan_(std::move(plan)),
      cuts_(std::move(cuts)),
      parts_(cuts_.size() - 1),
      rooms_(parts_.size()) {}

absl::Status DealtReduction::RunPart(size_t part, const InputSpan& input, Lane& lane,
                                     const std::stop_token& stop, RunStatistics& statistics) {
  std::vector<Piece> pieces = PiecesOf(part);
  const uint64_t element_bytes = ElementSize(plan_.array.element_type);
  for (Piece& piece : pieces) {
    const InputPart elements(input, (piece.first_element - cuts_[part]) * element_bytes,
                             piece.plan.array.size_bytes());
    RunStatistics run;
    absl::StatusOr<ReductionResult> result =
        lane.RunReduction(piece.plan, elements.span(), stop, run);
    statistics.Add(run);
    if (absl::IsOutOfRange(result.status())) {
      piece.error = result.status();
      break;
    }
    if (!result.ok()) return result.status();
    piece.result = *std::move(result);
    if (HasCommonGroups(plan_)) ShiftToWhole(piece);
  }
  parts_[part] = std::move(pieces);
  return absl::OkStatus();
}

uint64_t DealtReduction::RoomBytes(const ReductionPlan& plan, const Lane& lane) {
  return lane.ResidentStateBytes(PlanOfStates(plan)) * plan.grouping.group_count;
}

absl::Status DealtReduction::RunPartInto(size_t part, const InputSpan& input,
                                         MutableResidentSpan room, Lane& lane,
                                         const std::stop_token& stop, RunStatistics& statistics) {
  const Piece piece = CommonPiece(cuts_[part], cuts_[part + 1]);
  rooms_[part] = {room, FirstIndexOf(piece)};
  return lane.ReduceInto(piece.plan, input, room, stop, statistics);
}

uint64_t DealtReduction::FirstIndexOf(const Piece& piece) const {
  const bool by_columns = plan_.grouping.kind == GroupingKind::kAxis0;
  return piece.first_element / (by_columns ? plan_.array.columns : 1);
}

// Makes indices of columns, or of the whole array, those of all parts together.
void DealtReduction::ShiftToWhole(Piece& piece) const {
  if ((PartsOf(plan_) & kExtremesPart) == 0 || piece.first_element == 0) return;
  ShiftIndices(FirstIndexOf(piece), piece.result);
}

std::vector<DealtReduction::Piece> DealtReduction::PiecesOf(size_t part) const {
  const uint64_t begin = cuts_[part];
  const uint64_t end = cuts_[part + 1];
  std::vector<Piece> pieces;
  if (plan_.grouping.kind == GroupingKind::kSegments) {
    AddSegments(begin, end, part + 1 == parts_.size(), pieces);
  } else if (begin < end && HasCommonGroups(plan_)) {
    pieces.push_back(CommonPiece(begin, end));
  } else if (begin < end) {
    AddRows(begin, end, pieces);
  }
  return pieces;
}

DealtReduction::Piece DealtReduction::CommonPiece(uint64_t begin, uint64_t end) const {
  Piece piece{.plan = PlanOfStates(plan_), .first_element = begin, .has_states = true};
  const bool by_columns = plan_.grouping.kind == GroupingKind::kAxis0;
  const uint64_t size = by_columns ? (end - begin) / plan_.array.columns : end - begin;
  piece.plan.array =
      by_columns ? ArrayDescription::Matrix(plan_.array.element_type, size, plan_.array.columns)
                 : ArrayDescription::Vector(plan_.array.element_type, size);
  piece.plan.grouping = {.kind = plan_.grouping.kind,
                         .group_count = plan_.grouping.group_count,
                         .group_size = size,
                         .offsets = {}};
  return piece;
}

void DealtReduction::AddRows(uint64_t begin, uint64_t end, std::vector<Piece>& pieces) const {
  const uint64_t columns = plan_.array.columns;
  const uint64_t rows = (end - begin) / columns;
  Piece piece{
      .plan = PlanWithoutArray(plan_), .first_element = begin, .first_group = begin / columns};
  piece.plan.array = ArrayDescription::Matrix(plan_.array.element_type, rows, columns);
  piece.plan.grouping = {
      .kind = GroupingKind::kAxis1, .group_count = rows, .group_size = columns, .offsets = {}};
  piece.plan.first_group = piece.first_group;
  pieces.push_back(std::move(piece));
}

DealtReduction::Piece DealtReduction::Fragment(uint64_t group, uint64_t begin, uint64_t end) const {
  Piece piece{.plan = PlanOfStates(plan_),
              .first_element = begin,
              .first_group = group,
              .has_states = true};
  piece.plan.array = ArrayDescription::Vector(plan_.array.element_type, end - begin);
  piece.plan.grouping = {.kind = GroupingKind::kWhole, .group_size = end - begin, .offsets = {}};
  return piece;
}

// A part takes the segments that begin in it and end in it or at its end; the last one takes those
// without elements at the end of the array.
void DealtReduction::AddSegments(uint64_t begin, uint64_t end, bool is_last,
                                 std::vector<Piece>& pieces) const {
  const std::vector<uint64_t>& offsets = plan_.grouping.offsets;
  const uint64_t group_count = plan_.grouping.group_count;
  const auto first_not_before = [&](uint64_t element) {
    return static_cast<uint64_t>(std::lower_bound(offsets.begin(), offsets.end(), element) -
                                 offsets.begin());
  };
  // Whole ones are [first, last); an empty one at a cut belongs to what follows it.
  const uint64_t first = first_not_before(begin);
  const uint64_t at_end = first_not_before(end);
  const uint64_t last = is_last ? group_count : offsets[at_end] == end ? at_end : at_end - 1;
  if (begin < end && offsets[first] > begin) {
    pieces.push_back(Fragment(first - 1, begin, std::min(offsets[first], end)));
  }
  if (first < last) {
    std::vector<uint64_t> own(offsets.begin() + static_cast<ptrdiff_t>(first),
                              offsets.begin() + static_cast<ptrdiff_t>(last) + 1);
    const uint64_t start = own.front();
    for (uint64_t& offset : own) offset -= start;
    Piece piece{.plan = PlanWithoutArray(plan_), .first_element = start, .first_group = first};
    piece.plan.array = ArrayDescription::Vector(plan_.array.element_type, own.back());
    piece.plan.grouping = SegmentsAt(std::move(own));
    piece.plan.first_group = first;
    pieces.push_back(std::move(piece));
  }
  if (!is_last && last >= first && offsets[last] < end) {
    pieces.push_back(Fragment(last, offsets[last], end));
  }
}

absl::StatusOr<ReductionResult> DealtReduction::Finish(Lane& lane) {
  return HasCommonGroups(plan_) ? FinishCommon(lane) : FinishConsecutive();
}

size_t DealtReduction::BeginMerge(size_t slices_max) {
  if (rooms_.front().states.data != nullptr) {
    slices_ = ReductionSlices::MakeResident(plan_, rooms_);
    return rooms_.size();
  }
  // An accumulator is written group by group.
  if (!HasCommonGroups(plan_) || plan_.return_states) return 0;
  const uint64_t count =
      std::min<uint64_t>(plan_.grouping.group_count / kGroupsPerSliceMin, slices_max);
  if (count < 2) return 0;
  BeginSlices(count);
  return count;
}

absl::Status DealtReduction::MergeSlice(size_t slice, Lane& lane, const std::stop_token& stop) {
  return slices_->Merge(slice, lane, stop);
}

void DealtReduction::BeginSlices(size_t count) {
  std::vector<ReductionStates> states;
  for (std::vector<Piece>& pieces : parts_) {
    for (Piece& piece : pieces) states.push_back(std::move(piece.result.states));
  }
  slices_ = ReductionSlices::Make(plan_, std::move(states), count);
}

absl::StatusOr<ReductionResult> DealtReduction::FinishCommon(Lane& lane) {
  if (slices_ == nullptr) {
    BeginSlices(1);
    if (absl::Status status = slices_->Merge(0, lane, {}); !status.ok()) return status;
  }
  return slices_->Finish();
}

absl::StatusOr<ReductionResult> DealtReduction::FinishConsecutive() {
  ReductionResult whole = MakeReductionResult(plan_);
  if (plan_.return_states) {
    VisitElementType(plan_.array.element_type, [&](auto tag) {
      using S = ComputeType<typename decltype(tag)::type>;
      whole.states.emplace<GroupStates<S>>(plan_.grouping.group_count);
    });
  }
  std::unique_ptr<ReductionFold> open;  // Of a group that is not complete.
  for (std::vector<Piece>& pieces : parts_) {
    for (Piece& piece : pieces) {
      if (!piece.error.ok()) return piece.error;
      if (!piece.has_states) {
        PutGroups(piece.first_group, std::move(piece.result), whole);
        continue;
      }
      const uint64_t group = piece.first_group;
      const uint64_t group_end = plan_.grouping.offsets[group + 1];
      if (open == nullptr) {
        absl::StatusOr<std::unique_ptr<ReductionFold>> fold =
            MakeFold(PlanOfGroup(plan_, group, group_end - plan_.grouping.offsets[group]));
        if (!fold.ok()) return fold.status();
        open = *std::move(fold);
      }
      const uint64_t piece_end = piece.first_element + piece.plan.array.element_count;
      absl::Status status = AddPart(piece.plan.array.size_bytes(), std::move(piece.result), *open);
      if (!status.ok()) return status;
      if (piece_end < group_end) continue;
      absl::StatusOr<ReductionMerge> answer = open->Finish(0);
      if (!answer.ok()) return answer.status();
      PutGroups(group, std::move(answer->result), whole);
      open.reset();
    }
  }
  return whole;
}

}  // namespace gridfold::kernels
