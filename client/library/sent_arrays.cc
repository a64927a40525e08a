#include "client/library/sent_arrays.h"

#include <algorithm>
#include <optional>

#include "client/library/status_conversion.h"
#include "client/library/stream_call.h"
#include "client/library/wire_message.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::client {
namespace {

// Cuts arrays into messages.
class MessageCutter {
 public:
  MessageCutter(const SentArrays& arrays, uint64_t message_bytes)
      : arrays_(arrays), step_(std::max<uint64_t>(message_bytes / ElementBytes(arrays), 1)) {}

  // The next message; nothing after the last one, which says how many elements there were.
  std::optional<WireMessage> Next() {
    if (is_over_) return std::nullopt;
    WireMessage message;
    if (sent_elements_ == 0) {
      message.AppendMessage(kStreamHeaderField, WireMessage::Of(arrays_.header));
    }
    const uint64_t count = std::min(step_, arrays_.element_count - sent_elements_);
    for (uint32_t i = 0; i < arrays_.fields.size(); ++i) {
      const uint64_t element_bytes = arrays_.fields[i].size() / arrays_.element_count;
      if (element_bytes == 0) continue;  // Speed only: a field of nothing is as none.
      message.AppendBytes(
          kStreamFirstDataField + i,
          arrays_.fields[i].subspan(sent_elements_ * element_bytes, count * element_bytes));
      sent_bytes_ += count * element_bytes;
    }
    sent_elements_ += count;
    is_over_ = sent_elements_ == arrays_.element_count;
    if (is_over_) AppendElementCount(arrays_.element_count, message);
    return message;
  }

  bool is_over() const { return is_over_; }
  uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  // The bytes of one element of each array, together.
  static uint64_t ElementBytes(const SentArrays& arrays) {
    uint64_t bytes = 0;
    for (const auto& field : arrays.fields) bytes += field.size() / arrays.element_count;
    return bytes;
  }

  const SentArrays& arrays_;
  const uint64_t step_;  // Elements of a message.
  uint64_t sent_elements_ = 0;
  uint64_t sent_bytes_ = 0;
  bool is_over_ = false;
};

}  // namespace

absl::Status SendArraysOnce(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method, const CallHead& head,
                            const SentArrays& arrays, uint64_t message_bytes,
                            absl::FunctionRef<void(uint64_t)> on_sent,
                            google::protobuf::MessageLite& response) {
  MessageCutter cutter(arrays, message_bytes);
  bool is_answered = false;
  const absl::Status status = StreamOnce(
      channel, method, head,
      [&] {
        on_sent(cutter.sent_bytes());
        return cutter.Next();
      },
      [&](grpc::ByteBuffer& bytes) {
        is_answered = true;
        return Parse(bytes, response);
      });
  if (!status.ok()) return AsOfRequest(status);
  if (!cutter.is_over()) return absl::InternalError("the server has ended the stream early");
  if (!is_answered) {
    return absl::InternalError("the server has ended the stream without an answer");
  }
  on_sent(cutter.sent_bytes());
  return absl::OkStatus();
}

}  // namespace gridfold::client
