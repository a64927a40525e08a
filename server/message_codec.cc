#include "server/message_codec.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/decoded_size.h"

namespace gridfold::server {

namespace {

absl::Status NotAMessage(const google::protobuf::Message& request) {
  return absl::InvalidArgumentError(
      absl::StrCat("the bytes are not a message ", request.GetTypeName()));
}

absl::Status CheckDecodedSize(google::protobuf::io::ZeroCopyInputStream& bytes,
                              const Limits& limits, const google::protobuf::Message& request) {
  const std::optional<uint64_t> size =
      DecodedSizeBound(bytes, *request.GetDescriptor(), limits.decoded_bytes_max());
  if (!size) return NotAMessage(request);
  if (*size > limits.decoded_bytes_max()) {
    return absl::InvalidArgumentError(absl::StrCat("the message would take more than ",
                                                   limits.decoded_bytes_max(),
                                                   " bytes of memory once it is decoded"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeRequest(grpc::ByteBuffer& bytes, const Limits& limits,
                           google::protobuf::Message& request) {
  // An empty message has no bytes at all, which gRPC's reader does not take.
  if (bytes.Length() == 0) return absl::OkStatus();
  {
    grpc::ProtoBufferReader reader(&bytes);
    absl::Status status = CheckDecodedSize(reader, limits, request);
    if (!status.ok()) return status;
  }
  {
    grpc::ProtoBufferReader reader(&bytes);
    if (!request.ParseFromZeroCopyStream(&reader)) return NotAMessage(request);
  }
  bytes.Clear();
  return absl::OkStatus();
}

absl::Status DecodeRequest(const std::string& bytes, const Limits& limits,
                           google::protobuf::Message& request) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (absl::Status status = CheckDecodedSize(stream, limits, request); !status.ok()) return status;
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
  using google::protobuf::internal::WireFormatLite;
  std::string head = fields.SerializeAsString();
  {
    google::protobuf::io::StringOutputStream stream(&head);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(WireFormatLite::MakeTag(data_field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
    out.WriteVarint64(data.size_bytes());
  }
  const grpc::Slice slices[] = {grpc::Slice(head), std::move(data).ToSlice()};
  return grpc::ByteBuffer(slices, std::size(slices));
}

}  // namespace gridfold::server
