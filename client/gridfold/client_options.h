// How a client connects, and how one call runs.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_OPTIONS_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace grpc {
class ChannelCredentials;
}

namespace gridfold::client {

// Calls are tried again where the server was UNAVAILABLE, and on no other error: only that code
// says that trying again may help. Calls that make, delete or replace an array on the server are
// not: that server may have carried them out before it was lost. The wait grows exponentially;
// jitter spreads the clients that one outage has aligned. No wait goes past the call's deadline:
// where it would, the last error is returned at once.
struct RetryPolicy {
  int attempts_max = 4;  // The first included; 1 never tries again.
  absl::Duration initial_backoff = absl::Milliseconds(50);
  absl::Duration backoff_max = absl::Seconds(2);
  double backoff_multiplier = 2;
  double jitter = 0.25;  // Each wait is longer or shorter by up to this fraction.
};

// How urgent a call is among those of the same tenant that wait for the server; it gets no call
// before another tenant's.
enum class Priority : uint8_t { kLow, kNormal, kHigh };

// Which server calls go to where a target has several addresses, as "dns:///name:port" may, or
// "ipv4:10.0.0.1:50051,10.0.0.2:50051".
enum class Balancing : uint8_t {
  kFirst,  // The first that can be reached, until it is lost; then the next.
  // Each in turn of those that can be reached and whose standard health service says SERVING.
  // Resident arrays, regions and statistics are one server's, so this is not for them.
  kRoundRobin,
};

// TLS with the server. Paths of PEM files, which are read when the client connects.
struct TlsOptions {
  // Authorities that the server's certificate may come from; empty: those that the system trusts.
  std::string ca_file = "";
  // The client's own certificate and its key, for servers that ask for one; both or neither.
  std::string certificate_file = "";
  std::string key_file = "";
  // The name that the server's certificate must have; empty: the target's host.
  std::string server_name = "";
};

struct ClientOptions {
  // Where the server is: any gRPC target, such as "host:port", "dns:///name:port" or "unix:path".
  std::string target = "localhost:50051";
  Balancing balancing = Balancing::kFirst;
  // Whose arrays on the server are meant: up to 64 letters, digits and "._-/"; empty: nobody's in
  // particular. The server takes the caller's word for it, unless it asks for a token, which stands
  // for a tenant.
  std::string tenant = "";
  // For calls that give no priority of their own.
  Priority priority = Priority::kNormal;
  // Connections, used in turn. One connection carries no more than one core of the client can
  // serialise; several calls at a time, or large arrays, gain from more.
  int channel_count = 1;
  // How long Connect waits for the connections; zero does not wait, and the first call connects.
  absl::Duration connect_timeout = absl::Seconds(5);
  // A connection whose peer takes no bytes for this long is given up, and its calls fail with
  // UNAVAILABLE: how a network that broke in the middle of an array shows.
  absl::Duration stall_timeout = absl::Seconds(20);
  // For calls that give no timeout of their own.
  absl::Duration default_timeout = absl::InfiniteDuration();
  RetryPolicy retry = {};
  // Largest message sent or received. Protocol buffers allow no more than 2 GiB.
  int64_t message_bytes_max = (int64_t{1} << 31) - 1;
  // Bytes of elements in one message of WriteArray; fewer where the server does not take so many.
  int64_t write_chunk_bytes = int64_t{2} << 20;
  // Nothing: no encryption, unless `credentials` has it.
  std::optional<TlsOptions> tls = std::nullopt;
  // Sent with every call, for servers that ask for one. Only over TLS, or to this machine itself:
  // a loopback address, "localhost", or a Unix socket.
  std::string token = "";
  // In place of `tls` and `token`; nullptr: what they say.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
};

struct CallOptions {
  // For the whole call, retries included; nothing: ClientOptions::default_timeout.
  std::optional<absl::Duration> timeout = std::nullopt;
  // Nothing: ClientOptions::priority.
  std::optional<Priority> priority = std::nullopt;
  // The caller's trace and span, as W3C Trace Context writes them in "traceparent", which the
  // server's log then names beside the call; empty: none. One that no header can carry is not sent.
  std::string traceparent = "";
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_CLIENT_OPTIONS_H_
