#include "client/library/channel_pool.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/time/clock.h"
#include "client/library/connection_error.h"
#include "client/library/grpc_lifetime.h"
#include "client/library/target.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace gridfold::client {
namespace {

// How long a call works on a connection that has failed, where it would fail at once: enough for
// one answer of the server.
constexpr absl::Duration kConnectionWork = absl::Milliseconds(20);

int Saturated(int64_t value) {
  return static_cast<int>(std::min<int64_t>(value, std::numeric_limits<int>::max()));
}

int ToMilliseconds(absl::Duration duration) {
  return Saturated(absl::ToInt64Milliseconds(duration));
}

grpc::ChannelArguments MakeArguments(const ClientOptions& options) {
  const int message_bytes_max = Saturated(options.message_bytes_max);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxSendMessageSize(message_bytes_max);
  arguments.SetMaxReceiveMessageSize(message_bytes_max);
  // Retries are the client's own: gRPC's give up on requests larger than their buffer.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A retry comes soon after the failure, so the connection must be tried again as soon.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   ToMilliseconds(options.retry.initial_backoff));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, ToMilliseconds(options.retry.backoff_max));
  if (options.connect_timeout > absl::ZeroDuration()) {
    // The name is misleading: how long one attempt may take, of which gRPC makes none meanwhile.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
                     ToMilliseconds(std::min(options.connect_timeout, kAttemptTimeMax)));
  }
  // Makes the kernel give up a peer that takes no bytes. Servers refuse pings that come more often
  // than every five minutes; what matters here is the timeout.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ToMilliseconds(absl::Minutes(5)));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ToMilliseconds(options.stall_timeout));
  if (options.balancing == Balancing::kRoundRobin) {
    arguments.SetServiceConfigJSON(
        R"({"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}})");
  }
  if (options.tls) {
    if (!options.tls->server_name.empty()) {
      arguments.SetSslTargetNameOverride(options.tls->server_name);
    }
  }
  // Whatever the environment has a proxy for: it could not reach this machine, and would see a
  // token that must not leave it.
  if (IsLocalTarget(options.target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

std::vector<std::shared_ptr<grpc::Channel>> OpenChannels(
    const ClientOptions& options, int channel_count,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  KeepGrpcRunning();
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < channel_count; ++i) {
    channels.push_back(
        grpc::CreateCustomChannel(options.target, credentials, MakeArguments(options)));
  }
  return channels;
}

}  // namespace

ChannelPool::ChannelPool(const ClientOptions& options, int channel_count,
                         const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : options_(options), channels_(OpenChannels(options, channel_count, credentials)) {}

absl::Status ChannelPool::WaitUntilConnected(absl::Duration timeout) const {
  const auto deadline = absl::ToChronoTime(absl::Now() + timeout);
  // All start at once; then each is waited for.
  for (const auto& channel : channels_) channel->GetState(/*try_to_connect=*/true);
  for (const auto& channel : channels_) {
    for (auto state = channel->GetState(true); state != GRPC_CHANNEL_READY;
         state = channel->GetState(true)) {
      if (state == GRPC_CHANNEL_TRANSIENT_FAILURE) {
        absl::Status status = WhyNotConnected(channel, options_);
        if (!status.ok()) return status;
      }
      if (!channel->WaitForStateChange(state, deadline)) return NobodyAnswers(options_, timeout);
    }
  }
  return absl::OkStatus();
}

const std::shared_ptr<grpc::Channel>& ChannelPool::NextAtOnce() {
  const auto& channel = channels_[next_.fetch_add(1, std::memory_order_relaxed) % channels_.size()];
  channel->GetState(/*try_to_connect=*/true);
  return channel;
}

const std::shared_ptr<grpc::Channel>& ChannelPool::At(size_t index) {
  const auto& channel = channels_[index % channels_.size()];
  if (channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE) {
    Connect(*channel, kConnectionWork);
  }
  return channel;
}

void ChannelPool::Wait(absl::Duration duration) const {
  Connect(*channels_[next_.load(std::memory_order_relaxed) % channels_.size()], duration);
}

void ChannelPool::Connect(grpc::Channel& channel, absl::Duration duration) {
  const auto end = absl::ToChronoTime(absl::Now() + duration);
  while (channel.WaitForStateChange(channel.GetState(/*try_to_connect=*/true), end)) {
  }
}

}  // namespace gridfold::client
