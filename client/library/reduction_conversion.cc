#include "client/library/reduction_conversion.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {

static_assert(static_cast<int>(EmptyGroupPolicy::kValue) == v1::EMPTY_GROUP_POLICY_VALUE);

namespace {

// Elements of a floating-point type, each exact as a double.
template <typename T>
std::vector<double> Widened(const std::string& data) {
  std::vector<double> values(data.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, data.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      values[i] = element;
    } else {
      values[i] = ToFloat(element);
    }
  }
  return values;
}

absl::StatusOr<StatisticValues> ToValues(const v1::InlineArray& typed) {
  const v1::ElementType type = typed.element_type();
  if (type == v1::ELEMENT_TYPE_FLOAT16) return Widened<Float16>(typed.data());
  if (type == v1::ELEMENT_TYPE_BFLOAT16) return Widened<Bfloat16>(typed.data());
  if (type == v1::ELEMENT_TYPE_FLOAT32) return Widened<float>(typed.data());
  return absl::InternalError(
      absl::StrCat("the server's answer holds a statistic of element type ", type));
}

}  // namespace

absl::StatusOr<StatisticValues> ToValues(const v1::ValueList& list) {
  switch (list.kind_case()) {
    case v1::ValueList::kInt64Values: return ToVector<int64_t>(list.int64_values().values());
    case v1::ValueList::kUint64Values: return ToVector<uint64_t>(list.uint64_values().values());
    case v1::ValueList::kDoubleValues: return ToVector<double>(list.double_values().values());
    case v1::ValueList::kBoolValues: return ToVector<bool>(list.bool_values().values());
    case v1::ValueList::kTypedValues: return ToValues(list.typed_values());
    case v1::ValueList::KIND_NOT_SET: break;
  }
  return absl::InternalError("the server's answer holds a statistic without values");
}

namespace {

v1::Scalar ToScalar(const Scalar& scalar) {
  v1::Scalar proto;
  if (const auto* const x = std::get_if<int64_t>(&scalar)) proto.set_int64_value(*x);
  if (const auto* const x = std::get_if<uint64_t>(&scalar)) proto.set_uint64_value(*x);
  if (const auto* const x = std::get_if<double>(&scalar)) proto.set_double_value(*x);
  if (const auto* const x = std::get_if<bool>(&scalar)) proto.set_bool_value(*x);
  return proto;
}

void SetDegreesOfFreedom(double ddof, v1::ReduceArrayRequest& request) {
  if (HasWholeDegreesOfFreedom(ddof)) {
    request.set_delta_degrees_of_freedom(static_cast<uint32_t>(ddof));
  } else {
    request.set_fractional_degrees_of_freedom(ddof);
  }
}

void SetEmptyGroup(const EmptyGroup& rule, v1::ReduceArrayRequest& request) {
  if (rule.policy == EmptyGroupPolicy::kError) return;
  request.mutable_empty_group()->set_policy(static_cast<v1::EmptyGroupPolicy>(rule.policy));
  if (rule.policy == EmptyGroupPolicy::kValue) {
    *request.mutable_empty_group()->mutable_value() = ToScalar(rule.value);
  }
}

// The bits of a validity bitmap, one for each group.
absl::StatusOr<std::vector<bool>> ToHasValue(const std::string& validity, uint64_t group_count) {
  std::vector<bool> has_value;
  if (validity.empty()) return has_value;
  if (validity.size() != (group_count + 7) / 8) {
    return absl::InternalError(absl::StrCat("the server's answer says of ", validity.size(),
                                            " bytes of groups which have values, for ", group_count,
                                            " groups"));
  }
  has_value.resize(group_count);
  for (uint64_t i = 0; i < group_count; ++i) has_value[i] = (validity[i / 8] >> i % 8 & 1) != 0;
  return has_value;
}

size_t Size(const StatisticValues& values) {
  return std::visit([](const auto& list) { return list.size(); }, values);
}

}  // namespace

bool HasWholeDegreesOfFreedom(double ddof) {
  return ddof >= 0 && ddof <= std::numeric_limits<uint32_t>::max() && ddof == std::floor(ddof);
}

bool NeedsWholeArray(const ReductionOptions& options) {
  return options.where || options.initial ||
         options.empty_group.policy != EmptyGroupPolicy::kError ||
         !HasWholeDegreesOfFreedom(options.delta_degrees_of_freedom);
}

absl::StatusOr<StatisticValues> ToValues(const v1::ValueList& list, uint64_t count) {
  absl::StatusOr<StatisticValues> values = ToValues(list);
  if (!values.ok() || Size(*values) == count) return values;
  return absl::InternalError(
      absl::StrCat("the server's answer holds ", Size(*values), " values for ", count, " groups"));
}

v1::ReduceArrayRequest ToProto(const ReductionOptions& options) {
  v1::ReduceArrayRequest request;
  for (Statistic statistic : options.statistics) {
    request.add_statistics(static_cast<v1::Statistic>(statistic));
  }
  *request.mutable_grouping() = ToProto(options.grouping);
  request.set_nan_policy(static_cast<v1::NanPolicy>(options.nan_policy));
  request.set_overflow_policy(static_cast<v1::OverflowPolicy>(options.overflow_policy));
  SetDegreesOfFreedom(options.delta_degrees_of_freedom, request);
  SetEmptyGroup(options.empty_group, request);
  if (options.initial) *request.mutable_initial() = ToScalar(*options.initial);
  request.set_return_accumulator(options.return_accumulator);
  request.set_first_index(options.first_index);
  request.set_keep_dimensions(options.keep_dimensions);
  SetOutputType(options.output_type, request);
  SetStrategy(options.strategy, request);
  return request;
}

WireMessage ToWire(const ArrayInput& array, const ReductionOptions& options) {
  WireMessage message;
  message.AppendArray(v1::ReduceArrayRequest::kArrayFieldNumber, array);
  if (options.where) {
    message.AppendArray(v1::ReduceArrayRequest::kWhereFieldNumber, *options.where);
  }
  message.AppendFields(ToProto(options));
  return message;
}

absl::StatusOr<std::vector<ReductionResult::Entry>> ToEntries(
    const google::protobuf::RepeatedPtrField<v1::StatisticValues>& results, uint64_t group_count,
    bool is_part) {
  std::vector<ReductionResult::Entry> entries;
  for (const v1::StatisticValues& entry : results) {
    if (!entry.has_values() && is_part) continue;
    absl::StatusOr<StatisticValues> values = ToValues(entry.values(), group_count);
    if (!values.ok()) return values.status();
    absl::StatusOr<std::vector<bool>> has_value = ToHasValue(entry.validity(), group_count);
    if (!has_value.ok()) return has_value.status();
    entries.push_back(
        {static_cast<Statistic>(entry.statistic()), *std::move(values), *std::move(has_value)});
    if (!entry.values().has_typed_values()) continue;
    const v1::InlineArray& typed = entry.values().typed_values();
    entries.back().output_type = static_cast<ElementType>(typed.element_type());
    entries.back().data = typed.data();
  }
  return entries;
}

absl::StatusOr<ReductionResult> FromProto(const v1::ReduceArrayResponse& response) {
  ReductionResult result;
  result.group_count = response.group_count();
  result.result_shape = ToVector<uint64_t>(response.result_shape());
  result.execution = FromProto(response.execution());
  result.accumulator = response.accumulator();
  // A part's answer leaves out what has no value; it comes with an accumulator.
  absl::StatusOr<std::vector<ReductionResult::Entry>> entries =
      ToEntries(response.results(), result.group_count, /*is_part=*/!result.accumulator.empty());
  if (!entries.ok()) return entries.status();
  result.entries = *std::move(entries);
  return result;
}

OperationCall<v1::ReduceArrayResponse, ReductionResult> CallOf(const ArrayInput& array,
                                                               const ReductionOptions& options) {
  return {"/gridfold.v1.ComputeService/ReduceArray", ToWire(array, options),
          [](v1::ReduceArrayResponse& response) { return FromProto(response); }};
}

}  // namespace gridfold::client
