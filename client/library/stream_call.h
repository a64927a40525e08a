// One attempt of one streaming call.
#ifndef GRIDFOLD_CLIENT_LIBRARY_STREAM_CALL_H_
#define GRIDFOLD_CLIENT_LIBRARY_STREAM_CALL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "client/library/unary_call.h"
#include "client/library/wire_message.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/byte_buffer.h"

namespace gridfold::client {

// Sends what `next_request` returns, one message after the other until there is none, and then
// gives every answer to `on_response`, whose error ends the call. At most one message of either
// direction is held. Returns only when nothing points at the requests' bytes any more.
absl::Status StreamOnce(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                        const CallHead& head,
                        absl::FunctionRef<std::optional<WireMessage>()> next_request,
                        absl::FunctionRef<absl::Status(grpc::ByteBuffer&)> on_response);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_STREAM_CALL_H_
