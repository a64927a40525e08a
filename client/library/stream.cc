#include "gridfold/stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/library/histogram_conversion.h"
#include "client/library/keyed_conversion.h"
#include "client/library/message_sender.h"
#include "client/library/reduction_conversion.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

// What came by a stream that the caller has opened.
template <typename Result>
absl::StatusOr<Result> Streamed(absl::StatusOr<Result> result) {
  if (!result.ok()) return result;
  result->execution.transport = ArrayTransport::kStream;
  result->execution.streams = 1;
  return result;
}

}  // namespace

ReductionStream::ReductionStream(std::unique_ptr<MessageSender> sender)
    : sender_(std::move(sender)) {}
ReductionStream::~ReductionStream() = default;

absl::Status ReductionStream::Write(std::span<const std::byte> data,
                                    std::span<const std::byte> mask) {
  if (!error_.ok()) return error_;
  if (!sender_->Send({data, mask})) error_ = sender_->ErrorOfEnded();
  return error_;
}

absl::StatusOr<ReductionResult> ReductionStream::Finish() {
  if (!error_.ok()) return error_;
  sender_->SendEnd();
  v1::ReduceStreamResponse response;
  error_ = sender_->ReceiveOnly(response);
  if (!error_.ok()) return error_;
  return Streamed(FromProto(response.result()));
}

HistogramStream::HistogramStream(std::unique_ptr<MessageSender> sender, HistogramOptions options)
    : sender_(std::move(sender)), options_(std::move(options)) {}
HistogramStream::~HistogramStream() = default;

absl::Status HistogramStream::Write(std::span<const std::byte> samples,
                                    std::span<const std::byte> y_samples,
                                    std::span<const std::byte> weights,
                                    std::span<const std::byte> mask) {
  if (!error_.ok()) return error_;
  if (!sender_->Send({samples, y_samples, weights, mask})) error_ = sender_->ErrorOfEnded();
  return error_;
}

absl::StatusOr<HistogramResult> HistogramStream::Finish() {
  if (!error_.ok()) return error_;
  sender_->SendEnd();
  v1::HistogramStreamResponse response;
  error_ = sender_->ReceiveOnly(response);
  if (!error_.ok()) return error_;
  return Streamed(FromProto(response.result(), options_));
}

KeyedReductionStream::KeyedReductionStream(std::unique_ptr<MessageSender> sender)
    : sender_(std::move(sender)) {}
KeyedReductionStream::~KeyedReductionStream() = default;

absl::Status KeyedReductionStream::Write(std::span<const std::byte> keys,
                                         std::span<const std::byte> values,
                                         std::span<const std::byte> y_keys) {
  if (!error_.ok()) return error_;
  if (!sender_->Send({keys, values, y_keys})) error_ = sender_->ErrorOfEnded();
  return error_;
}

absl::StatusOr<KeyedReductionResult> KeyedReductionStream::Finish() {
  if (!error_.ok()) return error_;
  sender_->SendEnd();
  v1::ReduceByKeyStreamResponse response;
  error_ = sender_->ReceiveOnly(response);
  if (!error_.ok()) return error_;
  return Streamed(FromProto(response.result()));
}

ScanStream::ScanStream(std::unique_ptr<MessageSender> sender) : sender_(std::move(sender)) {}
ScanStream::~ScanStream() = default;

absl::Status ScanStream::Write(std::span<const std::byte> data, std::span<const std::byte> mask) {
  if (sender_->Send({data, mask})) return absl::OkStatus();
  return sender_->ErrorOfEnded();
}

void ScanStream::WritesDone() { sender_->SendEnd(); }

void ScanStream::Cancel() { sender_->stream().Cancel(); }

absl::StatusOr<std::optional<ScanPiece>> ScanStream::Read() {
  std::optional<grpc::ByteBuffer> message = sender_->stream().Read();
  if (!message) {
    if (absl::Status status = sender_->stream().Finish(); !status.ok()) return status;
    return std::nullopt;
  }
  v1::ScanStreamResponse response;
  if (absl::Status status = Parse(*message, response); !status.ok()) return status;
  if (response.has_execution()) {
    execution_ = FromProto(response.execution());
    execution_.transport = ArrayTransport::kStream;
    execution_.streams = 1;
  }
  ScanPiece piece{.first_element = response.first_element(),
                  .element_type = static_cast<ElementType>(response.element_type()),
                  .data = std::move(*response.mutable_data())};
  const size_t element_bytes = ElementSizeBytes(piece.element_type);
  if (element_bytes == 0 || piece.data.size() % element_bytes != 0 ||
      piece.first_element != element_count_) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", piece.data.size(),
                                            " bytes of element type ", response.element_type(),
                                            " from element ", piece.first_element, " on"));
  }
  element_count_ += piece.data.size() / element_bytes;
  return piece;
}

}  // namespace gridfold::client
