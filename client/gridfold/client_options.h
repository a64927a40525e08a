// How a client connects, and how one call runs.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_OPTIONS_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "gridfold/array_transport.h"

namespace grpc {
class ChannelCredentials;
}

namespace gridfold::client {

// Calls are retried where the server was UNAVAILABLE, and on no other error: only that code says
// that a retry may help. Calls that create, delete or replace an array on the server are not
// retried: the server may have carried them out before it was lost. The wait grows exponentially;
// jitter spreads clients that one outage has aligned. A wait that would go past the call's deadline
// is not begun, and the last error is returned at once.
struct RetryPolicy {
  int attempts_max = 4;  // Including the first; 1 never retries.
  absl::Duration initial_backoff = absl::Milliseconds(50);
  absl::Duration backoff_max = absl::Seconds(2);
  double backoff_multiplier = 2;
  double jitter = 0.25;  // Each wait is longer or shorter by up to this fraction.
};

// How urgent a call is among the waiting calls of the same tenant. It has no effect on other
// tenants' calls.
enum class Priority : uint8_t { kLow, kNormal, kHigh };

// Which server a call goes to where the target has several addresses, such as "dns:///name:port"
// or "ipv4:10.0.0.1:50051,10.0.0.2:50051".
enum class Balancing : uint8_t {
  kFirst,  // The first that can be reached, until it is lost; then the next.
  // Each in turn of those that can be reached and whose health service says SERVING. Not for
  // resident arrays, regions and statistics, which belong to one server.
  kRoundRobin,
};

// TLS with the server. Paths of PEM files, which are read when the client connects.
struct TlsOptions {
  // Authorities that may have signed the server's certificate; empty: those the system trusts.
  std::string ca_file = "";
  // The client's own certificate and its key, for servers that ask for one; both or neither.
  std::string certificate_file = "";
  std::string key_file = "";
  // The name that the server's certificate must have; empty: the target's host.
  std::string server_name = "";
};

struct ClientOptions {
  // Where the server is: any gRPC target, such as "host:port", "dns:///name:port" or "unix:path".
  // An address without a port is asked at 50051.
  std::string target = "localhost:50051";
  Balancing balancing = Balancing::kFirst;
  // The tenant to whom arrays, regions and calls belong: up to 64 letters, digits and "._-/"; empty
  // is a tenant too. The server takes the caller's word for it, unless it requires a token, which
  // stands for a tenant.
  std::string tenant = "";
  // For calls that give no priority of their own.
  Priority priority = Priority::kNormal;
  // Connections, used in turn. One connection carries no more than one core of the client can
  // serialise; concurrent calls gain from more. Large arrays have connections of their own.
  int channel_count = 1;
  // For calls that give no transport of their own.
  ArrayTransport transport = ArrayTransport::kAuto;
  // Calls at the same time, each with a connection of its own, by which one large array travels; at
  // most 64. 0: as many as make it faster on a machine with so many processors.
  int stream_count = 0;
  // How long Connect waits for the connections; zero does not wait, and the first call connects.
  // Lost connections are tried again, after waits as `retry` has them (of at least 100 ms), by
  // attempts of at most this long (of 20 seconds where this is zero or more than that).
  absl::Duration connect_timeout = absl::Seconds(5);
  // A connection whose peer accepts no bytes for this long is closed, and its calls fail with
  // UNAVAILABLE. This is how a network failure in the middle of an array is noticed.
  absl::Duration stall_timeout = absl::Seconds(20);
  // For calls that give no timeout of their own.
  absl::Duration default_timeout = absl::InfiniteDuration();
  RetryPolicy retry = {};
  // Largest message sent or received. Protocol buffers allow no more than 2 GiB.
  int64_t message_bytes_max = (int64_t{1} << 31) - 1;
  // Bytes of elements in one message of a stream; fewer where the server's limit is lower.
  int64_t write_chunk_bytes = int64_t{2} << 20;
  // Nothing: no encryption, unless `credentials` provides it.
  std::optional<TlsOptions> tls = std::nullopt;
  // Sent with every call, for servers that require one. Only over TLS, or to this machine: a
  // loopback address, "localhost", or a Unix socket.
  std::string token = "";
  // Replaces `tls` and `token`; nullptr: these are used.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
};

struct CallOptions {
  // For the whole call, retries included; nothing: ClientOptions::default_timeout.
  std::optional<absl::Duration> timeout = std::nullopt;
  // Nothing: ClientOptions::priority.
  std::optional<Priority> priority = std::nullopt;
  // The caller's trace and span in the form of W3C Trace Context's "traceparent". The server's log
  // names it with the call. Empty: none. A text that a header cannot carry is not sent.
  std::string traceparent = "";
  // Lets a call be given up. It is asked every 50 ms by threads that wait for the call, and once it
  // has returned true, which it then keeps returning, the call ends with CANCELLED, on the server
  // too. Empty: the call is never given up.
  std::function<bool()> is_cancelled = nullptr;
  // Whether a call that the server refuses for now, RESOURCE_EXHAUSTED with a delay after which to
  // come again, does so, as often as there is time: for callers of many calls at once, who fill the
  // server's queue. RetryPolicy does not count these attempts.
  bool waits_while_refused = false;
  // How an array of the caller's memory travels; nothing: ClientOptions::transport.
  std::optional<ArrayTransport> transport = std::nullopt;
  // Told now and then how many of so many bytes of the caller's arrays have been handed to the
  // transport: never fewer than before, by one thread at a time, which it must not hold up. Only
  // for arrays that are not sent inline.
  std::function<void(uint64_t sent_bytes, uint64_t size_bytes)> progress = nullptr;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_OPTIONS_H_
