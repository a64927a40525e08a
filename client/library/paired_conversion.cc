#include "client/library/paired_conversion.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/library/reduction_conversion.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

v1::RelateArraysRequest MakeRelateRequest(const RelateOptions& options) {
  v1::RelateArraysRequest request;
  for (const PairedStatistic statistic : options.statistics) {
    request.add_statistics(static_cast<v1::PairedStatistic>(statistic));
  }
  request.set_delta_degrees_of_freedom(options.delta_degrees_of_freedom);
  request.set_weight_kind(static_cast<v1::WeightKind>(options.weight_kind));
  request.set_nan_policy(static_cast<v1::NanPolicy>(options.nan_policy));
  request.set_overflow_policy(static_cast<v1::OverflowPolicy>(options.overflow_policy));
  return request;
}

uint64_t ValueCount(PairedStatistic statistic, bool has_y, uint64_t column_count) {
  const bool is_of_two = statistic <= PairedStatistic::kCorrelation;
  if (!is_of_two) return column_count;
  return has_y ? 1 : column_count * column_count;
}

}  // namespace

WireMessage ToWire(const ArrayInput& x, const RelateOptions& options) {
  WireMessage message;
  message.AppendArray(v1::RelateArraysRequest::kXFieldNumber, x);
  if (options.y) message.AppendArray(v1::RelateArraysRequest::kYFieldNumber, *options.y);
  if (options.weights) {
    message.AppendArray(v1::RelateArraysRequest::kWeightsFieldNumber, *options.weights);
  }
  message.AppendFields(MakeRelateRequest(options));
  return message;
}

absl::StatusOr<RelateResult> FromProto(const v1::RelateArraysResponse& response,
                                       const RelateOptions& options) {
  RelateResult result;
  result.column_count = response.column_count();
  result.observation_count = response.observation_count();
  result.execution = FromProto(response.execution());
  for (const v1::PairedStatisticValues& entry : response.results()) {
    const auto statistic = static_cast<PairedStatistic>(entry.statistic());
    absl::StatusOr<StatisticValues> values =
        ToValues(entry.values(), ValueCount(statistic, options.y.has_value(), result.column_count));
    if (!values.ok()) return values.status();
    result.entries.push_back({statistic, *std::move(values)});
  }
  if (result.entries.size() != options.statistics.size()) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", result.entries.size(),
                                            " statistics in place of ", options.statistics.size()));
  }
  return result;
}

OperationCall<v1::RelateArraysResponse, RelateResult> CallOf(const ArrayInput& x,
                                                             const RelateOptions& options) {
  return {"/gridfold.v1.ComputeService/RelateArrays", ToWire(x, options),
          [options](v1::RelateArraysResponse& response) { return FromProto(response, options); }};
}

}  // namespace gridfold::client
