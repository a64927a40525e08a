#include "server/wire/answer_conversion.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "google/protobuf/repeated_field.h"
#include "kernels/contract/output_type.h"
#include "server/wire/packed_counts.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

namespace {

using kernels::Statistic;

template <class T, class Field>
void Append(const std::vector<T>& values, Field& field) {
  field.Add(values.begin(), values.end());
}

template <class Field>
void AppendSlots(std::span<const uint64_t> slots, auto from_bits, Field& field) {
  field.Reserve(static_cast<int>(slots.size()));
  for (const uint64_t slot : slots) field.AddAlreadyReserved(from_bits(slot));
}

// Of elements that are truth values, what is one of them or their bits.
bool IsTruth(Statistic statistic) {
  return statistic == Statistic::kMin || statistic == Statistic::kMax ||
         statistic == Statistic::kBitwiseAnd || statistic == Statistic::kBitwiseOr ||
         statistic == Statistic::kBitwiseXor;
}

void FillValues(kernels::ValueKind kind, std::span<const uint64_t> slots, v1::ValueList& values) {
  switch (kind) {
    case kernels::ValueKind::kInt64:
      AppendSlots(
          slots, [](uint64_t slot) { return static_cast<int64_t>(slot); },
          *values.mutable_int64_values()->mutable_values());
      return;
    case kernels::ValueKind::kUint64:
      AppendSlots(
          slots, [](uint64_t slot) { return slot; },
          *values.mutable_uint64_values()->mutable_values());
      return;
    case kernels::ValueKind::kDouble:
      AppendSlots(
          slots, [](uint64_t slot) { return std::bit_cast<double>(slot); },
          *values.mutable_double_values()->mutable_values());
      return;
    case kernels::ValueKind::kBool:
      AppendSlots(
          slots, [](uint64_t slot) { return slot != 0; },
          *values.mutable_bool_values()->mutable_values());
      return;
  }
}

// The values of a statistic, of which floating-point ones are in the output type.
void FillStatistic(const kernels::StatisticColumn& column, kernels::ElementType output_type,
                   bool is_bool, v1::ValueList& values) {
  if (column.kind == kernels::ValueKind::kDouble && output_type != kernels::ElementType::kFloat64) {
    v1::InlineArray& typed = *values.mutable_typed_values();
    typed.set_element_type(ToWire(output_type));
    typed.set_data(kernels::RoundSlots(column.slots, output_type));
    return;
  }
  FillValues(is_bool && IsTruth(column.statistic) ? kernels::ValueKind::kBool : column.kind,
             column.slots, values);
}

// A column without a slot for each group has no values.
void AddColumns(const std::vector<kernels::StatisticColumn>& columns, uint64_t group_count,
                kernels::ElementType output_type, bool is_bool,
                google::protobuf::RepeatedPtrField<v1::StatisticValues>& results) {
  for (const kernels::StatisticColumn& column : columns) {
    v1::StatisticValues& values = *results.Add();
    values.set_statistic(ToWire(column.statistic));
    if (column.slots.size() == group_count) {
      FillStatistic(column, output_type, is_bool, *values.mutable_values());
    }
  }
}

void AddBins(const std::vector<kernels::PlannedBins>& bins, bool is_compact,
             google::protobuf::RepeatedPtrField<v1::ResolvedBins>& resolved) {
  for (const kernels::PlannedBins& planned : bins) {
    v1::ResolvedBins& added = *resolved.Add();
    added.set_bin_count(planned.bin_count);
    if (is_compact && planned.kind == kernels::BinKind::kEven) {
      added.mutable_even_edges()->set_lower_bound(planned.lower_bound);
      added.mutable_even_edges()->set_upper_bound(planned.upper_bound);
    } else {
      Append(kernels::EdgesOf(planned), *added.mutable_edges());
    }
  }
}

v1::HistogramDescription Describe(const kernels::HistogramPlan& plan) {
  v1::HistogramDescription description;
  description.set_two_dimensional(plan.two_dimensional);
  description.set_weighted(plan.weight_type.has_value());
  description.set_format(FormatToWire(plan.sparse));
  Append(plan.quantiles, *description.mutable_quantiles());
  const bool some_are_unsigned =
      std::any_of(plan.bins.begin(), plan.bins.end(),
                  [](const kernels::PlannedBins& bins) { return bins.first_unsigned_value != 0; });
  for (const kernels::PlannedBins& bins : plan.bins) {
    description.add_first_values(bins.first_value);
    if (some_are_unsigned) description.add_first_unsigned_values(bins.first_unsigned_value);
  }
  return description;
}

}  // namespace

void FillResponse(const kernels::ReductionPlan& plan, const kernels::ReductionResult& result,
                  v1::ReduceArrayResponse& response, bool is_bool) {
  response.set_group_count(plan.grouping.group_count);
  AddColumns(result.columns, plan.grouping.group_count, plan.output_type, is_bool,
             *response.mutable_results());
}

void FillResponse(const kernels::KeyedReductionPlan& plan, const kernels::KeyedAnswer& answer,
                  v1::ReduceByKeyResponse& response) {
  const uint64_t group_count = answer.counts.size();
  response.set_group_count(group_count);
  AddColumns(answer.columns, group_count, plan.reduction.output_type, /*is_bool=*/false,
             *response.mutable_results());
  Append(answer.counts, *response.mutable_counts());
  for (size_t t = 0; t < answer.quantiles.size(); ++t) {
    FillValues(kernels::KindOfTarget(plan.quantiles, t), answer.quantiles[t],
               *response.add_quantile_values());
  }
  if (plan.has_bins()) return;
  const kernels::ValueKind kind = kernels::IsUnsigned(plan.keys.element_type)
                                      ? kernels::ValueKind::kUint64
                                      : kernels::ValueKind::kInt64;
  FillValues(kind, answer.keys, *response.mutable_keys());
}

void FillOutcomes(const kernels::KeyedReductionResult& result, v1::ReduceByKeyResponse& response) {
  response.set_underflow_count(result.underflow_count);
  response.set_overflow_count(result.overflow_count);
  response.set_nan_count(result.nan_count);
  AddBins(result.bins, false, *response.mutable_bins());
}

void FillResponse(const kernels::HistogramResult& result, bool is_compact,
                  v1::ComputeHistogramResponse& response) {
  for (const kernels::HistogramCounts& channel : result.channels) {
    v1::HistogramCounts& counts = *response.add_channels();
    if (is_compact) {
      PackCounts(channel.counts, counts);
    } else {
      Append(channel.counts, *counts.mutable_counts());
    }
    Append(channel.weight_sums, *counts.mutable_weight_sums());
    Append(channel.bin_indices, *counts.mutable_bin_indices());
    counts.set_underflow_count(channel.underflow_count);
    counts.set_overflow_count(channel.overflow_count);
    counts.set_nan_count(channel.nan_count);
    Append(channel.quantile_values, *counts.mutable_quantile_values());
  }
  AddBins(result.bins, is_compact, *response.mutable_bins());
}

void FillResponse(const kernels::QuantilePlan& plan, const kernels::QuantileResult& result,
                  v1::ComputeQuantilesResponse& response) {
  const uint64_t group_count = plan.grouping.group_count;
  response.set_group_count(group_count);
  for (size_t t = 0; t < plan.targets.size(); ++t) {
    v1::ValueList& values =
        plan.targets[t].is_rank ? *response.add_rank_values() : *response.add_quantile_values();
    FillValues(kernels::KindOfTarget(plan, t),
               std::span(result.slots).subspan(t * group_count, group_count), values);
  }
}

void FillResponse(const kernels::TopPlan& plan, const kernels::TopResult& result,
                  v1::SelectTopResponse& response) {
  response.set_group_count(plan.grouping.group_count);
  FillValues(result.kind, result.slots, *response.mutable_values());
  Append(result.indices, *response.mutable_indices());
}

void FillResponse(const kernels::PairedPlan& plan, const kernels::PairedResult& result,
                  v1::RelateArraysResponse& response) {
  response.set_column_count(plan.column_count);
  response.set_observation_count(result.observation_count);
  for (const kernels::PairedColumn& column : result.columns) {
    v1::PairedStatisticValues& values = *response.add_results();
    values.set_statistic(ToWire(column.statistic));
    FillValues(column.kind, column.slots, *values.mutable_values());
  }
}

void FillResponse(const kernels::MergePlan& plan, kernels::MergedAnswer merged,
                  v1::MergeAccumulatorsResponse& response) {
  if (auto* const reduction = std::get_if<kernels::ReductionMerge>(&merged)) {
    const auto& operation = std::get<kernels::ReductionPlan>(plan.operation);
    FillResponse(operation, reduction->result, *response.mutable_reduction());
    response.mutable_reduction()->set_accumulator(std::move(reduction->accumulator));
    response.set_element_type(ToWire(operation.array.element_type));
    response.set_element_count(reduction->element_count);
    return;
  }
  if (auto* const keyed = std::get_if<kernels::KeyedMerge>(&merged)) {
    const auto& operation = std::get<kernels::KeyedMergePlan>(plan.operation).keyed;
    FillResponse(operation, keyed->answer, *response.mutable_keyed_reduction());
    response.mutable_keyed_reduction()->set_accumulator(std::move(keyed->accumulator));
    response.set_element_type(ToWire(operation.reduction.array.element_type));
    response.set_element_count(keyed->element_count);
    return;
  }
  auto& histogram = std::get<kernels::HistogramMerge>(merged);
  const auto& operation = std::get<kernels::HistogramPlan>(plan.operation);
  FillResponse(histogram.result, /*is_compact=*/false, *response.mutable_histogram());
  response.mutable_histogram()->set_accumulator(std::move(histogram.accumulator));
  response.set_element_type(ToWire(operation.array.element_type));
  response.set_element_count(operation.array.element_count);
  *response.mutable_histogram_description() = Describe(operation);
}

}  // namespace gridfold::server
