#include "client/library/histogram_conversion.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "client/library/compact_histogram.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

static_assert(static_cast<int>(OutOfRangePolicy::kClamp) == v1::OUT_OF_RANGE_POLICY_CLAMP);
static_assert(static_cast<int>(BinRule::kSqrt) == v1::HISTOGRAM_BIN_RULE_SQRT);
static_assert(static_cast<int>(HistogramFormat::kSparse) == v1::HISTOGRAM_FORMAT_SPARSE);

// Sets the member of a v1::BinSpecification that a layout belongs to.
struct LayoutWriter {
  v1::BinSpecification& proto;

  void operator()(const EvenBins& bins) const {
    proto.mutable_even()->set_bin_count(bins.bin_count);
    if (bins.lower_bound) proto.mutable_even()->set_lower_bound(*bins.lower_bound);
    if (bins.upper_bound) proto.mutable_even()->set_upper_bound(*bins.upper_bound);
    if (bins.rule) proto.mutable_even()->set_rule(static_cast<v1::HistogramBinRule>(*bins.rule));
  }
  void operator()(const EdgeBins& bins) const {
    proto.mutable_edges()->mutable_edges()->Add(bins.edges.begin(), bins.edges.end());
  }
  void operator()(const LogarithmicBins& bins) const {
    proto.mutable_logarithmic()->set_bin_count(bins.bin_count);
    proto.mutable_logarithmic()->set_lower_bound(bins.lower_bound);
    proto.mutable_logarithmic()->set_upper_bound(bins.upper_bound);
  }
  void operator()(const IntegerBins& bins) const {
    proto.mutable_integer()->set_first_value(bins.first_value);
    proto.mutable_integer()->set_bin_count(bins.bin_count);
    proto.mutable_integer()->set_first_unsigned_value(bins.first_unsigned_value);
  }
};

HistogramCounts ToCounts(const v1::HistogramCounts& proto) {
  return {
      .counts = CountsOf(proto),
      .weight_sums = ToVector<double>(proto.weight_sums()),
      .bin_indices = ToVector<uint64_t>(proto.bin_indices()),
      .underflow_count = proto.underflow_count(),
      .overflow_count = proto.overflow_count(),
      .nan_count = proto.nan_count(),
      .quantile_values = ToVector<double>(proto.quantile_values()),
  };
}

// Callers index counts by bins and edges by bins: an answer where that fails goes no further.
bool IsConsistent(const HistogramResult& result, const HistogramOptions& options) {
  const bool two_dimensional = options.y_array.has_value();
  const size_t channel_count = two_dimensional ? 1 : std::max(options.channel_count, 1u);
  if (result.channels.size() != channel_count) return false;
  if (result.bins.size() != (two_dimensional ? 2 : channel_count)) return false;
  for (const ResolvedBins& bins : result.bins) {
    if (!bins.edges.empty() && bins.edges.size() != bins.bin_count + 1) return false;
  }
  for (size_t i = 0; i < channel_count; ++i) {
    const HistogramCounts& counts = result.channels[i];
    const uint64_t bin_count =
        result.bins[i].bin_count * (two_dimensional ? result.bins[1].bin_count : 1);
    const bool sparse = options.format == HistogramFormat::kSparse;
    const uint64_t listed = sparse ? counts.bin_indices.size() : bin_count;
    if (counts.counts.size() != (options.weights ? 0 : listed)) return false;
    if (counts.weight_sums.size() != (options.weights ? listed : 0)) return false;
    if (counts.quantile_values.size() != options.quantiles.size()) return false;
    for (uint64_t index : counts.bin_indices) {
      if (index >= bin_count) return false;
    }
  }
  return true;
}

// Edges that the answer leaves out take memory in proportion to it all the same.
bool HasAsManyCounts(const HistogramResult& result, uint64_t bin_count) {
  return bin_count > 0 &&
         std::any_of(
             result.channels.begin(), result.channels.end(), [&](const HistogramCounts& channel) {
               return std::max(channel.counts.size(), channel.weight_sums.size()) >= bin_count;
             });
}

absl::Status Inconsistent() {
  return absl::InternalError("the server's answer holds counts and bins that do not match");
}

}  // namespace

std::optional<BinRule> BinRuleOf(std::string_view name) {
  constexpr std::pair<std::string_view, BinRule> kRules[] = {
      {"auto", BinRule::kAuto}, {"fd", BinRule::kFreedmanDiaconis}, {"scott", BinRule::kScott},
      {"rice", BinRule::kRice}, {"sturges", BinRule::kSturges},     {"sqrt", BinRule::kSqrt}};
  for (const auto& [its_name, rule] : kRules) {
    if (its_name == name) return rule;
  }
  return std::nullopt;
}

v1::BinSpecification ToProto(const BinSpecification& bins) {
  v1::BinSpecification proto;
  std::visit(LayoutWriter{proto}, bins);
  return proto;
}

v1::ComputeHistogramRequest ToProto(const HistogramOptions& options) {
  v1::ComputeHistogramRequest request;
  for (const BinSpecification& bins : options.bins) *request.add_bins() = ToProto(bins);
  request.set_channel_count(options.channel_count);
  request.set_out_of_range_policy(static_cast<v1::OutOfRangePolicy>(options.out_of_range_policy));
  request.set_format(static_cast<v1::HistogramFormat>(options.format));
  request.mutable_quantiles()->Add(options.quantiles.begin(), options.quantiles.end());
  request.set_return_accumulator(options.return_accumulator);
  request.set_compact_answer(true);
  SetStrategy(options.strategy, request);
  return request;
}

WireMessage ToWire(const ArrayInput& array, const HistogramOptions& options) {
  WireMessage message;
  message.AppendArray(v1::ComputeHistogramRequest::kArrayFieldNumber, array);
  if (options.y_array) {
    message.AppendArray(v1::ComputeHistogramRequest::kYArrayFieldNumber, *options.y_array);
  }
  if (options.weights) {
    message.AppendArray(v1::ComputeHistogramRequest::kWeightsFieldNumber, *options.weights);
  }
  if (options.where) {
    message.AppendArray(v1::ComputeHistogramRequest::kWhereFieldNumber, *options.where);
  }
  message.AppendFields(ToProto(options));
  return message;
}

absl::StatusOr<HistogramResult> FromProto(const v1::ComputeHistogramResponse& response,
                                          const HistogramOptions& options) {
  HistogramResult result;
  for (const v1::HistogramCounts& counts : response.channels()) {
    result.channels.push_back(ToCounts(counts));
  }
  for (const v1::ResolvedBins& bins : response.bins()) {
    if (bins.has_even_edges() && !HasAsManyCounts(result, bins.bin_count())) {
      return Inconsistent();
    }
    result.bins.push_back({bins.bin_count(), bins.has_even_edges()
                                                 ? EdgesOf(bins.even_edges(), bins.bin_count())
                                                 : ToVector<double>(bins.edges())});
  }
  result.execution = FromProto(response.execution());
  result.accumulator = response.accumulator();
  if (!IsConsistent(result, options)) return Inconsistent();
  return result;
}

OperationCall<v1::ComputeHistogramResponse, HistogramResult> CallOf(
    const ArrayInput& array, const HistogramOptions& options) {
  return {
      "/gridfold.v1.ComputeService/ComputeHistogram", ToWire(array, options),
      [options](v1::ComputeHistogramResponse& response) { return FromProto(response, options); }};
}

}  // namespace gridfold::client
