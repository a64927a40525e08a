#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "client/library/array_calls.h"
#include "client/library/array_parts.h"
#include "client/library/array_route.h"
#include "client/library/call_budget.h"
#include "client/library/helper_thread.h"
#include "client/library/huge_pages.h"
#include "client/library/message_sender.h"
#include "client/library/resident_download.h"
#include "client/library/resident_upload.h"
#include "client/library/scan_conversion.h"
#include "client/library/shared_conversion.h"
#include "client/library/status_conversion.h"

namespace gridfold::client {
namespace {

// Connections from which on it is faster to send the elements to the server and to read the results
// from there, over all of them, than to scan them under way over one.
constexpr size_t kConnectionsMin = 4;
// How long the server keeps results of a program that was killed.
constexpr absl::Duration kKeptResultTime = absl::Minutes(10);

ElementType ResultType(ElementType type, const ScanOptions& options) {
  const bool is_extreme =
      options.operation == ScanOperation::kMin || options.operation == ScanOperation::kMax;
  if (options.output_type || is_extreme) return options.output_type.value_or(type);
  const bool is_mean = options.operation == ScanOperation::kMean;
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64: return is_mean ? ElementType::kFloat64 : ElementType::kInt64;
    case ElementType::kUint8:
    case ElementType::kUint16:
    case ElementType::kUint32:
    case ElementType::kUint64:
    case ElementType::kBool: return is_mean ? ElementType::kFloat64 : ElementType::kUint64;
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
    case ElementType::kFloat32:
    case ElementType::kFloat64: break;
  }
  return type;
}

uint64_t ResultBytes(const ArrayView& array, const ScanOptions& options) {
  return array.element_count() * ElementSizeBytes(ResultType(array.element_type(), options));
}

// A scan's results depend on all elements before them: it goes in one piece. A stream takes the
// first results while the last elements are under way, but over one connection; by way of an array
// on the server, elements and results go over several.
RouteQuestion QuestionOf(const ArrayView& array, const ScanOptions& options,
                         const ServerLimits& limits, const Transport& transport) {
  const ClientOptions& client_options = transport.options();
  const ArrayView* const mask = ViewOf(options.where);
  const uint64_t size_bytes = array.bytes().size() + (mask != nullptr ? mask->bytes().size() : 0);
  const uint64_t answer_bytes = IsInline(options) ? ResultBytes(array, options) : 0;
  return {.size_bytes = size_bytes,
          .fits_message = FitsMessage(size_bytes + BytesOf(options.grouping), answer_bytes, limits,
                                      client_options),
          .can_stream = !options.where && !options.window &&
                        options.operation != ScanOperation::kMean &&
                        array.element_type() != ElementType::kBool && HasShapeOfElements(array) &&
                        array.shape().empty() && IsInline(options) &&
                        std::holds_alternative<WholeArray>(options.grouping) &&
                        options.direction == ScanDirection::kForward &&
                        TakesAnyStream(limits, client_options),
          .can_split = IsInline(options) && transport.part_connection_count() >= kConnectionsMin &&
                       size_bytes + answer_bytes <= limits.resident_bytes_max};
}

// Takes all results while another thread sends the elements.
absl::StatusOr<ScanResult> Exchange(const ArrayView& array, uint64_t message_bytes,
                                    ProgressTally& progress, ScanStream& stream) {
  absl::Status sent;
  std::optional<std::thread> sender = TryStartThread([&] {
    const std::span<const std::byte> bytes = array.bytes();
    for (uint64_t begin = 0; sent.ok() && begin < bytes.size(); begin += message_bytes) {
      const uint64_t count = std::min<uint64_t>(message_bytes, bytes.size() - begin);
      sent = stream.Write(bytes.subspan(begin, count));
      if (sent.ok()) progress.Sent(0, begin + count);
    }
    if (sent.ok()) stream.WritesDone();
  });
  if (!sender) {
    stream.Cancel();
    return absl::ResourceExhaustedError("there is no thread to send the elements");
  }
  ScanResult result;
  absl::Status status;
  while (true) {
    absl::StatusOr<std::optional<ScanPiece>> piece = stream.Read();
    status = piece.status();
    if (!piece.ok() || !piece->has_value()) break;
    if (result.data.empty()) {
      result.element_type = (*piece)->element_type;
      ReserveLarge(array.element_count() * ElementSizeBytes(result.element_type), result.data);
    }
    result.data += (*piece)->data;
  }
  if (!status.ok()) stream.Cancel();
  sender->join();
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

// Deletes an array that the server keeps for one call.
class KeptArray {
 public:
  KeptArray(Client& client, std::string name) : client_(client), name_(std::move(name)) {}
  ~KeptArray() { (void)client_.DeleteArray(name_, {.timeout = absl::Seconds(10)}); }
  KeptArray(const KeptArray&) = delete;
  KeptArray& operator=(const KeptArray&) = delete;

 private:
  Client& client_;
  const std::string name_;
};

// Has the results kept on the server, and reads them into `data`.
absl::StatusOr<ScanResult> ScanAndRead(ArrayCalls& calls, const ArrayInput& input,
                                       ScanOptions options, const CallBudget& budget,
                                       std::string data) {
  options.destination = ResidentDestination{.idle_expiry = kKeptResultTime};
  absl::StatusOr<ScanResult> result = ScanOnce(calls.transport(), input, options, budget.Rest());
  if (!result.ok()) return result;
  if (!result->resident_array) return absl::InternalError("the server has kept no results");
  const ArrayDescription kept = *std::exchange(result->resident_array, std::nullopt);
  const KeptArray deleted_behind(calls.client(), kept.name);
  data.resize(kept.size_bytes);
  absl::Status read =
      ReadInParts(calls, budget, kept, std::as_writable_bytes(std::span(data.data(), data.size())));
  if (!read.ok()) return read;
  result->element_type = kept.element_type;
  result->shape = kept.shape;
  result->data = std::move(data);
  return result;
}

}  // namespace

absl::StatusOr<ScanResult> ScanOnce(Transport& transport, const ArrayInput& array,
                                    const ScanOptions& options, const CallOptions& call_options) {
  return Run(transport, CallOf(array, options), call_options);
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
  BorrowedRegion borrowed(regions_, array.bytes().size() + kRegionAlignmentBytes);
  return borrowed.Run(budget.Rest(), [&](const SharedRegion& region) {
    uint64_t offset_bytes = 0;
    return ScanOnce(transport_,
                    CopyInto(region, array, transport_.part_connection_count(), offset_bytes),
                    options, budget.Rest());
  });
}

absl::StatusOr<ScanResult> ArrayCalls::ScanByResident(const ArrayView& array,
                                                      const ScanOptions& options,
                                                      const CallBudget& budget,
                                                      ProgressTally& progress) {
  // Memory for the results takes about as long to come as the elements to go.
  std::string data;
  const auto make_room = [&] {
    if (IsInline(options)) ResizeLarge(ResultBytes(array, options), data);
  };
  std::optional<std::thread> room = TryStartThread(make_room);
  absl::Cleanup join = [&room] {
    if (room) room->join();
  };
  ResidentUpload upload(*this, budget, progress);
  const absl::StatusOr<ArrayInput> input = upload.Send(array);
  if (!input.ok()) return input.status();
  ScanOptions moved = options;
  if (const ArrayView* const mask = ViewOf(options.where)) {
    absl::StatusOr<ArrayInput> moved_mask = upload.Send(*mask);
    if (!moved_mask.ok()) return moved_mask.status();
    moved.where = *std::move(moved_mask);
  }
  if (!IsInline(options)) return ScanOnce(transport_, *input, moved, budget.Rest());
  if (!room) make_room();
  std::move(join).Invoke();
  return ScanAndRead(*this, *input, moved, budget, std::move(data));
}

absl::StatusOr<ScanResult> ArrayCalls::ScanBy(ArrayTransport way, const ArrayView& array,
                                              const ScanOptions& options, const CallBudget& budget,
                                              ProgressTally& progress) {
  switch (way) {
    case ArrayTransport::kStream: return ScanInStream(array, options, budget, progress);
    case ArrayTransport::kRegion: return ScanInRegion(array, options, budget);
    case ArrayTransport::kStreams:
    case ArrayTransport::kResident: return ScanByResident(array, options, budget, progress);
    case ArrayTransport::kAuto:
    case ArrayTransport::kInline: break;
  }
  return ScanOnce(transport_, array, options, budget.Rest());
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
  RouteQuestion question;
  if (way != ArrayTransport::kInline) {
    const absl::StatusOr<ServerLimits> limits = Limits(budget.Rest());
    if (!limits.ok()) return limits.status();
    question = QuestionOf(array, options, *limits, transport_);
    question.wanted = way;
    way = ChooseRoute(question);
  }
  ProgressTally progress(call_options, size_bytes);
  absl::StatusOr<ScanResult> result = ScanBy(way, array, options, budget, progress);
  // The server's memory may be taken: then the elements pass through it.
  if (way == ArrayTransport::kStreams && absl::IsResourceExhausted(result.status())) {
    question.can_split = false;
    way = ChooseRoute(question);
    result = ScanBy(way, array, options, budget, progress);
  }
  if (!result.ok()) return result;
  const bool is_split = way == ArrayTransport::kStreams || way == ArrayTransport::kResident;
  result->execution.transport = is_split ? ArrayTransport::kResident : way;
  result->execution.streams =
      is_split ? static_cast<uint32_t>(transport_.part_connection_count()) : 1;
  return result;
}

}  // namespace gridfold::client
