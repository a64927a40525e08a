// The messages of streams that carry bulk data: field 1 is a header, fields from 2 on are byte
// fields, whose bytes stay in the transport's buffers; field 15 may say how many elements the whole
// array has. Pure; thread-safe.
#ifndef GRIDFOLD_SERVER_WIRE_STREAM_MESSAGE_H_
#define GRIDFOLD_SERVER_WIRE_STREAM_MESSAGE_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace gridfold::server {

// The byte fields of HistogramStreamRequest, which has the most.
inline constexpr size_t kStreamArrayCountMax = 4;

struct StreamMessage {
  std::optional<std::string> header;  // The encoded header; a copy. Nothing where there is none.
  // The bytes of fields 2, 3, ..., in pieces as they have arrived.
  std::array<std::vector<grpc::Slice>, kStreamArrayCountMax> arrays;
  std::optional<uint64_t> element_count;  // Nothing where the message does not say.
};

// Finds the fields of `bytes` as Protobuf does: unknown fields are skipped, of a repeated byte
// field the last one counts, repeated headers are merged. Takes memory for the header and for the
// list of pieces. Errors: INVALID_ARGUMENT for bytes that are no message.
absl::StatusOr<StreamMessage> SplitMessage(grpc::ByteBuffer& bytes, size_t array_count);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_STREAM_MESSAGE_H_
