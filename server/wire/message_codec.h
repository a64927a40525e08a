// Between the bytes that gRPC carries and Protobuf messages. Thread-safe.
#ifndef GRIDFOLD_SERVER_WIRE_MESSAGE_CODEC_H_
#define GRIDFOLD_SERVER_WIRE_MESSAGE_CODEC_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "server/base/limits.h"
#include "server/wire/detached_data.h"
#include "server/wire/message_survey.h"

namespace gridfold::server {

// RESOURCE_EXHAUSTED for a message above the limit. The transport takes some that are, so that they
// are refused with the reason.
absl::Status CheckMessageSize(uint64_t size_bytes, const Limits& limits);

// Decodes `bytes` and releases them. Errors: INVALID_ARGUMENT for bytes that are no such message,
// or one that would take more memory than the limit.
absl::Status DecodeRequest(grpc::ByteBuffer& bytes, const Limits& limits,
                           google::protobuf::Message& request);

// The same, except that bulk data is left out of `request`; DetachedData::Find finds it.
absl::Status DecodeRequest(grpc::ByteBuffer& bytes, const Limits& limits,
                           google::protobuf::Message& request, DetachedData& detached,
                           const BulkField& bulk);

// As the first, for contiguous bytes, which are not released.
absl::Status DecodeRequest(const std::string& bytes, const Limits& limits,
                           google::protobuf::Message& request);

// Errors: INTERNAL.
absl::Status EncodeResponse(const google::protobuf::Message& response, grpc::ByteBuffer& bytes);

// Memory for the bulk data of a message that is sent; content unspecified. Move-only.
class ChunkData {
 public:
  explicit ChunkData(uint64_t size_bytes)
      : data_(std::make_unique_for_overwrite<std::byte[]>(size_bytes)), size_bytes_(size_bytes) {}

  std::byte* data() { return data_.get(); }
  uint64_t size_bytes() const { return size_bytes_; }

  // The memory as gRPC takes it, which frees it when it is sent.
  grpc::Slice ToSlice() &&;

 private:
  std::unique_ptr<std::byte[]> data_;
  uint64_t size_bytes_;
};

// `fields` has no field `data_field`, of bytes, which `data` becomes without being copied.
grpc::ByteBuffer EncodeChunk(const google::protobuf::Message& fields, int data_field,
                             ChunkData data);
// The same one level down: `fields` has no field `message_field`, which becomes `message` with
// `data` as its field `data_field`.
grpc::ByteBuffer EncodeChunk(const google::protobuf::Message& fields, int message_field,
                             const google::protobuf::Message& message, int data_field,
                             ChunkData data);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_MESSAGE_CODEC_H_
