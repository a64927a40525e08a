// Reductions by key of arrays that one message may not carry.
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "client/library/array_calls.h"
#include "client/library/array_parts.h"
#include "client/library/array_route.h"
#include "client/library/keyed_conversion.h"
#include "client/library/region_pool.h"
#include "client/library/resident_upload.h"
#include "client/library/sent_arrays.h"

namespace gridfold::client {
namespace {

// The further coordinates of bins, in the order of the dimensions.
template <class Options>
auto FurtherKeysOf(Options& options) {
  std::vector<decltype(&std::get<KeyBins>(options.groups).further_keys.front())> further;
  if (auto* const bins = std::get_if<KeyBins>(&options.groups)) {
    if (bins->y_keys) further.push_back(&*bins->y_keys);
    for (auto& keys : bins->further_keys) further.push_back(&keys);
  }
  return further;
}

// The arrays of a request that are all of the caller's memory.
struct KeyedViews {
  const ArrayView& keys;
  const ArrayView& values;
  std::vector<const ArrayView*> further_keys = {};

  size_t array_count() const { return 2 + further_keys.size(); }
  uint64_t size_bytes() const {
    uint64_t bytes = keys.bytes().size() + values.bytes().size();
    for (const ArrayView* const further : further_keys) bytes += further->bytes().size();
    return bytes;
  }
};

std::optional<KeyedViews> ViewsOf(const ArrayInput& keys, const ArrayInput& values,
                                  const KeyedReductionOptions& options) {
  const auto* const key_view = std::get_if<ArrayView>(&keys.source());
  const auto* const value_view = std::get_if<ArrayView>(&values.source());
  if (key_view == nullptr || value_view == nullptr) return std::nullopt;
  KeyedViews views{*key_view, *value_view};
  for (const ArrayInput* const further : FurtherKeysOf(options)) {
    const auto* const view = std::get_if<ArrayView>(&further->source());
    if (view == nullptr) return std::nullopt;
    views.further_keys.push_back(view);
  }
  return views;
}

// What the server would refuse in a stream, and sizes that do not match, go in a request, which
// says what is wrong with them.
bool CanStream(const KeyedViews& views, const KeyedReductionOptions& options) {
  const uint64_t count = views.keys.element_count();
  if (views.values.element_count() != count) return false;
  for (const ArrayView* const further : views.further_keys) {
    if (further->element_count() != count) return false;
    if (further->element_type() != views.keys.element_type()) return false;
  }
  if (views.keys.element_type() == ElementType::kBool ||
      views.values.element_type() == ElementType::kBool) {
    return false;
  }
  if (HasProductOfFloats(views.values.element_type(), {.statistics = options.statistics})) {
    return false;
  }
  if (!options.quantiles.empty()) return false;
  const auto* const bins = std::get_if<KeyBins>(&options.groups);
  if (bins == nullptr) return true;
  return bins->further_keys.empty() && !HasRangeToFind(HistogramOptions{.bins = bins->bins});
}

absl::StatusOr<KeyedReductionResult> Told(absl::StatusOr<KeyedReductionResult> result,
                                          ArrayTransport transport) {
  if (result.ok()) {
    result->execution.transport = transport;
    result->execution.streams = 1;
  }
  return result;
}

absl::StatusOr<KeyedReductionResult> InStream(ArrayCalls& calls, const KeyedViews& views,
                                              const KeyedReductionOptions& options,
                                              const CallBudget& budget, ProgressTally& progress) {
  const absl::StatusOr<uint64_t> message_bytes = calls.MessageBytes(budget.Rest());
  if (!message_bytes.ok()) return message_bytes.status();
  const v1::ReduceByKeyRequest header =
      ToStreamedProto(views.keys.element_type(), views.values.element_type(), options);
  SentArrays sent{.header = header,
                  .fields = {views.keys.bytes(), views.values.bytes()},
                  .element_count = views.keys.element_count()};
  if (!views.further_keys.empty()) sent.fields[2] = views.further_keys.front()->bytes();
  v1::ReduceByKeyStreamResponse response;
  const absl::Status status =
      calls.transport().Try(budget.Rest(), [&](const auto& channel, const CallHead& head) {
        return SendArraysOnce(
            channel, "/gridfold.v1.ComputeService/ReduceByKeyStream", head, sent, *message_bytes,
            [&](uint64_t bytes) { progress.Sent(0, bytes); }, response);
      });
  if (!status.ok()) return status;
  return FromProto(response.result());
}

// Sends the arrays to the server, which keeps them for as long as the call lasts.
absl::StatusOr<KeyedReductionResult> ByResident(ArrayCalls& calls, const KeyedViews& views,
                                                const KeyedReductionOptions& options,
                                                const CallBudget& budget, ProgressTally& progress) {
  ResidentUpload upload(calls, budget, progress);
  const absl::StatusOr<ArrayInput> keys = upload.Send(views.keys);
  if (!keys.ok()) return keys.status();
  const absl::StatusOr<ArrayInput> values = upload.Send(views.values);
  if (!values.ok()) return values.status();
  KeyedReductionOptions moved = options;
  for (ArrayInput* const further : FurtherKeysOf(moved)) {
    absl::StatusOr<ArrayInput> sent = upload.Send(std::get<ArrayView>(further->source()));
    if (!sent.ok()) return sent.status();
    *further = *std::move(sent);
  }
  return Run(calls.transport(), CallOf(*keys, *values, moved), budget.Rest());
}

// Copies the arrays into memory that the server shares.
absl::StatusOr<KeyedReductionResult> ByRegion(ArrayCalls& calls, const KeyedViews& views,
                                              const KeyedReductionOptions& options,
                                              const CallBudget& budget) {
  BorrowedRegion borrowed(calls.regions(),
                          views.size_bytes() + views.array_count() * kRegionAlignmentBytes);
  const size_t thread_count = calls.transport().part_connection_count();
  return borrowed.Run(budget.Rest(), [&](const SharedRegion& region) {
    uint64_t offset_bytes = 0;
    const ArrayInput keys = CopyInto(region, views.keys, thread_count, offset_bytes);
    const ArrayInput values = CopyInto(region, views.values, thread_count, offset_bytes);
    KeyedReductionOptions moved = options;
    for (ArrayInput* const further : FurtherKeysOf(moved)) {
      *further =
          CopyInto(region, std::get<ArrayView>(further->source()), thread_count, offset_bytes);
    }
    return Run(calls.transport(), CallOf(keys, values, moved), budget.Rest());
  });
}

// Never kAuto, and kStream only where the arrays can go in one. Asks the server for its limits
// where they matter.
absl::StatusOr<ArrayTransport> WayOf(ArrayCalls& calls, const KeyedViews& views,
                                     const KeyedReductionOptions& options,
                                     const CallOptions& call_options, const CallBudget& budget) {
  const ClientOptions& client_options = calls.transport().options();
  const uint64_t size_bytes = views.size_bytes();
  const ArrayTransport wanted = call_options.transport.value_or(client_options.transport);
  if (wanted == ArrayTransport::kInline || size_bytes == 0 ||
      (wanted == ArrayTransport::kAuto && size_bytes <= kInlineBytesMax)) {
    return ArrayTransport::kInline;
  }
  const absl::StatusOr<ServerLimits> limits = calls.Limits(budget.Rest());
  if (!limits.ok()) return limits.status();
  return ChooseRoute({.wanted = wanted,
                      .size_bytes = size_bytes,
                      .fits_message = FitsMessage(size_bytes, 0, *limits, client_options),
                      .can_stream = CanStream(views, options)});
}

}  // namespace

absl::StatusOr<KeyedReductionResult> ArrayCalls::ReduceByKey(const ArrayInput& keys,
                                                             const ArrayInput& values,
                                                             const KeyedReductionOptions& options,
                                                             const CallOptions& call_options) {
  const std::optional<KeyedViews> views = ViewsOf(keys, values, options);
  if (!views) return Run(transport_, CallOf(keys, values, options), call_options);
  const CallBudget budget(call_options, transport_.options().default_timeout);
  const absl::StatusOr<ArrayTransport> way = WayOf(*this, *views, options, call_options, budget);
  if (!way.ok()) return way.status();
  ProgressTally progress(call_options, views->size_bytes());
  switch (*way) {
    case ArrayTransport::kStream:
      return Told(InStream(*this, *views, options, budget, progress), *way);
    case ArrayTransport::kResident:
      return Told(ByResident(*this, *views, options, budget, progress), *way);
    case ArrayTransport::kRegion: return Told(ByRegion(*this, *views, options, budget), *way);
    case ArrayTransport::kAuto:
    case ArrayTransport::kInline:
    case ArrayTransport::kStreams: break;
  }
  return Told(Run(transport_, CallOf(keys, values, options), budget.Rest()),
              ArrayTransport::kInline);
}

}  // namespace gridfold::client
