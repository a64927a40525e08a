#include "client/library/order_conversion.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/library/reduction_conversion.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

v1::ComputeQuantilesRequest MakeQuantilesRequest(const QuantileOptions& options) {
  v1::ComputeQuantilesRequest request;
  request.mutable_quantiles()->Add(options.quantiles.begin(), options.quantiles.end());
  request.mutable_ranks()->Add(options.ranks.begin(), options.ranks.end());
  request.set_method(static_cast<v1::QuantileMethod>(options.method));
  *request.mutable_grouping() = ToProto(options.grouping);
  request.set_nan_policy(static_cast<v1::NanPolicy>(options.nan_policy));
  request.set_keep_dimensions(options.keep_dimensions);
  return request;
}

v1::SelectTopRequest MakeTopRequest(const TopOptions& options) {
  v1::SelectTopRequest request;
  request.set_count(options.count);
  request.set_smallest(options.smallest);
  *request.mutable_grouping() = ToProto(options.grouping);
  request.set_nan_policy(static_cast<v1::NanPolicy>(options.nan_policy));
  return request;
}

absl::Status WrongCount(uint64_t got, uint64_t expected) {
  return absl::InternalError(
      absl::StrCat("the server's answer holds ", got, " values in place of ", expected));
}

template <typename Lists>
absl::StatusOr<std::vector<StatisticValues>> ToEntries(const Lists& lists, size_t entry_count,
                                                       uint64_t group_count) {
  if (static_cast<size_t>(lists.size()) != entry_count) {
    return WrongCount(static_cast<uint64_t>(lists.size()), entry_count);
  }
  std::vector<StatisticValues> entries;
  for (const v1::ValueList& list : lists) {
    absl::StatusOr<StatisticValues> values = ToValues(list, group_count);
    if (!values.ok()) return values.status();
    entries.push_back(*std::move(values));
  }
  return entries;
}

}  // namespace

WireMessage ToWire(const ArrayInput& array, const QuantileOptions& options) {
  WireMessage message;
  message.AppendArray(v1::ComputeQuantilesRequest::kArrayFieldNumber, array);
  if (options.weights) {
    message.AppendArray(v1::ComputeQuantilesRequest::kWeightsFieldNumber, *options.weights);
  }
  message.AppendFields(MakeQuantilesRequest(options));
  return message;
}

WireMessage ToWire(const ArrayInput& array, const TopOptions& options) {
  WireMessage message;
  message.AppendArray(v1::SelectTopRequest::kArrayFieldNumber, array);
  message.AppendFields(MakeTopRequest(options));
  return message;
}

absl::StatusOr<QuantileResult> FromProto(const v1::ComputeQuantilesResponse& response,
                                         const QuantileOptions& options) {
  QuantileResult result;
  result.group_count = response.group_count();
  result.result_shape = ToVector<uint64_t>(response.result_shape());
  result.execution = FromProto(response.execution());
  auto quantiles =
      ToEntries(response.quantile_values(), options.quantiles.size(), result.group_count);
  if (!quantiles.ok()) return quantiles.status();
  auto ranks = ToEntries(response.rank_values(), options.ranks.size(), result.group_count);
  if (!ranks.ok()) return ranks.status();
  result.quantile_values = *std::move(quantiles);
  result.rank_values = *std::move(ranks);
  return result;
}

absl::StatusOr<TopResult> FromProto(const v1::SelectTopResponse& response,
                                    const TopOptions& options) {
  TopResult result;
  result.group_count = response.group_count();
  result.result_shape = ToVector<uint64_t>(response.result_shape());
  result.execution = FromProto(response.execution());
  result.indices = ToVector<uint64_t>(response.indices());
  if (result.indices.size() / options.count != result.group_count ||
      result.indices.size() % options.count != 0) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", result.indices.size(),
                                            " elements of ", result.group_count, " groups"));
  }
  absl::StatusOr<StatisticValues> values = ToValues(response.values(), result.indices.size());
  if (!values.ok()) return values.status();
  result.values = *std::move(values);
  return result;
}

absl::Status Check(const TopOptions& options) {
  return options.count > 0 ? absl::OkStatus()
                           : absl::InvalidArgumentError("count: at least one is needed");
}

OperationCall<v1::ComputeQuantilesResponse, QuantileResult> CallOf(const ArrayInput& array,
                                                                   const QuantileOptions& options) {
  return {
      "/gridfold.v1.ComputeService/ComputeQuantiles", ToWire(array, options),
      [options](v1::ComputeQuantilesResponse& response) { return FromProto(response, options); }};
}

OperationCall<v1::SelectTopResponse, TopResult> CallOf(const ArrayInput& array,
                                                       const TopOptions& options) {
  return {"/gridfold.v1.ComputeService/SelectTop", ToWire(array, options),
          [options](v1::SelectTopResponse& response) { return FromProto(response, options); }};
}

}  // namespace gridfold::client
