// The connections of a client.
#ifndef GRIDFOLD_CLIENT_LIBRARY_CHANNEL_POOL_H_
#define GRIDFOLD_CLIENT_LIBRARY_CHANNEL_POOL_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gridfold/client_options.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/credentials.h"

namespace gridfold::client {

// `channel_count` channels to one target, each with a connection of its own: left to itself gRPC
// shares one connection between channels of equal settings. Thread-safe.
class ChannelPool {
 public:
  ChannelPool(const ClientOptions& options,
              const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Waits until every channel is connected. UNAVAILABLE where one fails to, or after `timeout`.
  absl::Status WaitUntilConnected(absl::Duration timeout) const;

  // The channels in turn.
  const std::shared_ptr<grpc::Channel>& Next();

 private:
  const std::string target_;
  const std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_CHANNEL_POOL_H_
