// Calls with deadlines and retries over a client's connections.
#ifndef GRIDFOLD_CLIENT_LIBRARY_TRANSPORT_H_
#define GRIDFOLD_CLIENT_LIBRARY_TRANSPORT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/library/async_call.h"
#include "client/library/async_calls.h"
#include "client/library/channel_pool.h"
#include "client/library/open_stream.h"
#include "client/library/retry.h"
#include "client/library/unary_call.h"
#include "client/library/wire_message.h"
#include "google/protobuf/message_lite.h"
#include "gridfold/client_options.h"
#include "gridfold/pending_call.h"

namespace gridfold::client {

// Thread-safe.
class Transport {
 public:
  // As Client::Connect.
  static absl::StatusOr<std::unique_ptr<Transport>> Connect(const ClientOptions& options);

  const ClientOptions& options() const { return options_; }

  // Whether a call may be tried again that the server may have carried out already.
  enum class Repeatable { kYes, kNo };

  // Calls `method` ("/package.Service/Method") and parses the answer into `response`.
  absl::Status Call(const std::string& method, const WireMessage& request,
                    const CallOptions& options, google::protobuf::MessageLite& response,
                    Repeatable repeatable = Repeatable::kYes);

  // As Call, of a copy of `request` and without waiting: `done` is told the answer as Done is, at
  // the latest when the transport goes. Of the options, `is_cancelled` is never asked.
  PendingCall Start(const std::string& method, const WireMessage& request,
                    const CallOptions& options, std::function<void(AsyncCall::Answer)> done,
                    Repeatable repeatable = Repeatable::kYes);

  // Begins a call of `method` that is not tried again.
  std::unique_ptr<OpenStream> Open(const std::string& method, const CallOptions& options);

  // Runs `attempt`, which makes a call over `channel`, and runs it again where the server was
  // unavailable.
  absl::Status Try(const CallOptions& options,
                   absl::FunctionRef<absl::Status(const std::shared_ptr<grpc::Channel>& channel,
                                                  const CallHead& head)>
                       attempt);

  // As Try, over the connections of large arrays: the first attempt over that of number
  // `connection`, each further one over the next. They are opened when they are used first.
  absl::Status TryPart(const CallOptions& options, size_t connection,
                       absl::FunctionRef<absl::Status(const std::shared_ptr<grpc::Channel>& channel,
                                                      const CallHead& head)>
                           attempt);

  // As many connections as large arrays have.
  size_t part_connection_count() const;

 private:
  CallHead MakeHead(const CallOptions& options) const;
  RetrySchedule Schedule(const CallHead& head) const;

  Transport(const ClientOptions& options, std::shared_ptr<grpc::ChannelCredentials> credentials)
      : options_(options),
        credentials_(std::move(credentials)),
        channels_(options, options.channel_count, credentials_) {}

  absl::Status CheckSize(const WireMessage& request) const;
  ChannelPool& PartChannels();
  AsyncCalls& StartedCalls();

  const ClientOptions options_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  ChannelPool channels_;
  absl::once_flag part_channels_once_;
  std::unique_ptr<ChannelPool> part_channels_;
  absl::once_flag started_calls_once_;
  std::unique_ptr<AsyncCalls> started_calls_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_TRANSPORT_H_
