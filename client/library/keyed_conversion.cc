#include "client/library/keyed_conversion.h"

#include <utility>
#include <variant>

#include "client/library/histogram_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

v1::ReduceByKeyRequest ToProto(const KeyedReductionOptions& options) {
  v1::ReduceByKeyRequest request;
  for (Statistic statistic : options.statistics) {
    request.add_statistics(static_cast<v1::Statistic>(statistic));
  }
  if (const auto* const found = std::get_if<FoundKeys>(&options.groups)) {
    request.mutable_found()->set_key_count_max(found->key_count_max);
  } else if (const auto* const range = std::get_if<KeyRange>(&options.groups)) {
    request.mutable_range()->set_first_key(range->first_key);
    request.mutable_range()->set_key_count(range->key_count);
    request.mutable_range()->set_first_unsigned_key(range->first_unsigned_key);
  }
  request.set_nan_policy(static_cast<v1::NanPolicy>(options.nan_policy));
  request.set_overflow_policy(static_cast<v1::OverflowPolicy>(options.overflow_policy));
  request.set_delta_degrees_of_freedom(options.delta_degrees_of_freedom);
  request.set_return_accumulator(options.return_accumulator);
  request.set_first_index(options.first_index);
  SetOutputType(options.output_type, request);
  request.mutable_quantiles()->Add(options.quantiles.begin(), options.quantiles.end());
  if (!options.quantiles.empty()) {
    request.set_quantile_method(static_cast<v1::QuantileMethod>(options.quantile_method));
  }
  return request;
}

// All but the coordinates.
v1::KeyBins ToProto(const KeyBins& bins) {
  v1::KeyBins fields;
  for (const BinSpecification& layout : bins.bins) *fields.add_bins() = ToProto(layout);
  fields.set_out_of_range_policy(static_cast<v1::OutOfRangePolicy>(bins.out_of_range_policy));
  return fields;
}

WireMessage ToWire(const KeyBins& bins) {
  WireMessage message;
  if (bins.y_keys) message.AppendArray(v1::KeyBins::kYKeysFieldNumber, *bins.y_keys);
  for (const ArrayInput& keys : bins.further_keys) {
    message.AppendArray(v1::KeyBins::kFurtherKeysFieldNumber, keys);
  }
  message.AppendFields(ToProto(bins));
  return message;
}

}  // namespace

WireMessage ToWire(const ArrayInput& keys, const ArrayInput& values,
                   const KeyedReductionOptions& options) {
  WireMessage message;
  message.AppendArray(v1::ReduceByKeyRequest::kKeysFieldNumber, keys);
  message.AppendArray(v1::ReduceByKeyRequest::kValuesFieldNumber, values);
  if (const auto* const bins = std::get_if<KeyBins>(&options.groups)) {
    message.AppendMessage(v1::ReduceByKeyRequest::kBinsFieldNumber, ToWire(*bins));
  }
  message.AppendFields(ToProto(options));
  return message;
}

v1::ReduceByKeyRequest ToStreamedProto(ElementType key_type, ElementType value_type,
                                       const KeyedReductionOptions& options) {
  v1::ReduceByKeyRequest request = ToProto(options);
  *request.mutable_keys() = ToProto(StreamedArray{key_type});
  *request.mutable_values() = ToProto(StreamedArray{value_type});
  if (const auto* const bins = std::get_if<KeyBins>(&options.groups)) {
    *request.mutable_bins() = ToProto(*bins);
    if (bins->y_keys) *request.mutable_bins()->mutable_y_keys() = ToProto(StreamedArray{key_type});
    for (size_t i = 0; i < bins->further_keys.size(); ++i) {
      *request.mutable_bins()->add_further_keys() = ToProto(StreamedArray{key_type});
    }
  }
  return request;
}

absl::StatusOr<KeyedReductionResult> FromProto(const v1::ReduceByKeyResponse& response) {
  KeyedReductionResult result;
  result.group_count = response.group_count();
  result.counts = ToVector<uint64_t>(response.counts());
  result.underflow_count = response.underflow_count();
  result.overflow_count = response.overflow_count();
  result.nan_count = response.nan_count();
  result.execution = FromProto(response.execution());
  result.accumulator = response.accumulator();
  for (const v1::ResolvedBins& bins : response.bins()) {
    result.bins.push_back({bins.bin_count(), ToVector<double>(bins.edges())});
  }
  uint64_t key_count = result.group_count;
  if (response.has_keys()) {
    absl::StatusOr<StatisticValues> keys = ToValues(response.keys());
    if (!keys.ok()) return keys.status();
    result.keys = *std::move(keys);
    key_count = std::visit([](const auto& list) { return list.size(); }, result.keys);
  }
  if (result.counts.size() != result.group_count || key_count != result.group_count) {
    return absl::InternalError("the server's answer holds keys and counts that do not match");
  }
  absl::StatusOr<std::vector<ReductionResult::Entry>> entries =
      ToEntries(response.results(), result.group_count, /*is_part=*/!result.accumulator.empty());
  if (!entries.ok()) return entries.status();
  result.entries = *std::move(entries);
  for (const v1::ValueList& list : response.quantile_values()) {
    absl::StatusOr<StatisticValues> values = ToValues(list, result.group_count);
    if (!values.ok()) return values.status();
    result.quantile_values.push_back(*std::move(values));
  }
  return result;
}

OperationCall<v1::ReduceByKeyResponse, KeyedReductionResult> CallOf(
    const ArrayInput& keys, const ArrayInput& values, const KeyedReductionOptions& options) {
  return {"/gridfold.v1.ComputeService/ReduceByKey", ToWire(keys, values, options),
          [](v1::ReduceByKeyResponse& response) { return FromProto(response); }};
}

}  // namespace gridfold::client
