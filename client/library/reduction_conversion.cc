#include "client/library/reduction_conversion.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {

absl::StatusOr<StatisticValues> ToValues(const v1::ValueList& list) {
  switch (list.kind_case()) {
    case v1::ValueList::kInt64Values: return ToVector<int64_t>(list.int64_values().values());
    case v1::ValueList::kUint64Values: return ToVector<uint64_t>(list.uint64_values().values());
    case v1::ValueList::kDoubleValues: return ToVector<double>(list.double_values().values());
    case v1::ValueList::kBoolValues: return ToVector<bool>(list.bool_values().values());
    case v1::ValueList::KIND_NOT_SET: break;
  }
  return absl::InternalError("the server's answer holds a statistic without values");
}

namespace {

size_t Size(const StatisticValues& values) {
  return std::visit([](const auto& list) { return list.size(); }, values);
}

}  // namespace

v1::ReduceArrayRequest ToProto(const ReductionOptions& options) {
  v1::ReduceArrayRequest request;
  for (Statistic statistic : options.statistics) {
    request.add_statistics(static_cast<v1::Statistic>(statistic));
  }
  *request.mutable_grouping() = ToProto(options.grouping);
  request.set_nan_policy(static_cast<v1::NanPolicy>(options.nan_policy));
  request.set_overflow_policy(static_cast<v1::OverflowPolicy>(options.overflow_policy));
  request.set_delta_degrees_of_freedom(options.delta_degrees_of_freedom);
  request.set_return_accumulator(options.return_accumulator);
  request.set_first_index(options.first_index);
  request.set_keep_dimensions(options.keep_dimensions);
  return request;
}

WireMessage ToWire(const ArrayInput& array, const ReductionOptions& options) {
  WireMessage message;
  message.AppendArray(v1::ReduceArrayRequest::kArrayFieldNumber, array);
  message.AppendFields(ToProto(options));
  return message;
}

absl::StatusOr<std::vector<ReductionResult::Entry>> ToEntries(
    const google::protobuf::RepeatedPtrField<v1::StatisticValues>& results, uint64_t group_count,
    bool is_part) {
  std::vector<ReductionResult::Entry> entries;
  for (const v1::StatisticValues& entry : results) {
    if (!entry.has_values() && is_part) continue;
    absl::StatusOr<StatisticValues> values = ToValues(entry.values());
    if (!values.ok()) return values.status();
    if (Size(*values) != group_count) {
      return absl::InternalError(absl::StrCat("the server's answer holds ", Size(*values),
                                              " values for ", group_count, " groups"));
    }
    entries.push_back({static_cast<Statistic>(entry.statistic()), *std::move(values)});
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

}  // namespace gridfold::client
