#include "client/core/conversion.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/core/field_conversion.h"
#include "client/core/last_error.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::core {

namespace {

using kernels::InvalidField;

static_assert(GRIDFOLD_STANDARD_ERROR == kernels::kStatisticCount);

// Of groups whose elements follow one another.
absl::Status SetContiguousGrouping(const gridfold_grouping& grouping, kernels::GroupingSpec& spec) {
  if (grouping.kind == GRIDFOLD_AXIS0) {
    return InvalidField("grouping.kind", "columns are not put in order; transpose the array");
  }
  return SetGrouping(grouping, spec);
}

absl::Status SetQuantiles(const gridfold_quantile_spec* spec, kernels::QuantileSpec& planned) {
  if (absl::Status status = RequireArgument(spec, "spec"); !status.ok()) return status;
  return FirstError(
      {SetValues(spec->quantiles, spec->quantile_count, "quantiles", planned.quantiles),
       SetValues(spec->ranks, spec->rank_count, "ranks", planned.ranks),
       SetEnum(spec->method, GRIDFOLD_QUANTILE_LINEAR, 6, "method", planned.method),
       SetContiguousGrouping(spec->grouping, planned.grouping),
       SetEnum(spec->nan_policy, 0, 2, "nan_policy", planned.nan_policy)});
}

// The field of bins as C has it: kinds of bins are members of one struct there.
absl::StatusOr<kernels::BinSpec> BinsOf(const gridfold_bins& bins, uint64_t i) {
  switch (bins.kind) {
    case GRIDFOLD_EVEN_BINS: {
      kernels::EvenBinsSpec even;
      even.bin_count = bins.bin_count;
      if (bins.has_bounds != 0) {
        even.lower_bound = bins.lower_bound;
        even.upper_bound = bins.upper_bound;
      }
      return even;
    }
    case GRIDFOLD_EDGE_BINS: {
      kernels::EdgeBinsSpec table;
      absl::Status status =
          SetValues(bins.edges, bins.edge_count, absl::StrCat("bins[", i, "].edges"), table.edges);
      if (!status.ok()) return status;
      return table;
    }
    case GRIDFOLD_LOGARITHMIC_BINS:
      return kernels::LogarithmicBinsSpec{bins.bin_count, bins.lower_bound, bins.upper_bound};
    case GRIDFOLD_INTEGER_BINS:
      return kernels::IntegerBinsSpec{bins.first_value, bins.bin_count, bins.first_unsigned_value};
    default: break;
  }
  return InvalidField(absl::StrCat("bins[", i, "].kind"),
                      absl::StrCat(bins.kind, " is not one of its values"));
}

absl::Status SetPairedStatistics(const gridfold_paired_spec& spec,
                                 std::vector<kernels::PairedStatistic>& statistics) {
  std::vector<gridfold_paired_statistic> numbers;
  absl::Status status =
      spec.statistic_count > kernels::kPairedStatisticCount
          ? InvalidField("statistics", "some are asked for twice")
          : SetValues(spec.statistics, spec.statistic_count, "statistics", numbers);
  for (size_t i = 0; i < numbers.size() && status.ok(); ++i) {
    status = SetEnum(numbers[i], GRIDFOLD_PAIRED_DOT, kernels::kPairedStatisticCount,
                     absl::StrCat("statistics[", i, "]"), statistics.emplace_back());
  }
  return status;
}

absl::Status SetBins(const gridfold_bins* from, uint64_t count,
                     std::vector<kernels::BinSpec>& specs) {
  if (count > uint64_t{GRIDFOLD_CHANNELS_MAX}) {
    return InvalidField("bins", "more than channels may be");
  }
  if (count > 0) {
    if (absl::Status status = RequireArgument(from, "bins"); !status.ok()) return status;
  }
  for (uint64_t i = 0; i < count; ++i) {
    absl::StatusOr<kernels::BinSpec> bins = BinsOf(from[i], i);
    if (!bins.ok()) return bins.status();
    specs.push_back(*std::move(bins));
  }
  return absl::OkStatus();
}

// Everything but the grouping, of an array of so many elements.
absl::Status SetReduction(const gridfold_reduction_spec& from, uint64_t element_count,
                          kernels::ReductionSpec& spec) {
  std::vector<gridfold_statistic> statistics;
  absl::Status status = FirstError(
      {SetValues(from.statistics, from.statistic_count, "statistics", statistics),
       SetPolicies(from.nan_policy, from.overflow_policy, spec.nan_policy, spec.overflow_policy)});
  if (!status.ok()) return status;
  for (size_t i = 0; i < statistics.size(); ++i) {
    status = SetEnum(statistics[i], GRIDFOLD_COUNT, kernels::kStatisticCount,
                     absl::StrCat("statistics[", i, "]"), spec.statistics.emplace_back());
    if (!status.ok()) return status;
  }
  spec.delta_degrees_of_freedom = from.delta_degrees_of_freedom;
  if (from.first_index > kernels::kNoIndex - element_count) {
    return InvalidField("first_index", "the indices of the elements do not fit in 64 bits");
  }
  return absl::OkStatus();
}

absl::Status SetKeyGroups(const gridfold_keyed_spec& from,
                          std::vector<kernels::ElementType> further_types,
                          kernels::KeyGroupsSpec& groups) {
  switch (from.groups) {
    case GRIDFOLD_FOUND_KEYS:
      groups = kernels::FoundKeysSpec{from.key_count};
      return absl::OkStatus();
    case GRIDFOLD_KEY_RANGE:
      groups = kernels::KeyRangeSpec{from.first_key, from.key_count, from.first_unsigned_key};
      return absl::OkStatus();
    case GRIDFOLD_KEY_BINS: {
      auto& bins = groups.emplace<kernels::KeyBinsSpec>();
      bins.further_types = std::move(further_types);
      return FirstError({SetBins(from.bins, from.bins_count, bins.bins),
                         SetEnum(from.out_of_range_policy, 0, 2, "out_of_range_policy",
                                 bins.out_of_range_policy)});
    }
    default: break;
  }
  return InvalidField("groups", absl::StrCat(from.groups, " is not one of its values"));
}

absl::Status SetCompanions(const kernels::ArrayDescription& x, const gridfold_samples& samples,
                           kernels::HistogramSpec& spec) {
  if (x.is_matrix) return InvalidField("samples.x", "must have one dimension");
  if (samples.y != nullptr) {
    const auto y = CompanionOf(x, samples.y, "samples.y");
    if (!y.ok()) return y.status();
    if (y->element_type != x.element_type) {
      return InvalidField("samples.y.element_type", "must be that of samples.x");
    }
    spec.two_dimensional = true;
  }
  if (samples.weights != nullptr) {
    const auto weights = CompanionOf(x, samples.weights, "samples.weights");
    if (!weights.ok()) return weights.status();
    spec.weight_type = weights->element_type;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<kernels::ReductionPlan> PlanOf(const gridfold_array* array,
                                              const gridfold_reduction_spec* spec,
                                              bool return_states) {
  absl::StatusOr<kernels::ArrayDescription> description = DescriptionOf(array, "array");
  if (!description.ok()) return description.status();
  if (absl::Status status = RequireArgument(spec, "spec"); !status.ok()) return status;
  kernels::ReductionSpec planned;
  absl::Status status = FirstError({SetReduction(*spec, description->element_count, planned),
                                    SetGrouping(spec->grouping, planned.grouping)});
  if (!status.ok()) return status;
  planned.return_states = return_states;
  return kernels::PlanReduction(*description, std::move(planned));
}

absl::StatusOr<kernels::ScanPlan> PlanOf(const gridfold_array* array,
                                         const gridfold_scan_spec* spec) {
  absl::StatusOr<kernels::ArrayDescription> description = DescriptionOf(array, "array");
  if (!description.ok()) return description.status();
  if (absl::Status status = RequireArgument(spec, "spec"); !status.ok()) return status;
  kernels::ScanSpec planned;
  absl::Status status =
      FirstError({SetEnum(spec->operation, GRIDFOLD_SCAN_SUM, 5, "operation", planned.operation),
                  SetGrouping(spec->grouping, planned.grouping),
                  SetPolicies(spec->nan_policy, spec->overflow_policy, planned.nan_policy,
                              planned.overflow_policy)});
  if (!status.ok()) return status;
  if (spec->output_type != 0) {
    status = SetElementType(spec->output_type, "output_type", planned.output_type.emplace());
    if (!status.ok()) return status;
  }
  planned.mode =
      spec->exclusive != 0 ? kernels::ScanMode::kExclusive : kernels::ScanMode::kInclusive;
  planned.direction =
      spec->reverse != 0 ? kernels::ScanDirection::kReverse : kernels::ScanDirection::kForward;
  planned.exact = spec->exact != 0;
  if (spec->window != 0) planned.window = spec->window;
  planned.min_count = spec->min_count;
  return kernels::PlanScan(*description, std::move(planned));
}

absl::StatusOr<kernels::QuantilePlan> PlanOf(const gridfold_array* array,
                                             const gridfold_quantile_spec* spec) {
  absl::StatusOr<kernels::ArrayDescription> description = DescriptionOf(array, "array");
  if (!description.ok()) return description.status();
  kernels::QuantileSpec planned;
  if (absl::Status status = SetQuantiles(spec, planned); !status.ok()) return status;
  return kernels::PlanQuantiles(*description, std::move(planned));
}

absl::StatusOr<kernels::WeightedQuantilePlan> PlanOf(const gridfold_array* array,
                                                     const gridfold_array* weights,
                                                     const gridfold_quantile_spec* spec) {
  const absl::StatusOr<kernels::ArrayDescription> description = DescriptionOf(array, "array");
  if (!description.ok()) return description.status();
  const absl::StatusOr<kernels::ArrayDescription> of_weights = DescriptionOf(weights, "weights");
  if (!of_weights.ok()) return of_weights.status();
  kernels::QuantileSpec planned;
  if (absl::Status status = SetQuantiles(spec, planned); !status.ok()) return status;
  if (!planned.ranks.empty()) return InvalidField("ranks", "not with weights");
  return kernels::PlanWeightedQuantiles(*description, *of_weights,
                                        {.quantiles = std::move(planned.quantiles),
                                         .grouping = std::move(planned.grouping),
                                         .nan_policy = planned.nan_policy});
}

absl::StatusOr<kernels::TopPlan> PlanOf(const gridfold_array* array,
                                        const gridfold_top_spec* spec) {
  absl::StatusOr<kernels::ArrayDescription> description = DescriptionOf(array, "array");
  if (!description.ok()) return description.status();
  if (absl::Status status = RequireArgument(spec, "spec"); !status.ok()) return status;
  kernels::TopSpec planned{.count = spec->count, .smallest = spec->smallest != 0};
  absl::Status status =
      FirstError({SetContiguousGrouping(spec->grouping, planned.grouping),
                  SetEnum(spec->nan_policy, 0, 2, "nan_policy", planned.nan_policy)});
  if (!status.ok()) return status;
  return kernels::PlanTop(*description, std::move(planned));
}

absl::StatusOr<kernels::PairedPlan> PlanOf(const gridfold_columns* columns,
                                           const gridfold_paired_spec* spec) {
  if (absl::Status status = RequireArgument(columns, "columns"); !status.ok()) return status;
  const absl::StatusOr<kernels::ArrayDescription> x = DescriptionOf(columns->x, "columns.x");
  if (!x.ok()) return x.status();
  if (absl::Status status = RequireArgument(spec, "spec"); !status.ok()) return status;
  const auto check = [&](const gridfold_array* array, uint64_t count, const char* name) {
    if (array == nullptr) return absl::OkStatus();
    return CheckColumn(*x, count, array, name);
  };
  const uint64_t observation_count = x->is_matrix ? x->rows : x->element_count;
  kernels::PairedSpec planned{.has_y = columns->y != nullptr,
                              .has_weights = columns->weights != nullptr,
                              .delta_degrees_of_freedom = spec->delta_degrees_of_freedom};
  if (planned.has_y && x->is_matrix) {
    return InvalidField("columns.x.dimension_count", "must be 1 where there is y");
  }
  absl::Status status =
      FirstError({check(columns->y, observation_count, "columns.y"),
                  check(columns->weights, observation_count, "columns.weights"),
                  SetPairedStatistics(*spec, planned.statistics),
                  SetEnum(spec->weight_kind, 0, 2, "weight_kind", planned.weight_kind),
                  SetPolicies(spec->nan_policy, spec->overflow_policy, planned.nan_policy,
                              planned.overflow_policy)});
  if (!status.ok()) return status;
  return kernels::PlanPaired(*x, std::move(planned));
}

absl::StatusOr<kernels::HistogramPlan> PlanOf(const gridfold_samples* samples,
                                              const gridfold_histogram_spec* spec,
                                              bool return_states) {
  if (absl::Status status = RequireArgument(samples, "samples"); !status.ok()) return status;
  absl::StatusOr<kernels::ArrayDescription> x = DescriptionOf(samples->x, "samples.x");
  if (!x.ok()) return x.status();
  if (absl::Status status = RequireArgument(spec, "spec"); !status.ok()) return status;
  kernels::HistogramSpec planned;
  absl::Status status = FirstError(
      {SetCompanions(*x, *samples, planned), SetBins(spec->bins, spec->bins_count, planned.bins),
       SetEnum(spec->out_of_range_policy, 0, 2, "out_of_range_policy", planned.out_of_range_policy),
       SetValues(spec->quantiles, spec->quantile_count, "quantiles", planned.quantiles)});
  if (!status.ok()) return status;
  planned.channel_count = spec->channel_count == 0 ? 1 : spec->channel_count;
  if (planned.channel_count > GRIDFOLD_CHANNELS_MAX) {
    return kernels::AboveLimit("channel_count",
                               absl::StrCat("more than ", GRIDFOLD_CHANNELS_MAX, " channels"));
  }
  planned.sparse = spec->sparse != 0;
  planned.return_states = return_states;
  return kernels::PlanHistogram(*x, std::move(planned), GRIDFOLD_BINS_MAX);
}

absl::StatusOr<kernels::KeyedReductionPlan> PlanOf(const KeyedArrays& arrays,
                                                   const gridfold_keyed_spec* spec,
                                                   const KeyedQuantiles& quantiles) {
  const auto keys = DescriptionOf(arrays.keys.front().array, arrays.keys.front().name);
  if (!keys.ok()) return keys.status();
  const auto values = CompanionOf(*keys, arrays.values.array, arrays.values.name);
  if (!values.ok()) return values.status();
  std::vector<kernels::ElementType> further_types;
  for (const NamedArray& further : std::span(arrays.keys).subspan(1)) {
    const auto description = CompanionOf(*keys, further.array, further.name);
    if (!description.ok()) return description.status();
    further_types.push_back(description->element_type);
  }
  if (absl::Status status = RequireArgument(spec, "spec"); !status.ok()) return status;
  kernels::KeyedReductionSpec planned;
  absl::Status status = FirstError(
      {SetReduction(spec->reduction, values->element_count, planned.reduction),
       SetKeyGroups(*spec, std::move(further_types), planned.groups),
       SetValues(quantiles.quantiles, quantiles.count, "quantiles", planned.quantiles),
       SetEnum(quantiles.method, GRIDFOLD_QUANTILE_LINEAR, 6, "method", planned.quantile_method)});
  if (!status.ok()) return status;
  absl::StatusOr<kernels::KeyedReductionPlan> plan =
      kernels::OutlineKeyedReduction(*keys, *values, std::move(planned), GRIDFOLD_BINS_MAX);
  if (plan.ok()) status = CompletePlan({}, *plan);
  if (!status.ok()) return status;
  return plan;
}

gridfold_bins ToC(const kernels::PlannedBins& bins, const std::vector<double>& edges) {
  gridfold_bins of_c{.kind = GRIDFOLD_EVEN_BINS,
                     .has_bounds = bins.kind != kernels::BinKind::kInteger,
                     .bin_count = bins.bin_count,
                     .lower_bound = edges.empty() ? 0 : edges.front(),
                     .upper_bound = edges.empty() ? 0 : edges.back(),
                     .edges = edges.data(),
                     .edge_count = edges.size(),
                     .first_value = bins.first_value,
                     .first_unsigned_value = bins.first_unsigned_value};
  switch (bins.kind) {
    case kernels::BinKind::kEven: break;
    case kernels::BinKind::kTable: of_c.kind = GRIDFOLD_EDGE_BINS; break;
    case kernels::BinKind::kInteger: of_c.kind = GRIDFOLD_INTEGER_BINS; break;
  }
  return of_c;
}

gridfold_column ToC(const kernels::StatisticColumn& column) {
  return {.statistic = ToC(column.statistic),
          .kind = static_cast<gridfold_value_kind>(column.kind),
          .values = column.slots.data(),
          .value_count = column.slots.size()};
}

gridfold_column ToC(const std::vector<uint64_t>& quantile_slots, kernels::ValueKind kind) {
  return {.statistic = 0,
          .kind = static_cast<gridfold_value_kind>(kind),
          .values = quantile_slots.data(),
          .value_count = quantile_slots.size()};
}

}  // namespace gridfold::core
