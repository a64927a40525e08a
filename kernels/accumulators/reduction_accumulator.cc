#include "kernels/accumulators/reduction_accumulator.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/reduction_finish.h"
#include "kernels/accumulators/reduction_header.h"
#include "kernels/accumulators/state.h"
#include "kernels/accumulators/state_difference.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();

uint64_t GroupSize(const Grouping& grouping, uint64_t group) {
  if (grouping.kind != GroupingKind::kSegments) return grouping.group_size;
  return grouping.offsets[group + 1] - grouping.offsets[group];
}

AnswerOf AnswerOfFold(Combination combination, bool partial) {
  if (partial) return AnswerOf::kPartialMerge;
  return combination == Combination::kMerge ? AnswerOf::kMerge : AnswerOf::kRemainder;
}

template <class T>
class Folder {
 public:
  Folder(Combination combination, const ReductionPlan& plan,
         std::span<const absl::string_view> bodies, PartsFrom from, bool partial)
      : combination_(combination),
        plan_(plan),
        from_(from),
        parts_(PartsOf(plan)),
        values_(plan, AnswerOfFold(combination, partial)) {
    WriteReductionHeader(plan, writer_);
    readers_.reserve(bodies.size());
    for (const absl::string_view body : bodies) ReadReductionHeader(readers_.emplace_back(body));
  }

  absl::StatusOr<ReductionMerge> Run(const std::stop_token& stop) {
    for (uint64_t group = 0; group < plan_.grouping.group_count; ++group) {
      if (absl::Status status = FoldGroup(group, stop); !status.ok()) return status;
    }
    for (size_t i = 0; i < readers_.size(); ++i) {
      if (readers_[i].rest_size() != 0) {
        return AccumulatorError(combination_, i, DamagedAccumulator());
      }
    }
    return ReductionMerge{std::move(values_).Finish(), std::move(writer_).Finish(), element_count_};
  }

 private:
  using S = ComputeType<T>;

  // The next group of some of the parts.
  struct Group {
    uint64_t element_count = 0;
    FullState<S> state;
  };

  bool ignores_nan() const { return plan_.nan_policy == NanPolicy::kIgnore; }

  absl::Status FoldGroup(uint64_t group, const std::stop_token& stop) {
    const size_t merged = combination_ == Combination::kMerge ? readers_.size() : 1;
    absl::Status status = Merge(0, merged, stop, folded_);
    if (status.ok() && combination_ == Combination::kSubtract) status = TakeOutRest(group, stop);
    if (!status.ok()) return status;
    element_count_ += std::min(folded_.element_count, kUint64Max - element_count_);
    WriteGroup(parts_, folded_.element_count, folded_.state, writer_);
    return values_.Add(group, folded_.element_count, folded_.state);
  }

  // All parts but the first, together, out of the first.
  absl::Status TakeOutRest(uint64_t group, const std::stop_token& stop) {
    absl::Status status = Merge(1, readers_.size(), stop, taken_);
    if (!status.ok()) return status;
    const Difference difference =
        TakeOutGroup<T>(parts_, ignores_nan(), taken_.element_count, taken_.state,
                        folded_.element_count, folded_.state);
    if (difference == Difference::kKnown) return status;
    return InvalidField("subtrahends",
                        absl::StrCat("group ", group, ": ", DescriptionOf(difference)));
  }

  // The parts from `first` to before `end`.
  absl::Status Merge(size_t first, size_t end, const std::stop_token& stop, Group& merged) {
    merged.element_count = 0;
    ResetParts(parts_, merged.state);
    for (size_t i = first; i < end; ++i) {
      if (stop.stop_requested()) return absl::CancelledError("stopped");
      if (absl::Status status = AddPart(readers_[i], merged); !status.ok()) {
        return AccumulatorError(combination_, i, status);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddPart(AccumulatorReader& reader, Group& merged) {
    const GroupFacts part{.element_count = reader.Integer(), .ignore_nan = ignores_nan()};
    if (part.element_count > 0) ReadParts<T>(reader, parts_, part, from_, part_);
    if (!reader.ok()) return DamagedAccumulator();
    if (part.element_count > kAccumulatedElementsMax - merged.element_count) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a group has more than ", kAccumulatedElementsMax, " elements with those of this part"));
    }
    merged.element_count += part.element_count;
    if (part.element_count > 0) MergeParts(parts_, part_, merged.state);
    return absl::OkStatus();
  }

  const Combination combination_;
  const ReductionPlan& plan_;
  const PartsFrom from_;
  const uint32_t parts_;
  std::vector<AccumulatorReader> readers_;
  AccumulatorWriter writer_{AccumulatorKind::kReduction};
  ValueCollector values_;
  Group folded_;
  Group taken_;
  FullState<S> part_;
  uint64_t element_count_ = 0;
};

absl::StatusOr<ReductionMerge> FoldBodies(Combination combination, const ReductionPlan& plan,
                                          std::span<const absl::string_view> bodies, PartsFrom from,
                                          bool partial, const std::stop_token& stop) {
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Folder<T>(combination, plan, bodies, from, partial).Run(stop);
  });
}

}  // namespace

ReductionPlan PlanStates(ReductionPlan plan) {
  const std::vector<Statistic> wanted = std::exchange(plan.statistics, {});
  for (Statistic statistic : wanted) {
    // An index of no element has no value; the element itself needs the same part.
    if (statistic == Statistic::kArgmin) statistic = Statistic::kMin;
    if (statistic == Statistic::kArgmax) statistic = Statistic::kMax;
    const bool is_new = std::find(plan.statistics.begin(), plan.statistics.end(), statistic) ==
                        plan.statistics.end();
    if (is_new) plan.statistics.push_back(statistic);
  }
  plan.return_states = true;
  return plan;
}

absl::StatusOr<std::string> MakeReductionAccumulator(const ReductionPlan& plan,
                                                     const ReductionStates& states) {
  return VisitElementType(plan.array.element_type, [&](auto tag) -> absl::StatusOr<std::string> {
    using S = ComputeType<typename decltype(tag)::type>;
    const GroupStates<S>* const groups = std::get_if<GroupStates<S>>(&states);
    if (groups == nullptr || groups->size() != plan.grouping.group_count) {
      return absl::InternalError("the engine returned no states of the groups");
    }
    AccumulatorWriter writer(AccumulatorKind::kReduction);
    WriteReductionHeader(plan, writer);
    for (uint64_t group = 0; group < groups->size(); ++group) {
      WriteGroup(PartsOf(plan), GroupSize(plan.grouping, group), (*groups)[group], writer);
    }
    return std::move(writer).Finish();
  });
}

uint64_t ReductionAccumulatorBytesMax(const ReductionPlan& plan) {
  constexpr uint64_t kHeaderBytesMax = 64;
  // Counts, flags and lengths: no more than this beside the state's own bytes.
  constexpr uint64_t kFramingBytes = 64;
  const uint64_t state_bytes = VisitElementType(plan.array.element_type, [](auto tag) {
    return sizeof(FullState<ComputeType<typename decltype(tag)::type>>);
  });
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(plan.grouping.group_count, state_bytes + kFramingBytes, &bytes) ||
      __builtin_add_overflow(bytes, kHeaderBytesMax, &bytes)) {
    return kUint64Max;
  }
  return bytes;
}

absl::StatusOr<ReductionPlan> PlanOfReductionBody(absl::string_view body,
                                                  uint64_t group_count_max) {
  AccumulatorReader reader(body);
  const ReductionHeader header = ReadReductionHeader(reader);
  if (!reader.ok()) return DamagedAccumulator();
  if (absl::Status status = CheckGroupCount(header, group_count_max); !status.ok()) return status;
  ReductionSpec spec = SpecOf(header);
  // One group is taken as the whole array, several as rows.
  ArrayDescription array = ArrayDescription::Vector(header.element_type, 0);
  if (header.group_count != 1) {
    array = ArrayDescription::Matrix(header.element_type, header.group_count, 0);
    spec.grouping.kind = GroupingKind::kAxis1;
  }
  return PlanReduction(array, std::move(spec));
}

absl::Status CheckReductionBodiesAgree(absl::string_view first, absl::string_view body) {
  AccumulatorReader reader(first);
  AccumulatorReader other_reader(body);
  const ReductionHeader header = ReadReductionHeader(reader);
  const ReductionHeader other = ReadReductionHeader(other_reader);
  if (!other_reader.ok()) return DamagedAccumulator();
  const char* difference = DifferenceOf(header, other);
  if (difference == nullptr && header.group_count != other.group_count) {
    difference = "number of groups";
  }
  if (difference == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("its ", difference, " is not the first one's"));
}

absl::Status CheckCanBeSubtracted(const ReductionPlan& plan) {
  const std::optional<size_t> other = FindStatisticBeyond(plan, kSubtractableParts);
  if (!other.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(StatisticName(plan.statistics[*other]), " (statistics[", *other,
                   "]) cannot be taken out: its state is not made of sums and counts"));
}

absl::StatusOr<ReductionMerge> FoldReductions(Combination combination, const ReductionPlan& plan,
                                              std::span<const absl::string_view> bodies,
                                              bool partial, const std::stop_token& stop) {
  return FoldBodies(combination, plan, bodies, PartsFrom::kAnybody, partial, stop);
}

absl::StatusOr<ReductionMerge> MakeReductionPart(const ReductionPlan& plan,
                                                 const ReductionStates& states,
                                                 const std::stop_token& stop) {
  const absl::StatusOr<std::string> accumulator = MakeReductionAccumulator(plan, states);
  if (!accumulator.ok()) return accumulator.status();
  const absl::StatusOr<AccumulatorBody> body = OpenAccumulator(*accumulator);
  if (!body.ok()) return body.status();
  return FoldBodies(Combination::kMerge, plan, {&body->bytes, 1}, PartsFrom::kHere,
                    /*partial=*/true, stop);
}

}  // namespace gridfold::kernels
