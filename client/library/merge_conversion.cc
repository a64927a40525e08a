#include "client/library/merge_conversion.h"

#include <utility>

#include "client/library/histogram_conversion.h"
#include "client/library/keyed_conversion.h"
#include "client/library/reduction_conversion.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

// The layout of channel or axis `i`.
BinSpecification ToSpecification(const v1::ResolvedBins& bins,
                                 const v1::HistogramDescription& description, int i) {
  if (!bins.edges().empty()) return EdgeBins{ToVector<double>(bins.edges())};
  const auto entry = [i](const auto& list) { return i < list.size() ? list[i] : 0; };
  return IntegerBins{.first_value = entry(description.first_values()),
                     .bin_count = bins.bin_count(),
                     .first_unsigned_value = entry(description.first_unsigned_values())};
}

HistogramOptions ToOptions(const v1::MergeAccumulatorsResponse& response) {
  const v1::HistogramDescription& description = response.histogram_description();
  const ArrayView no_elements(static_cast<ElementType>(response.element_type()), nullptr, 0);
  HistogramOptions options;
  for (int i = 0; i < response.histogram().bins_size(); ++i) {
    options.bins.push_back(ToSpecification(response.histogram().bins(i), description, i));
  }
  options.channel_count = static_cast<uint32_t>(response.histogram().channels_size());
  if (description.two_dimensional()) options.y_array = no_elements;
  if (description.weighted()) options.weights = no_elements;
  options.format = static_cast<HistogramFormat>(description.format());
  options.quantiles = ToVector<double>(description.quantiles());
  return options;
}

void Append(int field, std::span<const std::string> accumulators, WireMessage& message) {
  for (const std::string& accumulator : accumulators) {
    message.AppendBytes(field, std::as_bytes(std::span(accumulator)));
  }
}

}  // namespace

WireMessage ToWire(std::span<const std::string> accumulators, const MergeOptions& options) {
  v1::MergeAccumulatorsRequest request;
  request.set_partial(options.partial);
  SetOutputType(options.output_type, request);
  WireMessage message;
  Append(v1::MergeAccumulatorsRequest::kAccumulatorsFieldNumber, accumulators, message);
  message.AppendFields(request);
  return message;
}

WireMessage ToWire(const std::string& minuend, std::span<const std::string> subtrahends,
                   const SubtractOptions& options) {
  v1::SubtractAccumulatorsRequest request;
  request.set_partial(options.partial);
  SetOutputType(options.output_type, request);
  WireMessage message;
  Append(v1::SubtractAccumulatorsRequest::kMinuendFieldNumber, {&minuend, 1}, message);
  Append(v1::SubtractAccumulatorsRequest::kSubtrahendsFieldNumber, subtrahends, message);
  message.AppendFields(request);
  return message;
}

absl::StatusOr<MergeResult> FromProto(v1::MergeAccumulatorsResponse&& response) {
  MergeResult merge;
  merge.element_type = static_cast<ElementType>(response.element_type());
  merge.element_count = response.element_count();
  if (response.has_reduction()) {
    absl::StatusOr<ReductionResult> result = FromProto(response.reduction());
    if (!result.ok()) return result.status();
    merge.answer = *std::move(result);
    return merge;
  }
  if (response.has_keyed_reduction()) {
    absl::StatusOr<KeyedReductionResult> result = FromProto(response.keyed_reduction());
    if (!result.ok()) return result.status();
    merge.answer = *std::move(result);
    return merge;
  }
  if (!response.has_histogram()) {
    return absl::InternalError("the server's answer holds neither statistics nor counts");
  }
  HistogramOptions options = ToOptions(response);
  absl::StatusOr<HistogramResult> result = FromProto(response.histogram(), options);
  if (!result.ok()) return result.status();
  merge.answer = MergedHistogram{*std::move(result), std::move(options)};
  return merge;
}

}  // namespace gridfold::client
