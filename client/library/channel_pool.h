// The connections of a client.
#ifndef GRIDFOLD_CLIENT_LIBRARY_CHANNEL_POOL_H_
#define GRIDFOLD_CLIENT_LIBRARY_CHANNEL_POOL_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gridfold/client_options.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/credentials.h"

namespace gridfold::client {

// Some channels to one target, each with a connection of its own: left to itself gRPC
// shares one connection between channels of equal settings. Thread-safe.
class ChannelPool {
 public:
  ChannelPool(const ClientOptions& options, int channel_count,
              const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  // Waits until every channel is connected. UNAVAILABLE says why one fails to, or that it has taken
  // longer than `timeout`.
  absl::Status WaitUntilConnected(absl::Duration timeout) const;

  // The channels in turn. One that has failed to connect is worked on for a moment.
  const std::shared_ptr<grpc::Channel>& Next() {
    return At(next_.fetch_add(1, std::memory_order_relaxed));
  }

  // The next channel for a call that nobody waits for: where it has failed to connect, the call
  // fails at once, and the channel is told to try again.
  const std::shared_ptr<grpc::Channel>& NextAtOnce();

  // The channel of number `index` modulo their count.
  const std::shared_ptr<grpc::Channel>& At(size_t index);

  // Waits for `duration`, and works on the connection of the next channel meanwhile.
  void Wait(absl::Duration duration) const;

 private:
  // gRPC works on a connection in the threads of those who wait for something of it. Where all
  // calls fail at once nobody does, but for a poll every five seconds: each step of a new
  // connection would take as long.
  static void Connect(grpc::Channel& channel, absl::Duration duration);

  const ClientOptions options_;
  const std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_CHANNEL_POOL_H_
