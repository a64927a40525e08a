// Which exit code follows from an error, and what is said of connections that cannot be had.
#include "client/command_line/exit_code.h"

#include <string>

#include "absl/strings/cord.h"
#include "client/command_line/connection_hint.h"
#include "client/library/connection_error.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

TEST(ExitCodeTest, FollowsFromTheError) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), ExitCode::kSuccess);
  for (int code = 1; code <= 16; ++code) {
    const bool is_unreachable = code == static_cast<int>(absl::StatusCode::kUnavailable) ||
                                code == static_cast<int>(absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(ExitCodeOf(absl::Status(static_cast<absl::StatusCode>(code), "no")),
              is_unreachable ? ExitCode::kUnreachable : ExitCode::kRequestFailed)
        << code;
  }
}

TEST(ExitCodeTest, TheFirstThatAnErrorIsGivenStays) {
  for (const ExitCode code : {ExitCode::kRequestFailed, ExitCode::kUsage, ExitCode::kUnreachable,
                              ExitCode::kInputOutput, ExitCode::kReaderGone}) {
    const absl::Status status = WithExitCode(absl::UnavailableError("no"), code);
    EXPECT_EQ(status.message(), "no");
    EXPECT_EQ(ExitCodeOf(status), code);
    EXPECT_EQ(ExitCodeOf(WithExitCode(status, ExitCode::kUsage)), code);
  }
}

// What is of use is said after the error, whose details stay.
TEST(ConnectionHintTest, EachFaultHasItsHint) {
  const struct {
    ConnectionFault fault;
    const char* hint;
  } hints[] = {{ConnectionFault::kRefused,
                "; start a server with gridfold_server, or name one with --server HOST:PORT"},
               {ConnectionFault::kUnknownHost, "; name another one with --server HOST:PORT"},
               {ConnectionFault::kTlsOnly, "; give --tls, or --tls-ca FILE with its authority"},
               {ConnectionFault::kNoTls, "; leave the --tls options out"},
               {ConnectionFault::kUntrusted, "; give --tls-ca FILE with its authority"},
               {ConnectionFault::kOtherName,
                "; name it in --server as its certificate does, or give --tls-server-name NAME"},
               {ConnectionFault::kCertificateWanted, "; give --tls-certificate and --tls-key"},
               {ConnectionFault::kProxy, "; no_proxy can name hosts that are reached without it"},
               {ConnectionFault::kNotGrpc, ""},
               {ConnectionFault::kSilent, ""},
               {ConnectionFault::kClosed, ""},
               {ConnectionFault::kOther, ""}};
  for (const auto& [fault, hint] : hints) {
    const absl::Status error = ConnectionError("no connection", {.fault = fault, .text = "why"});
    absl::Status detailed = error;
    detailed.SetPayload("detail", absl::Cord("more"));
    const absl::Status hinted = WithConnectionHint(detailed);
    EXPECT_EQ(hinted.message(), std::string(error.message()) + hint);
    EXPECT_EQ(hinted.code(), error.code());
    EXPECT_EQ(ConnectionFaultOf(hinted), fault);
    EXPECT_EQ(hinted.GetPayload("detail"), absl::Cord("more"));
  }
  const absl::Status other = absl::InternalError("broken");
  EXPECT_EQ(WithConnectionHint(other), other);
}

}  // namespace
}  // namespace gridfold::client
