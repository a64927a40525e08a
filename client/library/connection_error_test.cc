// What is said of connections that cannot be had. The texts are gRPC's, of Debian 12 with OpenSSL;
// client/cli/connection_error_test.py meets the faults themselves.
#include "client/library/connection_error.h"

#include <string>
#include <vector>

#include "client/library/status_conversion.h"
#include "gmock/gmock.h"
#include "gridfold/client.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  const char* message;
  ConnectionFault fault;
  const char* text;
};

const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to "
       "connect to remote host: Connection refused",
       ConnectionFault::kRefused, "connection refused"},
      {"failed to connect to all addresses; last error: UNKNOWN: unix:/tmp/s: No such file or "
       "directory",
       ConnectionFault::kRefused, "no such socket"},
      {"DNS resolution failed for no-such-host.invalid:50051: C-ares status is not ARES_SUCCESS "
       "qtype=AAAA name=no-such-host.invalid is_balancer=0: Domain name not found",
       ConnectionFault::kUnknownHost, "no host of that name"},
      {"failed to connect to all addresses; last error: UNAVAILABLE: ipv4:127.0.0.1:2: Socket "
       "closed",
       ConnectionFault::kClosed, "closed the connection"},
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:2: Ssl handshake "
       "failed: SSL_ERROR_SSL: error:0A00010B:SSL routines::wrong version number",
       ConnectionFault::kNoTls, "does not speak TLS"},
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:2: Ssl handshake "
       "failed: SSL_ERROR_SSL: error:1000007d:SSL routines:OPENSSL_internal:"
       "CERTIFICATE_VERIFY_FAILED",
       ConnectionFault::kUntrusted, "not trusted"},
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:2: Peer name "
       "127.0.0.1 is not in peer certificate",
       ConnectionFault::kOtherName, "not for the name 127.0.0.1"},
      {"failed to connect to all addresses; last error: INTERNAL: ipv4:127.0.0.1:2: Trying to "
       "connect an http1.x server",
       ConnectionFault::kNotGrpc, "HTTP/1"},
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:2: HTTP proxy "
       "returned response code 403",
       ConnectionFault::kProxy, "code 403"},
      {"failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:2: Failed to "
       "connect to remote host: No route to host",
       ConnectionFault::kOther, "no route to host"},
  };
  return *cases;
}

TEST(ConnectionErrorTest, EachCauseHasItsFaultAndItsWords) {
  for (const Case& one : Cases()) {
    const ConnectionCause cause = ParseConnectionCause(one.message);
    EXPECT_EQ(cause.fault, one.fault) << one.message;
    EXPECT_THAT(cause.text, HasSubstr(one.text));
  }
}

TEST(ConnectionErrorTest, CallsThatFindNoConnectionSayTheSame) {
  for (const Case& one : Cases()) {
    const absl::Status status =
        ToAbslStatus(grpc::Status(grpc::StatusCode::UNAVAILABLE, one.message));
    EXPECT_TRUE(absl::IsUnavailable(status));
    EXPECT_EQ(ConnectionFaultOf(status), one.fault);
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("all addresses")));
  }
}

TEST(ConnectionErrorTest, OtherErrorsStayAsTheyAre) {
  const absl::Status drained =
      ToAbslStatus(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is draining"));
  EXPECT_EQ(drained, absl::UnavailableError("the server is draining"));
  EXPECT_FALSE(ConnectionFaultOf(drained));
  EXPECT_FALSE(ConnectionFaultOf(absl::OkStatus()));
}

TEST(ConnectionErrorTest, ConnectTellsTheCause) {
  const absl::Status refused = Client::Connect({.target = "127.0.0.1:1"}).status();
  EXPECT_EQ(ConnectionFaultOf(refused), ConnectionFault::kRefused);
  EXPECT_EQ(refused.message(), "cannot connect to 127.0.0.1:1: connection refused");
  const absl::Status no_socket = Client::Connect({.target = "unix:/nowhere/socket"}).status();
  EXPECT_EQ(ConnectionFaultOf(no_socket), ConnectionFault::kRefused);
  const absl::Status url = Client::Connect({.target = "http://127.0.0.1:1"}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(url)) << url;
}

TEST(ConnectionErrorTest, AProxyThatFailsIsNamed) {
  setenv("http_proxy", "http://me:secret@127.0.0.1:1", 1);
  const absl::Status status = Client::Connect({.target = "gridfold.invalid:50051"}).status();
  unsetenv("http_proxy");
  EXPECT_EQ(ConnectionFaultOf(status), ConnectionFault::kProxy);
  EXPECT_EQ(
      status.message(),
      "cannot connect to gridfold.invalid:50051 through the proxy 127.0.0.1:1 that http_proxy "
      "names: connection refused");
}

}  // namespace
}  // namespace gridfold::client
