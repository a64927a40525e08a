// A request as it goes over the wire, its bulk still where the caller has it.
//
// Serialising a request through its generated class copies every array twice: into the message,
// then into the buffer. A WireMessage holds the serialised small fields and points at the arrays'
// bytes.
#ifndef GRIDFOLD_CLIENT_LIBRARY_WIRE_MESSAGE_H_
#define GRIDFOLD_CLIENT_LIBRARY_WIRE_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "google/protobuf/message_lite.h"
#include "gridfold/array_input.h"
#include "gridfold/array_view.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::client {

// The tag and length that open a field of `size_bytes`, a message or bytes.
std::string FieldHeader(uint32_t field_number, uint64_t size_bytes);

// Append-only. The bytes are those of one protocol buffer message, whose fields may come in any
// order. Not thread-safe while it is built.
class WireMessage {
 public:
  // A run of the message's bytes. `borrowed` is the caller's memory.
  struct Piece {
    std::string owned;
    std::span<const std::byte> borrowed;

    std::span<const std::byte> bytes() const {
      return borrowed.empty() ? std::as_bytes(std::span(owned)) : borrowed;
    }
  };

  // A message of the fields of `message` alone.
  static WireMessage Of(const google::protobuf::MessageLite& message);

  // Appends the fields of `message` that are set. The message must not hold a field that is
  // appended as an array.
  void AppendFields(const google::protobuf::MessageLite& message);

  // Appends field `field_number`, an ArraySource with `array` inline or by its name.
  void AppendArray(uint32_t field_number, const ArrayInput& array);

  // Appends field `field_number`, the caller's bytes.
  void AppendBytes(uint32_t field_number, std::span<const std::byte> bytes);

  // Appends field `field_number`, an embedded message.
  void AppendMessage(uint32_t field_number, WireMessage message);

  // All bytes, copied.
  grpc::ByteBuffer Copy() const;

  std::span<const Piece> pieces() const { return pieces_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  void AppendInlineArray(uint32_t field_number, const ArrayView& array);
  void AppendOwned(std::string bytes);
  void AppendBorrowed(std::span<const std::byte> bytes);

  std::vector<Piece> pieces_;
  uint64_t size_bytes_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_WIRE_MESSAGE_H_
