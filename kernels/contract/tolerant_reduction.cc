#include "kernels/contract/tolerant_reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/reduction_checks.h"
#include "kernels/contract/statistic_error.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {

namespace {

bool Holds(const std::vector<Statistic>& statistics, Statistic statistic) {
  return std::find(statistics.begin(), statistics.end(), statistic) != statistics.end();
}

void AddOnce(Statistic statistic, std::vector<Statistic>& statistics) {
  if (!Holds(statistics, statistic)) statistics.push_back(statistic);
}

const std::vector<uint64_t>* SlotsOf(Statistic statistic, const ReductionResult& result) {
  for (const StatisticColumn& column : result.columns) {
    if (column.statistic == statistic) return &column.slots;
  }
  return nullptr;
}

// Of population variance; see the proto for what is lost.
double ScaledValue(Statistic statistic, double variance, uint64_t count, double ddof) {
  const auto n = static_cast<double>(count);
  const double scaled = variance * (n / (n - ddof));
  if (statistic == Statistic::kVariance) return scaled;
  return std::sqrt(statistic == Statistic::kStandardError ? scaled / n : scaled);
}

}  // namespace

bool IsWholeDdof(double ddof) {
  return ddof >= 0 && ddof <= std::numeric_limits<uint32_t>::max() && ddof == std::floor(ddof);
}

// Makes the columns of the answer, one after the other.
class TolerantReduction::Finisher {
 public:
  Finisher(const TolerantReduction& reduction, const ReductionResult& values,
           const ReductionResult& places)
      : reduction_(reduction),
        plan_(reduction.plan_),
        values_(values),
        places_(places),
        counts_(reduction.NeedsCounts() ? SlotsOf(Statistic::kCount, values) : nullptr),
        result_{MakeReductionResult(plan_), std::vector<std::string>(plan_.statistics.size())} {}

  absl::StatusOr<TolerantResult> Finish() && {
    for (size_t i = 0; i < plan_.statistics.size(); ++i) {
      FillColumn(i);
      if (absl::Status status = FillLacking(i); !status.ok()) return status;
    }
    return std::move(result_);
  }

 private:
  // Elements that count.
  uint64_t CountOf(uint64_t group) const {
    return counts_ != nullptr ? (*counts_)[group] : SizeOf(group);
  }

  uint64_t SizeOf(uint64_t group) const {
    const Grouping& grouping = plan_.grouping;
    return grouping.kind == GroupingKind::kSegments
               ? grouping.offsets[group + 1] - grouping.offsets[group]
               : grouping.group_size;
  }

  // Also with what groups without a value have.
  void FillColumn(size_t i) {
    const Statistic statistic = plan_.statistics[i];
    std::vector<uint64_t>& slots = result_.result.columns[i].slots;
    if (reduction_.IsNowhere(statistic)) return;
    if (reduction_.HasPlacesApart(statistic)) return FillPlaces(statistic, slots);
    if (!reduction_.IsScaled(statistic)) {
      slots = *SlotsOf(statistic, values_);
      return;
    }
    const std::vector<uint64_t>& variances = *SlotsOf(Statistic::kVariance, values_);
    for (uint64_t g = 0; g < slots.size(); ++g) {
      slots[g] = Slot(ScaledValue(statistic, std::bit_cast<double>(variances[g]), CountOf(g),
                                  reduction_.ddof_));
    }
  }

  // Of groups that are not empty.
  void FillPlaces(Statistic statistic, std::vector<uint64_t>& slots) {
    if (reduction_.places_.statistics.empty()) return;
    if (!reduction_.places_.return_states) {
      auto place = SlotsOf(statistic, places_)->begin();
      for (uint64_t g = 0; g < slots.size(); ++g) {
        if (SizeOf(g) > 0) slots[g] = *place++;
      }
      return;
    }
    const auto fill = [&](const auto& states) {
      auto state = states.begin();
      for (uint64_t g = 0; g < slots.size(); ++g) {
        if (SizeOf(g) == 0) continue;
        const auto& extremes = (state++)->template Part<kExtremesPart>();
        slots[g] = statistic == Statistic::kArgmin ? extremes.min.index : extremes.max.index;
      }
    };
    std::visit(
        [&](const auto& states) {
          if constexpr (requires { states.begin(); }) fill(states);
        },
        places_.states);
  }

  absl::Status FillLacking(size_t i) {
    const Statistic statistic = plan_.statistics[i];
    if (!reduction_.MayLackValues(statistic)) return absl::OkStatus();
    StatisticColumn& column = result_.result.columns[i];
    const std::optional<uint64_t> value = ValueOfLacking(column.kind);
    std::string& validity = result_.validity[i];
    for (uint64_t g = 0; g < column.slots.size(); ++g) {
      if (!reduction_.IsTooSmall(statistic, CountOf(g))) continue;
      if (!value) return StatisticError(plan_, i, g, ValueOutcome::kNothing);
      column.slots[g] = *value;
      if (reduction_.rule_.policy == EmptyGroupPolicy::kNull) MarkNull(g, validity);
    }
    return absl::OkStatus();
  }

  // Nothing where there is no such value.
  std::optional<uint64_t> ValueOfLacking(ValueKind kind) const {
    switch (reduction_.rule_.policy) {
      case EmptyGroupPolicy::kError:
      case EmptyGroupPolicy::kNan:
        if (kind == ValueKind::kDouble) return kNanSlot;
        return std::nullopt;
      case EmptyGroupPolicy::kNull: return 0;
      case EmptyGroupPolicy::kValue: return SlotOf(reduction_.rule_.value, kind);
    }
    return std::nullopt;
  }

  void MarkNull(uint64_t group, std::string& validity) const {
    const uint64_t group_count = plan_.grouping.group_count;
    if (validity.empty()) {
      validity.assign((group_count + 7) / 8, '\xFF');
      if (group_count % 8 != 0) validity.back() = static_cast<char>((1u << group_count % 8) - 1);
    }
    char& byte = validity[group / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) & ~(1u << group % 8));
  }

  const TolerantReduction& reduction_;
  const ReductionPlan& plan_;
  const ReductionResult& values_;
  const ReductionResult& places_;
  const std::vector<uint64_t>* const counts_;
  TolerantResult result_;
};

TolerantReduction::TolerantReduction(ReductionPlan plan, const EmptyGroupRule& rule, double ddof)
    : rule_(rule),
      ddof_(ddof),
      ddof_is_whole_(IsWholeDdof(ddof)),
      plan_(std::move(plan)),
      smallest_(FindSmallestGroup(plan_.grouping)) {
  plan_.delta_degrees_of_freedom = ddof_is_whole_ ? static_cast<uint32_t>(ddof) : 0;
}

absl::StatusOr<TolerantReduction> TolerantReduction::Plan(const ArrayDescription& array,
                                                          ReductionSpec spec,
                                                          const EmptyGroupRule& rule, double ddof) {
  if (!std::isfinite(ddof)) return InvalidField("fractional_degrees_of_freedom", "is not finite");
  absl::StatusOr<ReductionPlan> plan = PlanGroupsOfAnySize(array, std::move(spec));
  if (!plan.ok()) return plan.status();
  TolerantReduction reduction(*std::move(plan), rule, ddof);
  if (absl::Status status = reduction.CheckGroups(); !status.ok()) return status;
  if (absl::Status status = reduction.CheckValue(); !status.ok()) return status;
  reduction.MakePlans();
  return reduction;
}

bool TolerantReduction::IsTooSmall(Statistic statistic, uint64_t element_count) const {
  const StatisticTraits traits = TraitsOf(statistic);
  return (traits.needs_elements && element_count == 0) ||
         (traits.uses_degrees_of_freedom && static_cast<double>(element_count) <= ddof_);
}

bool TolerantReduction::IsNowhere(Statistic statistic) const {
  return plan_.grouping.kind != GroupingKind::kSegments &&
         IsTooSmall(statistic, plan_.grouping.group_size);
}

bool TolerantReduction::MayLackValues(Statistic statistic) const {
  const StatisticTraits traits = TraitsOf(statistic);
  if (!traits.needs_elements && !traits.uses_degrees_of_freedom) return false;
  return smallest_ && (IsTooSmall(statistic, smallest_->size) || NeedsCounts());
}

// The number of elements that count is known to the engine alone.
bool TolerantReduction::NeedsCounts() const {
  return plan_.nan_policy == NanPolicy::kIgnore && IsFloatingPoint(plan_.array.element_type) &&
         std::any_of(plan_.statistics.begin(), plan_.statistics.end(), [&](Statistic statistic) {
           const bool is_replaced =
               rule_.policy == EmptyGroupPolicy::kNull || rule_.policy == EmptyGroupPolicy::kValue;
           return IsScaled(statistic) || (is_replaced && TraitsOf(statistic).needs_elements);
         });
}

bool TolerantReduction::HasPlacesApart(Statistic statistic) const {
  return TraitsOf(statistic).is_index && MayLackValues(statistic) && !IsNowhere(statistic);
}

bool TolerantReduction::IsScaled(Statistic statistic) const {
  return !ddof_is_whole_ && TraitsOf(statistic).uses_degrees_of_freedom;
}

bool TolerantReduction::is_plain() const {
  return std::none_of(plan_.statistics.begin(), plan_.statistics.end(), [&](Statistic statistic) {
    return IsScaled(statistic) || MayLackValues(statistic);
  });
}

absl::Status TolerantReduction::CheckGroups() const {
  if (!smallest_ || rule_.policy == EmptyGroupPolicy::kNull ||
      rule_.policy == EmptyGroupPolicy::kValue) {
    return absl::OkStatus();
  }
  for (size_t i = 0; i < plan_.statistics.size(); ++i) {
    const Statistic statistic = plan_.statistics[i];
    const bool is_forgiven = rule_.policy == EmptyGroupPolicy::kNan &&
                             ValueKindOf(statistic, plan_.array.element_type) == ValueKind::kDouble;
    if (is_forgiven || !IsTooSmall(statistic, smallest_->size)) continue;
    const std::optional<GroupSizeProblem> problem = FindGroupSizeProblem(
        statistic, plan_.delta_degrees_of_freedom, smallest_->group, smallest_->size);
    if (problem) return GroupSizeError(i, *problem);
    return InvalidField("fractional_degrees_of_freedom",
                        absl::StrCat(ddof_, " is not smaller than the ", smallest_->size,
                                     " elements of group ", smallest_->group));
  }
  return absl::OkStatus();
}

absl::Status TolerantReduction::CheckValue() const {
  if (rule_.policy != EmptyGroupPolicy::kValue) return absl::OkStatus();
  for (const Statistic statistic : plan_.statistics) {
    if (!TraitsOf(statistic).needs_elements) continue;
    const ValueKind kind = ValueKindOf(statistic, plan_.array.element_type);
    if (SlotOf(rule_.value, kind)) continue;
    return InvalidField(
        "empty_group.value",
        absl::StrCat("does not fit the values of ", StatisticName(statistic), " of ",
                     ElementTypeName(plan_.array.element_type), " elements"));
  }
  return absl::OkStatus();
}

void TolerantReduction::MakePlans() {
  values_ = places_ = plan_;
  values_.statistics.clear();
  places_.statistics.clear();
  places_.return_states = NeedsCounts();
  if (smallest_ && smallest_->size == 0 && plan_.grouping.kind == GroupingKind::kSegments) {
    std::vector<uint64_t> offsets = plan_.grouping.offsets;
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    places_.grouping = SegmentsAt(std::move(offsets));
  }
  for (const Statistic statistic : plan_.statistics) {
    if (IsNowhere(statistic)) continue;
    if (HasPlacesApart(statistic)) {
      places_.statistics.push_back(statistic);
    } else {
      AddOnce(IsScaled(statistic) ? Statistic::kVariance : statistic, values_.statistics);
    }
  }
  if (NeedsCounts()) AddOnce(Statistic::kCount, values_.statistics);
  if (places_.grouping.group_count == 0) places_.statistics.clear();
}

absl::StatusOr<TolerantResult> TolerantReduction::Finish(const ReductionResult& values,
                                                         const ReductionResult& places) const {
  return Finisher(*this, values, places).Finish();
}

}  // namespace gridfold::kernels
