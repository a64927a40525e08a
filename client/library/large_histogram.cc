#include <utility>
#include <variant>

#include "client/library/histogram_conversion.h"
#include "client/library/histogram_range.h"
#include "client/library/large_call.h"
#include "client/library/sent_arrays.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

struct HistogramOperation {
  using Result = HistogramResult;
  using Options = HistogramOptions;
  using Parts = HistogramParts;

  static uint64_t SizeBytes(const ArrayView& array, const Options& options) {
    uint64_t size_bytes = array.bytes().size();
    for (const auto* const other : {&options.y_array, &options.weights, &options.where}) {
      if (const ArrayView* const view = ViewOf(*other)) size_bytes += view->bytes().size();
    }
    return size_bytes;
  }

  static uint64_t OtherBytes(const Options& options) {
    uint64_t count = 0;
    for (const BinSpecification& bins : options.bins) {
      if (const auto* const edges = std::get_if<EdgeBins>(&bins)) count += edges->edges.size();
    }
    return count * sizeof(double);
  }

  // A stream has gone by before the range of its samples, or what a rule looks at, is known.
  static bool CanStream(const ArrayView& array, const Options& options,
                        const ServerLimits& /*limits*/, const ClientOptions& /*client_options*/) {
    return !HasTruths(array, options) && !options.where && !HasRangeToFind(options) &&
           HaveEqualCounts(array, options) && options.channel_count > 0 &&
           array.element_count() % options.channel_count == 0;
  }

  static Parts Split(const ArrayView& array, const Options& options, uint64_t part_bytes) {
    return SplitHistogram(array, options, part_bytes);
  }

  static absl::StatusOr<Result> Once(Transport& transport, const ArrayInput& array,
                                     const Options& options, const CallOptions& call_options) {
    return CountOnce(transport, array, options, call_options);
  }

  static absl::StatusOr<Result> StreamOnce(const std::shared_ptr<grpc::Channel>& channel,
                                           const CallHead& head, const ArrayView& array,
                                           const Options& options, uint64_t message_bytes,
                                           absl::FunctionRef<void(uint64_t)> on_sent) {
    v1::ComputeHistogramRequest header = ToProto(options);
    *header.mutable_array() = ToProto(StreamedArray{array.element_type()});
    SentArrays sent{
        .header = header, .fields = {array.bytes()}, .element_count = array.element_count()};
    if (const ArrayView* const y = ViewOf(options.y_array)) {
      *header.mutable_y_array() = ToProto(StreamedArray{y->element_type()});
      sent.fields[1] = y->bytes();
    }
    if (const ArrayView* const weights = ViewOf(options.weights)) {
      *header.mutable_weights() = ToProto(StreamedArray{weights->element_type()});
      sent.fields[2] = weights->bytes();
    }
    v1::HistogramStreamResponse response;
    const absl::Status status =
        SendArraysOnce(channel, "/gridfold.v1.ComputeService/HistogramStream", head, sent,
                       message_bytes, on_sent, response);
    if (!status.ok()) return status;
    return FromProto(response.result(), options);
  }

  template <typename Move>
  static absl::StatusOr<std::pair<ArrayInput, Options>> Moved(const ArrayView& array,
                                                              const Options& options, Move move) {
    absl::StatusOr<ArrayInput> samples = move(array);
    if (!samples.ok()) return samples.status();
    std::pair<ArrayInput, Options> moved(*std::move(samples), options);
    for (auto* const other : {&moved.second.y_array, &moved.second.weights, &moved.second.where}) {
      const ArrayView* const view = ViewOf(*other);
      if (view == nullptr) continue;
      absl::StatusOr<ArrayInput> input = move(*view);
      if (!input.ok()) return input.status();
      *other = *std::move(input);
    }
    return moved;
  }

  static MergeOptions Merging(const Options& options) {
    return {.partial = options.return_accumulator};
  }

  static Result Merged(MergeResult merged, const Options& /*options*/) {
    return std::get<MergedHistogram>(std::move(merged.answer)).result;
  }

  // There are no parts that are not merged.
  static void Append(const Result& /*part*/, Result& /*whole*/) {}
};

}  // namespace

absl::StatusOr<HistogramResult> CountOnce(Transport& transport, const ArrayInput& array,
                                          const HistogramOptions& options,
                                          const CallOptions& call_options) {
  return Run(transport, CallOf(array, options), call_options);
}

absl::StatusOr<HistogramResult> ArrayCalls::ComputeHistogram(const ArrayView& array,
                                                             const HistogramOptions& options,
                                                             const CallOptions& call_options) {
  const auto count = [&](const HistogramOptions& bins) {
    return LargeCall<HistogramOperation>(*this, array, bins, call_options).Run();
  };
  const ArrayTransport wanted = call_options.transport.value_or(transport_.options().transport);
  const bool can_be_parts = wanted == ArrayTransport::kStreams ||
                            wanted == ArrayTransport::kRegion ||
                            (wanted == ArrayTransport::kAuto &&
                             HistogramOperation::SizeBytes(array, options) >= kStreamsBytesMin);
  if (!HasRangeToFind(options) || HasRule(options) || options.return_accumulator || options.where ||
      !can_be_parts) {
    return count(options);
  }
  // The samples go twice, in parts: once for their range, once to be counted in it.
  const CallBudget budget(call_options, transport_.options().default_timeout);
  const absl::StatusOr<std::optional<HistogramOptions>> bounded =
      WithRange(array, options, [&](const ArrayView& samples, const ReductionOptions& extremes) {
        return ReduceArray(samples, extremes, budget.Rest());
      });
  if (!bounded.ok()) return IsJudgement(bounded.status()) ? count(options) : bounded.status();
  if (!bounded->has_value()) return count(options);
  CallOptions rest = budget.Rest();
  rest.progress = call_options.progress;
  absl::StatusOr<HistogramResult> result =
      LargeCall<HistogramOperation>(*this, array, **bounded, rest).Run();
  return result.ok() || !IsJudgement(result.status()) ? result : count(options);
}

}  // namespace gridfold::client
