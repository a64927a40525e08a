#include "kernels/contract/keyed_reduction.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kernels/contract/histogram_bins.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/segments.h"
#include "kernels/numerics/bins/axes.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {

namespace {

// The error of planning bins, with the field's path from the groups' own message.
absl::Status AtField(absl::string_view field, const absl::Status& status) {
  absl::string_view message = status.message();
  const std::string inner = FieldOf(status);
  if (!inner.empty()) message.remove_prefix(std::min(message.size(), inner.size() + 2));
  return IsAboveLimit(status) ? AboveLimit(field, message) : InvalidField(field, message);
}

absl::Status RequireIntegers(const ArrayDescription& keys) {
  if (!IsFloatingPoint(keys.element_type)) return absl::OkStatus();
  return InvalidField("keys",
                      absl::StrCat("keys are integers, not ", ElementTypeName(keys.element_type),
                                   ": give bins for floating-point coordinates"));
}

// What the spec of the groups says.
class GroupPlanner {
 public:
  GroupPlanner(uint64_t group_count_max, KeyedReductionPlan& plan)
      : group_count_max_(group_count_max), plan_(plan) {}

  absl::Status operator()(const FoundKeysSpec& found) {
    plan_.group_count_max = found.key_count_max == 0
                                ? group_count_max_
                                : std::min(found.key_count_max, group_count_max_);
    return RequireIntegers(plan_.keys);
  }

  absl::Status operator()(const KeyRangeSpec& range) {
    if (absl::Status status = RequireIntegers(plan_.keys); !status.ok()) return status;
    plan_.refuses_outside = true;
    const IntegerBinsSpec bins{.first_value = range.first_key,
                               .bin_count = range.key_count,
                               .first_unsigned_value = range.first_unsigned_key};
    const absl::Status status = AddAxis(plan_.keys.element_type, bins, OutOfRangePolicy::kDrop);
    if (status.ok()) return status;
    return AtField(FieldOf(status).ends_with("first_unsigned_value") ? "range.first_unsigned_key"
                                                                     : "range.key_count",
                   status);
  }

  absl::Status operator()(const KeyBinsSpec& spec) {
    const size_t axis_count = 1 + spec.further_types.size();
    if (absl::Status status = CheckCounts(spec.bins.size(), axis_count); !status.ok()) {
      return status;
    }
    for (size_t axis = 0; axis < axis_count; ++axis) {
      const size_t entry = spec.bins.size() == 1 ? 0 : axis;
      const ElementType type = axis == 0 ? plan_.keys.element_type : spec.further_types[axis - 1];
      const absl::Status status = AddAxis(type, spec.bins[entry], spec.out_of_range_policy);
      if (!status.ok()) return OfKeyAxis(entry, status);
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status CheckCounts(size_t entry_count, size_t axis_count) {
    if (axis_count > kBinAxesMax) {
      return AboveLimit("bins.further_keys",
                        absl::StrCat(axis_count, " dimensions are more than ", kBinAxesMax));
    }
    if (entry_count == 0) return InvalidField("bins.bins", "at least one entry is needed");
    if (entry_count == 1 || entry_count == axis_count) return absl::OkStatus();
    return InvalidField(
        "bins.bins",
        absl::StrCat(entry_count, " entries, where ",
                     axis_count == 1 ? "one is" : absl::StrCat("1 or ", axis_count, " are"),
                     " needed"));
  }

  // Takes an axis' bins into the plan. All bins together stay within the bound.
  absl::Status AddAxis(ElementType type, const BinSpec& bins, OutOfRangePolicy policy) {
    HistogramSpec spec;
    spec.bins.push_back(bins);
    spec.out_of_range_policy = policy;
    const uint64_t bins_max = std::min(group_count_max_, kAxesBinsMax);
    const uint64_t bins_before = plan_.has_bins() ? plan_.group_count_max : 1;
    absl::StatusOr<HistogramPlan> outline = OutlineHistogram(
        ArrayDescription::Vector(type, plan_.keys.element_count), std::move(spec), bins_max);
    if (!outline.ok()) return outline.status();
    if (outline->total_bin_count() > bins_max / bins_before) {
      return AboveLimit(BinCountField(bins, 0),
                        absl::StrCat("more than ", bins_max, " bins of all dimensions together"));
    }
    plan_.group_count_max = bins_before * outline->total_bin_count();
    plan_.axes.push_back(*std::move(outline));
    return absl::OkStatus();
  }

  const uint64_t group_count_max_;
  KeyedReductionPlan& plan_;
};

// As vectors: keys and values have no shape but that they are equally many.
ArrayDescription Flat(const ArrayDescription& array) {
  return ArrayDescription::Vector(array.element_type, array.element_count);
}

// The reduction of values, which an engine groups. Without groups none is too small: those of the
// answer have elements, or SlotOfNothing.
absl::StatusOr<ReductionPlan> PlanValues(const ArrayDescription& values, ReductionSpec spec,
                                         bool has_quantiles) {
  spec.grouping = {.kind = GroupingKind::kAxis1, .offsets = {}};
  // Quantiles may be all that is asked for.
  const bool has_no_statistics = spec.statistics.empty() && has_quantiles;
  if (has_no_statistics) spec.statistics = {Statistic::kCount};
  absl::StatusOr<ReductionPlan> plan =
      PlanReduction(ArrayDescription::Matrix(values.element_type, 0, 0), std::move(spec));
  if (!plan.ok()) return plan;
  if (has_no_statistics) plan->statistics.clear();
  plan->array = Flat(values);
  plan->grouping = {.group_size = values.element_count, .offsets = {}};
  return plan;
}

absl::StatusOr<QuantilePlan> PlanQuantilesOf(const ArrayDescription& values,
                                             const KeyedReductionSpec& spec) {
  QuantilePlan plan;
  plan.array = Flat(values);
  if (spec.quantiles.empty()) return plan;
  if (spec.reduction.return_states) {
    return InvalidField(
        "quantiles", "a part has none that could be merged: not with accumulators or in streams");
  }
  absl::StatusOr<QuantilePlan> planned =
      PlanQuantiles(ArrayDescription::Matrix(values.element_type, 0, 0),
                    {.quantiles = spec.quantiles,
                     .method = spec.quantile_method,
                     .grouping = {.kind = GroupingKind::kAxis1, .offsets = {}},
                     .nan_policy = spec.reduction.nan_policy});
  if (planned.ok()) planned->array = plan.array;
  return planned;
}

// Slots of the groups that occur as those of all groups.
std::vector<uint64_t> Spread(const std::vector<uint64_t>& groups, std::span<const uint64_t> slots,
                             uint64_t group_count, uint64_t of_nothing) {
  std::vector<uint64_t> spread(group_count, of_nothing);
  for (uint64_t i = 0; i < groups.size(); ++i) spread[groups[i]] = slots[i];
  return spread;
}

uint64_t AllOnes(ElementType type) {
  return VisitElementType(type, [](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) return Slot(static_cast<T>(~T{0}));
    return 0;
  });
}

}  // namespace

absl::StatusOr<KeyedReductionPlan> OutlineKeyedReduction(const ArrayDescription& keys,
                                                         const ArrayDescription& values,
                                                         KeyedReductionSpec spec,
                                                         uint64_t group_count_max) {
  if (keys.element_count != values.element_count) {
    return InvalidField("values", absl::StrCat(values.element_count, " elements, where `keys` has ",
                                               keys.element_count));
  }
  absl::StatusOr<QuantilePlan> quantiles = PlanQuantilesOf(values, spec);
  if (!quantiles.ok()) return quantiles.status();
  absl::StatusOr<ReductionPlan> reduction =
      PlanValues(values, std::move(spec.reduction), !spec.quantiles.empty());
  if (!reduction.ok()) return reduction.status();
  KeyedReductionPlan plan;
  plan.keys = Flat(keys);
  plan.reduction = *std::move(reduction);
  plan.quantiles = *std::move(quantiles);
  absl::Status status = std::visit(GroupPlanner(group_count_max, plan), spec.groups);
  if (!status.ok()) return status;
  return plan;
}

std::vector<PlannedBins> KeyedReductionPlan::bins() const {
  std::vector<PlannedBins> of_axes;
  for (const HistogramPlan& axis : axes) of_axes.push_back(axis.bins.front());
  return of_axes;
}

uint64_t KeyedReductionPlan::bytes_per_element() const {
  uint64_t bytes = ElementSize(keys.element_type) + ElementSize(reduction.array.element_type);
  for (size_t axis = 1; axis < axes.size(); ++axis) {
    bytes += ElementSize(axes[axis].array.element_type);
  }
  return bytes;
}

void SetKeyCount(uint64_t count, KeyedReductionPlan& plan) {
  plan.keys.element_count = count;
  plan.reduction.array.element_count = count;
  plan.reduction.grouping.group_size = count;
  plan.quantiles.array.element_count = count;
  for (HistogramPlan& axis : plan.axes) axis.array.element_count = count;
}

absl::Status OfKeyAxis(size_t axis, const absl::Status& status) {
  const std::string field = FieldOf(status);
  absl::string_view inner = field;
  if (!absl::ConsumePrefix(&inner, "bins[0]")) return status;
  return AtField(absl::StrCat("bins.bins[", axis, "]", inner), status);
}

absl::Status CompletePlan(const std::stop_token& stop, KeyedReductionPlan& plan) {
  for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
    const absl::Status status = CompletePlan(stop, plan.axes[axis]);
    if (!status.ok()) return OfKeyAxis(axis, status);
  }
  return absl::OkStatus();
}

ReductionPlan PlanOfGroups(const KeyedReductionPlan& plan, std::vector<uint64_t> offsets) {
  ReductionPlan reduction = plan.reduction;
  reduction.array.element_count = offsets.back();
  reduction.grouping = SegmentsAt(std::move(offsets));
  return reduction;
}

QuantilePlan PlanQuantilesOfGroups(const KeyedReductionPlan& plan, std::vector<uint64_t> offsets) {
  QuantilePlan quantiles = plan.quantiles;
  quantiles.array.element_count = offsets.back();
  quantiles.grouping = SegmentsAt(std::move(offsets));
  return quantiles;
}

void MapIndices(const std::function<uint64_t(uint64_t, uint64_t)>& place_of,
                ReductionResult& result) {
  const auto map = [&place_of](uint64_t group, uint64_t& index) {
    if (index != kNoIndex) index = place_of(group, index);
  };
  for (StatisticColumn& column : result.columns) {
    if (!TraitsOf(column.statistic).is_index) continue;
    for (uint64_t g = 0; g < column.slots.size(); ++g) map(g, column.slots[g]);
  }
  const auto map_states = [&map](auto& groups) {
    for (uint64_t g = 0; g < groups.size(); ++g) {
      auto& extremes = groups[g].template Part<kExtremesPart>();
      map(g, extremes.min.index);
      map(g, extremes.max.index);
    }
  };
  std::visit(
      [&map_states](auto& groups) {
        if constexpr (requires { groups.begin(); }) map_states(groups);
      },
      result.states);
}

uint64_t SlotOfNothing(Statistic statistic, ElementType type) {
  if (TraitsOf(statistic).is_index) return kNoIndex;
  const bool is_double = ValueKindOf(statistic, type) == ValueKind::kDouble;
  if (TraitsOf(statistic).needs_elements) return is_double ? kNanSlot : 0;
  if (statistic == Statistic::kProduct) return is_double ? Slot(1.0) : 1;
  if (statistic == Statistic::kAll) return 1;
  if (statistic == Statistic::kBitwiseAnd) return AllOnes(type);
  return 0;
}

KeyedAnswer SpreadGroups(const KeyedReductionPlan& plan, KeyedReductionResult result) {
  const uint64_t occurring = result.groups.size();
  KeyedAnswer answer;
  answer.counts.resize(plan.has_bins() ? plan.group_count_max : occurring);
  const auto place = [&](uint64_t i) { return plan.has_bins() ? result.groups[i] : i; };
  for (uint64_t i = 0; i < occurring; ++i) {
    answer.counts[place(i)] = result.offsets[i + 1] - result.offsets[i];
  }
  answer.columns = std::move(result.reduction.columns);
  const auto quantile_slots = [&](size_t target) {
    return std::span(result.quantiles.slots).subspan(target * occurring, occurring);
  };
  if (!plan.has_bins()) {
    for (size_t t = 0; t < plan.quantiles.targets.size(); ++t) {
      answer.quantiles.emplace_back(quantile_slots(t).begin(), quantile_slots(t).end());
    }
    answer.keys = std::move(result.groups);
    return answer;
  }
  for (StatisticColumn& column : answer.columns) {
    if (column.slots.size() != occurring) continue;  // A part's, without a value for some group.
    column.slots = Spread(result.groups, column.slots, plan.group_count_max,
                          SlotOfNothing(column.statistic, plan.reduction.array.element_type));
  }
  for (size_t t = 0; t < plan.quantiles.targets.size(); ++t) {
    const bool is_double = KindOfTarget(plan.quantiles, t) == ValueKind::kDouble;
    answer.quantiles.push_back(
        Spread(result.groups, quantile_slots(t), plan.group_count_max, is_double ? kNanSlot : 0));
  }
  return answer;
}

absl::Status KeyOutsideRange(const KeyedReductionPlan& plan, uint64_t index, uint64_t key_bits) {
  const PlannedBins& range = plan.axes.front().bins.front();
  const bool is_unsigned = IsUnsigned(plan.keys.element_type);
  const std::string key =
      is_unsigned ? absl::StrCat(key_bits) : absl::StrCat(static_cast<int64_t>(key_bits));
  const std::string first = range.first_unsigned_value != 0
                                ? absl::StrCat(range.first_unsigned_value)
                                : absl::StrCat(range.first_value);
  return InvalidField("keys", absl::StrCat("key ", key, " of element ", index, " is not among the ",
                                           range.bin_count, " from ", first, " on"));
}

absl::Status TooManyKeys(const KeyedReductionPlan& plan) {
  return AboveLimit("found.key_count_max",
                    absl::StrCat("more than ", plan.group_count_max, " different keys occur"));
}

}  // namespace gridfold::kernels
