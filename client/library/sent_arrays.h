// Arrays of the caller's memory that one call sends in messages.
#ifndef GRIDFOLD_CLIENT_LIBRARY_SENT_ARRAYS_H_
#define GRIDFOLD_CLIENT_LIBRARY_SENT_ARRAYS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "client/library/message_sender.h"
#include "client/library/unary_call.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/channel.h"

namespace gridfold::client {

// What is sent: the request, as MessageSender's header, and arrays of as many elements each, one at
// least. They are sent from where they lie, without a copy.
struct SentArrays {
  const google::protobuf::MessageLite& header;
  std::array<std::span<const std::byte>, kStreamFieldCountMax> fields;
  uint64_t element_count = 0;
};

// One attempt of a call of `method` that is answered by one message. Sends messages of about
// `message_bytes`, and tells `on_sent` how many bytes of the arrays have been handed over so far.
absl::Status SendArraysOnce(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method, const CallHead& head,
                            const SentArrays& arrays, uint64_t message_bytes,
                            absl::FunctionRef<void(uint64_t)> on_sent,
                            google::protobuf::MessageLite& response);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_SENT_ARRAYS_H_
