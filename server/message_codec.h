// Between the bytes that gRPC carries and Protobuf messages. Thread-safe.
#ifndef GRIDFOLD_SERVER_MESSAGE_CODEC_H_
#define GRIDFOLD_SERVER_MESSAGE_CODEC_H_

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "server/limits.h"

namespace gridfold::server {

// Decodes `bytes` and releases them. Errors: INVALID_ARGUMENT for bytes that are no such message,
// or one that would take more memory than the limit.
absl::Status DecodeRequest(grpc::ByteBuffer& bytes, const Limits& limits,
                           google::protobuf::Message& request);

// `response` is not empty. Errors: INTERNAL.
absl::Status EncodeResponse(const google::protobuf::Message& response, grpc::ByteBuffer& bytes);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_MESSAGE_CODEC_H_
