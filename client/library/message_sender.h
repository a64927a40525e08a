// What the streams that compute share: the request goes with the first message, and bytes follow in
// messages of a bounded size.
#ifndef GRIDFOLD_CLIENT_LIBRARY_MESSAGE_SENDER_H_
#define GRIDFOLD_CLIENT_LIBRARY_MESSAGE_SENDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "client/library/open_stream.h"
#include "client/library/wire_message.h"
#include "google/protobuf/message_lite.h"

namespace gridfold::client {

inline constexpr size_t kStreamFieldCountMax = 4;
// The fields of a stream's messages: the request, and the first of those with bytes of arrays.
inline constexpr uint32_t kStreamHeaderField = 1;
inline constexpr uint32_t kStreamFirstDataField = 2;

// Appends how many elements a stream has sent, to its last message.
void AppendElementCount(uint64_t element_count, WireMessage& message);

class MessageSender {
 public:
  // `header` is field 1 of the first message; bytes become the fields 2 to 5, of which the
  // first has elements of `element_bytes`.
  MessageSender(std::unique_ptr<OpenStream> stream, const google::protobuf::MessageLite& header,
                uint64_t message_bytes_max, uint64_t element_bytes);

  // Sends bytes of each field. The arrays advance together, in proportion to their sizes. False
  // where the server has ended the call.
  bool Send(const std::array<std::span<const std::byte>, kStreamFieldCountMax>& fields);

  // Sends how many elements there were, so that the server knows of any that it has not got, with
  // the header if nothing else did; and says that nothing follows.
  void SendEnd();

  // Behind a Send that returned false: the error that the call has ended with. INTERNAL where the
  // server has ended it as if all was well.
  absl::Status ErrorOfEnded();

  // Behind SendEnd: the one message of the answer. Errors: those of the call; INTERNAL.
  absl::Status ReceiveOnly(google::protobuf::MessageLite& response);

  OpenStream& stream() { return *stream_; }

 private:
  // `suffix` holds further fields, encoded.
  bool SendMessage(const std::array<std::span<const std::byte>, kStreamFieldCountMax>& fields,
                   const std::string& suffix = {});

  const std::unique_ptr<OpenStream> stream_;
  std::string header_;  // Encoded, with its tag; empty once it is sent.
  const uint64_t message_bytes_max_;
  const uint64_t element_bytes_;
  uint64_t sent_bytes_ = 0;  // Of field 2.
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_MESSAGE_SENDER_H_
