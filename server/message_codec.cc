#include "server/message_codec.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/decoded_size.h"

namespace gridfold::server {

namespace {

absl::Status NotAMessage(const google::protobuf::Message& request) {
  return absl::InvalidArgumentError(
      absl::StrCat("the bytes are not a message ", request.GetTypeName()));
}

absl::Status CheckDecodedSize(grpc::ByteBuffer& bytes, const Limits& limits,
                              const google::protobuf::Message& request) {
  grpc::ProtoBufferReader reader(&bytes);
  const std::optional<uint64_t> size =
      DecodedSizeBound(reader, *request.GetDescriptor(), limits.decoded_bytes_max());
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
  if (absl::Status status = CheckDecodedSize(bytes, limits, request); !status.ok()) return status;
  {
    grpc::ProtoBufferReader reader(&bytes);
    if (!request.ParseFromZeroCopyStream(&reader)) return NotAMessage(request);
  }
  bytes.Clear();
  return absl::OkStatus();
}

absl::Status EncodeResponse(const google::protobuf::Message& response, grpc::ByteBuffer& bytes) {
  grpc::ProtoBufferWriter writer(&bytes, grpc::kProtoBufferWriterMaxBufferLength,
                                 static_cast<int>(response.ByteSizeLong()));
  if (!response.SerializeToZeroCopyStream(&writer)) {
    return absl::InternalError("the answer could not be encoded");
  }
  return absl::OkStatus();
}

}  // namespace gridfold::server
