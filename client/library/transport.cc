#include "client/library/transport.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/library/array_route.h"
#include "client/library/cancellation.h"
#include "client/library/retry.h"
#include "client/library/security.h"
#include "client/library/target.h"

namespace gridfold::client {
namespace {

absl::Status Validate(const ClientOptions& options) {
  if (absl::Status status = CheckTarget(options.target); !status.ok()) return status;
  if (options.channel_count < 1) {
    return absl::InvalidArgumentError("channel_count: must be at least 1");
  }
  if (options.stream_count < 0 || options.stream_count > kStreamCountCeiling) {
    return absl::InvalidArgumentError(
        absl::StrCat("stream_count: must be in [0, ", kStreamCountCeiling, "]"));
  }
  if (options.stall_timeout < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError("stall_timeout: must be at least 1 ms");
  }
  if (options.message_bytes_max < 1) {
    return absl::InvalidArgumentError("message_bytes_max: must be at least 1");
  }
  if (options.write_chunk_bytes < 8) {
    return absl::InvalidArgumentError("write_chunk_bytes: must be at least 8, one element's");
  }
  if (!IsHeaderText(options.tenant)) {
    return absl::InvalidArgumentError("tenant: must be printable characters without spaces");
  }
  if (absl::Status status = CheckSecurity(options); !status.ok()) return status;
  const RetryPolicy& retry = options.retry;
  if (retry.attempts_max < 1) {
    return absl::InvalidArgumentError("retry.attempts_max: must be at least 1");
  }
  if (retry.initial_backoff <= absl::ZeroDuration() || retry.backoff_max < retry.initial_backoff) {
    return absl::InvalidArgumentError(
        "retry.initial_backoff: must be positive and not greater than retry.backoff_max");
  }
  if (!(retry.backoff_multiplier >= 1)) {
    return absl::InvalidArgumentError("retry.backoff_multiplier: must be at least 1");
  }
  if (!(retry.jitter >= 0 && retry.jitter <= 1)) {
    return absl::InvalidArgumentError("retry.jitter: must be in [0, 1]");
  }
  return absl::OkStatus();
}

// Works on the connection while it waits for a retry.
class ConnectingEnvironment : public RetryEnvironment {
 public:
  ConnectingEnvironment(const ChannelPool& channels, const Cancellation& cancellation)
      : channels_(channels), cancellation_(cancellation) {}

  absl::Time Now() override { return absl::Now(); }
  void Sleep(absl::Duration duration) override {
    const absl::Time end = Now() + duration;
    while (!cancellation_.IsCancelled() && Now() < end) {
      channels_.Wait(std::min(end - Now(), kCancellationInterval));
    }
  }
  double RandomFraction() override { return SystemRandomFraction(); }

 private:
  const ChannelPool& channels_;
  const Cancellation& cancellation_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Connect(const ClientOptions& given) {
  if (absl::Status status = Validate(given); !status.ok()) return status;
  ClientOptions options = given;
  options.target = WithDefaultPort(given.target);
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials = MakeCredentials(options);
  if (!credentials.ok()) return credentials.status();
  auto transport = absl::WrapUnique(new Transport(options, *std::move(credentials)));
  if (options.connect_timeout > absl::ZeroDuration()) {
    absl::Status status = transport->channels_.WaitUntilConnected(options.connect_timeout);
    if (!status.ok()) return status;
  }
  return transport;
}

absl::Status Transport::CheckSize(const WireMessage& request) const {
  const int64_t limit = options_.message_bytes_max;
  if (request.size_bytes() <= static_cast<uint64_t>(limit)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the request is ", request.size_bytes(),
                                                   " bytes, message_bytes_max is ", limit));
}

absl::Status Transport::Call(const std::string& method, const WireMessage& request,
                             const CallOptions& options, google::protobuf::MessageLite& response,
                             Repeatable repeatable) {
  if (absl::Status status = CheckSize(request); !status.ok()) return status;
  if (repeatable == Repeatable::kNo) {
    return CallOnce(channels_.Next(), method, request, MakeHead(options), response);
  }
  return Try(options, [&](const std::shared_ptr<grpc::Channel>& channel, const CallHead& head) {
    return CallOnce(channel, method, request, head, response);
  });
}

PendingCall Transport::Start(const std::string& method, const WireMessage& request,
                             const CallOptions& options,
                             std::function<void(AsyncCall::Answer)> done, Repeatable repeatable) {
  if (absl::Status status = CheckSize(request); !status.ok()) {
    done(std::move(status));
    return PendingCall();
  }
  const CallHead head = MakeHead(options);
  const RetrySchedule schedule =
      repeatable == Repeatable::kYes
          ? Schedule(head)
          : RetrySchedule({.attempts_max = 1}, head.deadline, head.waits_while_refused);
  return StartedCalls().Start(method, request.Copy(), head, schedule, std::move(done));
}

std::unique_ptr<OpenStream> Transport::Open(const std::string& method, const CallOptions& options) {
  return std::make_unique<OpenStream>(channels_.Next(), method, MakeHead(options));
}

absl::Status Transport::Try(
    const CallOptions& options,
    absl::FunctionRef<absl::Status(const std::shared_ptr<grpc::Channel>&, const CallHead&)>
        attempt) {
  const CallHead head = MakeHead(options);
  const Cancellation cancellation(head.is_cancelled);
  ConnectingEnvironment environment(channels_, cancellation);
  return RetryWhileUnavailable(Schedule(head), environment, [&] {
    return cancellation.IsCancelled() ? Cancellation::Error() : attempt(channels_.Next(), head);
  });
}

absl::Status Transport::TryPart(
    const CallOptions& options, size_t connection,
    absl::FunctionRef<absl::Status(const std::shared_ptr<grpc::Channel>&, const CallHead&)>
        attempt) {
  const CallHead head = MakeHead(options);
  ChannelPool& channels = PartChannels();
  const Cancellation cancellation(head.is_cancelled);
  ConnectingEnvironment environment(channels, cancellation);
  return RetryWhileUnavailable(Schedule(head), environment, [&] {
    return cancellation.IsCancelled() ? Cancellation::Error()
                                      : attempt(channels.At(connection++), head);
  });
}

size_t Transport::part_connection_count() const {
  return options_.stream_count > 0 ? static_cast<size_t>(options_.stream_count)
                                   : StreamsOfMachine(ProcessorCount());
}

ChannelPool& Transport::PartChannels() {
  absl::call_once(part_channels_once_, [this] {
    part_channels_ = std::make_unique<ChannelPool>(
        options_, static_cast<int>(part_connection_count()), credentials_);
  });
  return *part_channels_;
}

AsyncCalls& Transport::StartedCalls() {
  absl::call_once(started_calls_once_,
                  [this] { started_calls_ = std::make_unique<AsyncCalls>(channels_); });
  return *started_calls_;
}

RetrySchedule Transport::Schedule(const CallHead& head) const {
  return RetrySchedule(options_.retry, head.deadline, head.waits_while_refused);
}

CallHead Transport::MakeHead(const CallOptions& options) const {
  return {.deadline = absl::Now() + options.timeout.value_or(options_.default_timeout),
          .tenant = options_.tenant,
          .priority = options.priority.value_or(options_.priority),
          .token = options_.token,
          .traceparent = options.traceparent,
          .is_cancelled = options.is_cancelled,
          .waits_while_refused = options.waits_while_refused};
}

}  // namespace gridfold::client
