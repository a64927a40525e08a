#include "client/library/message_sender.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/library/unary_call.h"
#include "gridfold/v1/compute_service.pb.h"
#include "grpcpp/support/slice.h"

namespace gridfold::client {
namespace {

// The field has one number in the messages of all streams.
v1::ReduceStreamRequest ElementCountField(uint64_t element_count) {
  constexpr int kField = v1::ReduceStreamRequest::kElementCountFieldNumber;
  static_assert(kField == v1::HistogramStreamRequest::kElementCountFieldNumber &&
                kField == v1::ScanStreamRequest::kElementCountFieldNumber &&
                kField == v1::ReduceByKeyStreamRequest::kElementCountFieldNumber);
  v1::ReduceStreamRequest message;
  message.set_element_count(element_count);
  return message;
}

}  // namespace

void AppendElementCount(uint64_t element_count, WireMessage& message) {
  message.AppendFields(ElementCountField(element_count));
}

MessageSender::MessageSender(std::unique_ptr<OpenStream> stream,
                             const google::protobuf::MessageLite& header,
                             uint64_t message_bytes_max, uint64_t element_bytes)
    : stream_(std::move(stream)),
      message_bytes_max_(message_bytes_max),
      element_bytes_(element_bytes) {
  const std::string bytes = header.SerializeAsString();
  header_ = FieldHeader(kStreamHeaderField, bytes.size()) + bytes;
}

bool MessageSender::Send(
    const std::array<std::span<const std::byte>, kStreamFieldCountMax>& fields) {
  uint64_t size_bytes = 0;
  for (const auto& field : fields) size_bytes += field.size();
  const uint64_t message_count = (size_bytes + message_bytes_max_ - 1) / message_bytes_max_;
  for (uint64_t i = 0; i < message_count; ++i) {
    std::array<std::span<const std::byte>, kStreamFieldCountMax> part;
    for (size_t f = 0; f < fields.size(); ++f) {
      const uint64_t step = (fields[f].size() + message_count - 1) / message_count;
      const uint64_t begin = std::min<uint64_t>(i * step, fields[f].size());
      part[f] = fields[f].subspan(begin, std::min<uint64_t>(step, fields[f].size() - begin));
    }
    if (!SendMessage(part)) return false;
  }
  return true;
}

void MessageSender::SendEnd() {
  // Of a part of an element the server says what is wrong.
  const bool are_whole = element_bytes_ != 0 && sent_bytes_ % element_bytes_ == 0;
  const std::string count =
      are_whole ? ElementCountField(sent_bytes_ / element_bytes_).SerializeAsString() : "";
  if ((!header_.empty() || are_whole) && !SendMessage({}, count)) return;
  stream_->WritesDone();
}

absl::Status MessageSender::ErrorOfEnded() {
  absl::Status status = stream_->StatusOfEnded();
  return status.ok() ? absl::InternalError("the server has ended the stream early") : status;
}

absl::Status MessageSender::ReceiveOnly(google::protobuf::MessageLite& response) {
  std::optional<grpc::ByteBuffer> message = stream_->Read();
  absl::Status status = message ? Parse(*message, response) : absl::OkStatus();
  // The end of the call, which follows.
  if (message) (void)stream_->Read();
  const absl::Status result = stream_->Finish();
  if (!result.ok()) return result;
  if (!message) return absl::InternalError("the server has ended the stream without an answer");
  return status;
}

bool MessageSender::SendMessage(
    const std::array<std::span<const std::byte>, kStreamFieldCountMax>& fields,
    const std::string& suffix) {
  std::vector<grpc::Slice> slices;
  if (!header_.empty()) slices.emplace_back(std::exchange(header_, {}));
  for (uint32_t i = 0; i < fields.size(); ++i) {
    if (fields[i].empty()) continue;
    slices.emplace_back(FieldHeader(kStreamFirstDataField + i, fields[i].size()));
    // The one copy: the transport may keep the bytes longer than the call of Write lasts.
    slices.emplace_back(fields[i].data(), fields[i].size());
  }
  if (!suffix.empty()) slices.emplace_back(suffix);
  sent_bytes_ += fields[0].size();
  return stream_->Write(grpc::ByteBuffer(slices.data(), slices.size()));
}

}  // namespace gridfold::client
