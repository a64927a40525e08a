#include <algorithm>
#include <thread>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/library/array_calls.h"
#include "client/library/array_parts.h"
#include "client/library/array_route.h"
#include "client/library/call_budget.h"
#include "client/library/message_sender.h"
#include "client/library/resident_upload.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/status_conversion.h"

namespace gridfold::client {
namespace {

// The largest result: sums of integers have 64 bits.
constexpr uint64_t kResultBytesMax = 8;
// How long the server keeps results of a program that was killed.
constexpr absl::Duration kKeptResultTime = absl::Minutes(10);

bool IsInline(const ScanOptions& options) {
  return std::holds_alternative<InlineDestination>(options.destination);
}

// A scan's results depend on all elements before them: it goes in one piece, by a stream that takes
// the first results while the last elements are under way.
RouteQuestion QuestionOf(const ArrayView& array, const ScanOptions& options,
                         const ServerLimits& limits, const ClientOptions& client_options) {
  const uint64_t size_bytes = array.bytes().size();
  const uint64_t answer_bytes = IsInline(options) ? array.element_count() * kResultBytesMax : 0;
  return {.size_bytes = size_bytes,
          .fits_message = FitsMessage(size_bytes + BytesOf(options.grouping), answer_bytes, limits,
                                      client_options),
          .can_stream = HasShapeOfElements(array) && array.shape().empty() && IsInline(options) &&
                        std::holds_alternative<WholeArray>(options.grouping) &&
                        options.direction == ScanDirection::kForward &&
                        TakesAnyStream(limits, client_options)};
}

// Takes all results while another thread sends the elements.
absl::StatusOr<ScanResult> Exchange(const ArrayView& array, uint64_t message_bytes,
                                    ProgressTally& progress, ScanStream& stream) {
  absl::Status sent;
  std::thread sender([&] {
    const std::span<const std::byte> bytes = array.bytes();
    for (uint64_t begin = 0; sent.ok() && begin < bytes.size(); begin += message_bytes) {
      const uint64_t count = std::min<uint64_t>(message_bytes, bytes.size() - begin);
      sent = stream.Write(bytes.subspan(begin, count));
      if (sent.ok()) progress.Sent(0, begin + count);
    }
    if (sent.ok()) stream.WritesDone();
  });
  ScanResult result;
  absl::Status status;
  while (true) {
    absl::StatusOr<std::optional<ScanPiece>> piece = stream.Read();
    status = piece.status();
    if (!piece.ok() || !piece->has_value()) break;
    if (result.data.empty()) {
      result.element_type = (*piece)->element_type;
      result.data.reserve(array.element_count() * ElementSizeBytes(result.element_type));
    }
    result.data += (*piece)->data;
  }
  if (!status.ok()) stream.Cancel();
  sender.join();
  if (!status.ok()) return status;
  if (!sent.ok()) return sent;
  result.execution = stream.execution();
  if (result.element_count() != array.element_count()) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", result.element_count(),
                                            " results of ", array.element_count(), " elements"));
  }
  result.shape = {result.element_count()};
  return result;
}

// Has results that no answer carries kept on the server, and reads them.
absl::StatusOr<ScanResult> ScanAndRead(Client& client, Transport& transport,
                                       const ArrayInput& input, ScanOptions options,
                                       const CallBudget& budget) {
  options.destination = ResidentDestination{.idle_expiry = kKeptResultTime};
  absl::StatusOr<ScanResult> result = ScanOnce(transport, input, options, budget.Rest());
  if (!result.ok()) return result;
  if (!result->resident_array) return absl::InternalError("the server has kept no results");
  const std::string name = result->resident_array->name;
  absl::StatusOr<ArrayData> elements = client.ReadArray(ResidentArray{name}, budget.Rest());
  (void)client.DeleteArray(name, {.timeout = absl::Seconds(10)});
  if (!elements.ok()) return elements.status();
  result->element_type = elements->element_type;
  result->shape = std::move(elements->shape);
  result->data = std::move(elements->data);
  result->resident_array.reset();
  return result;
}

}  // namespace

absl::StatusOr<ScanResult> ScanOnce(Transport& transport, const ArrayInput& array,
                                    const ScanOptions& options, const CallOptions& call_options) {
  v1::ScanArrayResponse response;
  absl::Status status = transport.Call(
      "/gridfold.v1.ComputeService/ScanArray", ToWire(array, options), call_options, response,
      IsInline(options) ? Transport::Repeatable::kYes : Transport::Repeatable::kNo);
  if (!status.ok()) return status;
  return FromProto(std::move(response));
}

absl::StatusOr<ScanResult> ArrayCalls::ScanInStream(const ArrayView& array,
                                                    const ScanOptions& options,
                                                    const CallBudget& budget,
                                                    ProgressTally& progress) {
  const absl::StatusOr<uint64_t> message_bytes = MessageBytes(budget.Rest());
  if (!message_bytes.ok()) return message_bytes.status();
  v1::ScanArrayRequest header = ToProto(options);
  *header.mutable_array() = ToProto(StreamedArray{array.element_type()});
  absl::StatusOr<ScanResult> result;
  const absl::Status status =
      transport_.Try(budget.Rest(), [&](const auto& channel, const CallHead& head) {
        ScanStream stream(std::make_unique<MessageSender>(
            std::make_unique<OpenStream>(channel, "/gridfold.v1.ComputeService/ScanStream", head),
            header, *message_bytes, ElementSizeBytes(array.element_type())));
        result = Exchange(array, *message_bytes, progress, stream);
        return result.status();
      });
  if (!status.ok()) return AsOfRequest(status);
  return result;
}

absl::StatusOr<ScanResult> ArrayCalls::ScanInRegion(const ArrayView& array,
                                                    const ScanOptions& options,
                                                    const CallBudget& budget) {
  absl::StatusOr<SharedRegion> region =
      regions_.Take(array.bytes().size() + kRegionAlignmentBytes, budget.Rest());
  if (!region.ok()) return region.status();
  uint64_t offset_bytes = 0;
  absl::StatusOr<ScanResult> result = ScanOnce(
      transport_, CopyInto(*region, array, transport_.part_connection_count(), offset_bytes),
      options, budget.Rest());
  regions_.Keep(*std::move(region));
  return result;
}

absl::StatusOr<ScanResult> ArrayCalls::ScanByResident(const ArrayView& array,
                                                      const ScanOptions& options,
                                                      const CallBudget& budget,
                                                      ProgressTally& progress) {
  ResidentUpload upload(*this, budget, progress);
  const absl::StatusOr<ArrayInput> input = upload.Send(array);
  if (!input.ok()) return input.status();
  return IsInline(options) ? ScanAndRead(client_, transport_, *input, options, budget)
                           : ScanOnce(transport_, *input, options, budget.Rest());
}

absl::StatusOr<ScanResult> ArrayCalls::ScanArray(const ArrayView& array, const ScanOptions& options,
                                                 const CallOptions& call_options) {
  const ClientOptions& client_options = transport_.options();
  const CallBudget budget(call_options, client_options.default_timeout);
  ArrayTransport way = call_options.transport.value_or(client_options.transport);
  const uint64_t size_bytes = array.bytes().size();
  // Results can't take the place of what the caller has: a request is told so by the server.
  const bool is_in_place = std::holds_alternative<InPlaceDestination>(options.destination);
  if (size_bytes == 0 || is_in_place ||
      (way == ArrayTransport::kAuto && size_bytes <= kInlineBytesMax)) {
    way = ArrayTransport::kInline;
  }
  if (way != ArrayTransport::kInline) {
    const absl::StatusOr<ServerLimits> limits = Limits(budget.Rest());
    if (!limits.ok()) return limits.status();
    RouteQuestion question = QuestionOf(array, options, *limits, client_options);
    question.wanted = way;
    way = ChooseRoute(question);
  }
  ProgressTally progress(call_options, size_bytes);
  absl::StatusOr<ScanResult> result;
  if (way == ArrayTransport::kStream) {
    result = ScanInStream(array, options, budget, progress);
  } else if (way == ArrayTransport::kRegion) {
    result = ScanInRegion(array, options, budget);
  } else if (way == ArrayTransport::kResident) {
    result = ScanByResident(array, options, budget, progress);
  } else {
    result = ScanOnce(transport_, array, options, budget.Rest());
  }
  if (!result.ok()) return result;
  result->execution.transport = way;
  result->execution.streams = 1;
  return result;
}

}  // namespace gridfold::client
