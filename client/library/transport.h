// Calls with deadlines and retries over a client's connections.
#ifndef GRIDFOLD_CLIENT_LIBRARY_TRANSPORT_H_
#define GRIDFOLD_CLIENT_LIBRARY_TRANSPORT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/library/channel_pool.h"
#include "client/library/wire_message.h"
#include "google/protobuf/message_lite.h"
#include "gridfold/client_options.h"

namespace gridfold::client {

// Thread-safe.
class Transport {
 public:
  // As Client::Connect.
  static absl::StatusOr<std::unique_ptr<Transport>> Connect(const ClientOptions& options);

  // Calls `method` ("/package.Service/Method") and parses the answer into `response`.
  absl::Status Call(const std::string& method, const WireMessage& request,
                    const CallOptions& options, google::protobuf::MessageLite& response);

 private:
  explicit Transport(const ClientOptions& options) : options_(options), channels_(options) {}

  const ClientOptions options_;
  ChannelPool channels_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_TRANSPORT_H_
