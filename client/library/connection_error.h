// Why a server cannot be reached, in words for whoever runs the program.
#ifndef GRIDFOLD_CLIENT_LIBRARY_CONNECTION_ERROR_H_
#define GRIDFOLD_CLIENT_LIBRARY_CONNECTION_ERROR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gridfold/client_options.h"
#include "gridfold/error_details.h"
#include "grpcpp/channel.h"

namespace gridfold::client {

// The longest that gRPC tries to connect before it tries again.
inline constexpr absl::Duration kAttemptTimeMax = absl::Seconds(20);

struct ConnectionCause {
  ConnectionFault fault = ConnectionFault::kOther;
  std::string text;  // A clause without a full stop.
};

// The cause that gRPC's message of a call without a connection tells. A message of another kind is
// its own text.
ConnectionCause ParseConnectionCause(const std::string& message);

// UNAVAILABLE that says `cause`, and after `what`, in its message, and in ConnectionFaultOf.
absl::Status ConnectionError(const std::string& what, const ConnectionCause& cause);

// Why `channel`, which was opened with `options`, has failed to connect. Asks the server again, for
// a second at most, and where it hangs up on a client without TLS, whether it speaks TLS. OK where
// the connection is there by now.
absl::Status WhyNotConnected(const std::shared_ptr<grpc::Channel>& channel,
                             const ClientOptions& options);

// The same where nobody has answered within `timeout`.
absl::Status NobodyAnswers(const ClientOptions& options, absl::Duration timeout);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_CONNECTION_ERROR_H_
