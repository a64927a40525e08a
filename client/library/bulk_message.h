// An answer whose bulk is still where the transport has put it.
//
// Parsing an answer through its generated class copies its bulk into the message, from where it is
// copied once more to where it is wanted.
#ifndef GRIDFOLD_CLIENT_LIBRARY_BULK_MESSAGE_H_
#define GRIDFOLD_CLIENT_LIBRARY_BULK_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace gridfold::client {

// The contents of one field, bytes, of a message. Keeps the transport's memory.
class BulkBytes {
 public:
  BulkBytes() = default;
  BulkBytes(BulkBytes&&) = default;
  BulkBytes& operator=(BulkBytes&&) = default;

  uint64_t size_bytes() const { return size_bytes_; }

  // Copies all of it to `to`, which has at least size_bytes().
  void CopyTo(std::byte* to) const;

  void AppendTo(std::string& to) const;

 private:
  friend absl::Status ParseBesideBulk(const grpc::ByteBuffer& bytes, uint32_t bulk_field_number,
                                      google::protobuf::MessageLite& message, BulkBytes& bulk);

  std::vector<grpc::Slice> slices_;
  std::vector<std::span<const uint8_t>> pieces_;
  uint64_t size_bytes_ = 0;
};

// Parses an answer into `message`, but for field `bulk_field_number`, of type bytes, which becomes
// `bulk`: empty where the answer has none, the last one where it has several. INTERNAL where the
// answer is no such message.
absl::Status ParseBesideBulk(const grpc::ByteBuffer& bytes, uint32_t bulk_field_number,
                             google::protobuf::MessageLite& message, BulkBytes& bulk);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_BULK_MESSAGE_H_
