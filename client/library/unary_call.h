// One attempt of one call.
#ifndef GRIDFOLD_CLIENT_LIBRARY_UNARY_CALL_H_
#define GRIDFOLD_CLIENT_LIBRARY_UNARY_CALL_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/library/wire_message.h"
#include "google/protobuf/message_lite.h"
#include "gridfold/client_options.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"

namespace gridfold::client {

// What a call says beside its message.
struct CallHead {
  absl::Time deadline;
  std::string tenant;  // Empty: none.
  Priority priority = Priority::kNormal;
  std::string token = "";                        // Empty: none.
  std::string traceparent = "";                  // Empty: none.
  std::function<bool()> is_cancelled = nullptr;  // As in CallOptions.
  bool waits_while_refused = false;              // As in CallOptions.

  void ApplyTo(grpc::ClientContext& context) const;
};

// What a call that failed ends with.
absl::Status ErrorOf(const grpc::Status& status, bool is_cancelled);

// Parses an answer. INTERNAL where it is no such message.
absl::Status Parse(grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message);

// Sends `request` to `method` ("/package.Service/Method") and parses the answer into `response`.
// Returns only when nothing points at the request's arrays any more.
absl::Status CallOnce(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                      const WireMessage& request, const CallHead& head,
                      google::protobuf::MessageLite& response);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_UNARY_CALL_H_
