#include "server/wire/message_codec.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/base/error_reason.h"

namespace gridfold::server {

namespace {

absl::Status NotAMessage(const google::protobuf::Message& request) {
  return absl::InvalidArgumentError(
      absl::StrCat("the bytes are not a message ", request.GetTypeName()));
}

// Nothing is decoded that takes more memory than the limit.
absl::StatusOr<MessageSurvey> Survey(google::protobuf::io::ZeroCopyInputStream& bytes,
                                     const Limits& limits, const google::protobuf::Message& request,
                                     const BulkField& bulk) {
  std::optional<MessageSurvey> survey =
      SurveyMessage(bytes, *request.GetDescriptor(), limits.decoded_bytes_max(), bulk);
  if (!survey) return NotAMessage(request);
  if (survey->decoded_bytes > limits.decoded_bytes_max()) {
    return absl::InvalidArgumentError(absl::StrCat("the message would take more than ",
                                                   limits.decoded_bytes_max(),
                                                   " bytes of memory once it is decoded"));
  }
  return *std::move(survey);
}

// Whether a message is so small that no survey can find anything: it takes as long as decoding.
bool NeedsNoSurvey(uint64_t size_bytes, const Limits& limits, const BulkField& bulk) {
  return size_bytes * kDecodedGrowthMax <= limits.decoded_bytes_max() &&
         (bulk.field == nullptr || size_bytes < bulk.bytes_min);
}

bool ParseWhole(grpc::ByteBuffer& bytes, google::protobuf::Message& request) {
  grpc::ProtoBufferReader reader(&bytes);
  return request.ParseFromZeroCopyStream(&reader);
}

bool ParseDetached(grpc::ByteBuffer& bytes, const std::vector<WireEdit>& edits,
                   google::protobuf::Message& request, DetachedData& detached) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return false;
  // A list of many slices need not be there twice.
  bytes.Clear();
  return request.ParseFromZeroCopyStream(Detach(slices, edits, detached).get());
}

// What stands in front of a field of `size_bytes`.
void AppendLength(int field, uint64_t size_bytes, std::string& head) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::StringOutputStream stream(&head);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.WriteTag(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  out.WriteVarint64(size_bytes);
}

grpc::ByteBuffer Join(const std::string& head, ChunkData data) {
  const grpc::Slice slices[] = {grpc::Slice(head), std::move(data).ToSlice()};
  return grpc::ByteBuffer(slices, std::size(slices));
}

}  // namespace

absl::Status CheckMessageSize(uint64_t size_bytes, const Limits& limits) {
  if (size_bytes <= limits.message_bytes_max) return absl::OkStatus();
  return WithReason(absl::ResourceExhaustedError(
                        absl::StrCat("the message has ", size_bytes, " bytes, more than the ",
                                     limits.message_bytes_max, " of the largest message")),
                    kReasonJobTooLarge);
}

absl::Status DecodeRequest(grpc::ByteBuffer& bytes, const Limits& limits,
                           google::protobuf::Message& request, DetachedData& detached,
                           const BulkField& bulk) {
  // An empty message has no bytes at all, which gRPC's reader does not take.
  if (bytes.Length() == 0) return absl::OkStatus();
  absl::StatusOr<MessageSurvey> survey = MessageSurvey{};
  if (!NeedsNoSurvey(bytes.Length(), limits, bulk)) {
    grpc::ProtoBufferReader reader(&bytes);
    survey = Survey(reader, limits, request, bulk);
    if (!survey.ok()) return survey.status();
  }
  const bool is_parsed = survey->edits.empty()
                             ? ParseWhole(bytes, request)
                             : ParseDetached(bytes, survey->edits, request, detached);
  if (!is_parsed) return NotAMessage(request);
  bytes.Clear();
  return absl::OkStatus();
}

absl::Status DecodeRequest(grpc::ByteBuffer& bytes, const Limits& limits,
                           google::protobuf::Message& request) {
  DetachedData none;
  return DecodeRequest(bytes, limits, request, none, BulkField{});
}

absl::Status DecodeRequest(const std::string& bytes, const Limits& limits,
                           google::protobuf::Message& request) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  const absl::Status status = Survey(stream, limits, request, BulkField{}).status();
  if (!status.ok()) return status;
  return request.ParseFromString(bytes) ? absl::OkStatus() : NotAMessage(request);
}

absl::Status EncodeResponse(const google::protobuf::Message& response, grpc::ByteBuffer& bytes) {
  if (response.ByteSizeLong() == 0) {
    // Which gRPC's writer does not make.
    const grpc::Slice nothing;
    bytes = grpc::ByteBuffer(&nothing, 1);
    return absl::OkStatus();
  }
  grpc::ProtoBufferWriter writer(&bytes, grpc::kProtoBufferWriterMaxBufferLength,
                                 static_cast<int>(response.ByteSizeLong()));
  if (!response.SerializeToZeroCopyStream(&writer)) {
    return absl::InternalError("the answer could not be encoded");
  }
  return absl::OkStatus();
}

grpc::Slice ChunkData::ToSlice() && {
  if (size_bytes_ == 0) return grpc::Slice();
  std::byte* const data = data_.release();
  return grpc::Slice(
      data, size_bytes_, [](void* memory) { delete[] static_cast<std::byte*>(memory); }, data);
}

grpc::ByteBuffer EncodeChunk(const google::protobuf::Message& fields, int data_field,
                             ChunkData data) {
  std::string head = fields.SerializeAsString();
  AppendLength(data_field, data.size_bytes(), head);
  return Join(head, std::move(data));
}

grpc::ByteBuffer EncodeChunk(const google::protobuf::Message& fields, int message_field,
                             const google::protobuf::Message& message, int data_field,
                             ChunkData data) {
  std::string inner = message.SerializeAsString();
  AppendLength(data_field, data.size_bytes(), inner);
  std::string head = fields.SerializeAsString();
  AppendLength(message_field, inner.size() + data.size_bytes(), head);
  return Join(head + inner, std::move(data));
}

}  // namespace gridfold::server
