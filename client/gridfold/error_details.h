// What a server's error says beyond its code and message.
//
// Each detail of a server's error is kept as a payload of the absl::Status, under its type URL
// ("type.googleapis.com/google.rpc.BadRequest" and so on), so it survives copying and annotation.
#ifndef GRIDFOLD_CLIENT_GRIDFOLD_ERROR_DETAILS_H_
#define GRIDFOLD_CLIENT_GRIDFOLD_ERROR_DETAILS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace gridfold::client {

// Path of the request's field that is at fault, for example "bins[0].even.lower_bound"; nothing
// where the error names none.
std::optional<std::string> ViolatedField(const absl::Status& status);

// How long the server asks to wait before a retry; nothing where it does not say.
std::optional<absl::Duration> RetryDelay(const absl::Status& status);

// The reason, in UPPER_SNAKE_CASE, by which programs tell errors of one code apart; nothing where
// the error gives none.
std::optional<std::string> ErrorReason(const absl::Status& status);

// What is wrong with the connection to a server.
enum class ConnectionFault : char {
  kRefused,            // Nobody listens there.
  kUnknownHost,        // The host's name is unknown.
  kSilent,             // Nobody answers.
  kClosed,             // The server hangs up, and does not say why.
  kTlsOnly,            // The client uses no TLS, the server does.
  kNoTls,              // The client uses TLS, the server does not.
  kUntrusted,          // The server's certificate is none of a trusted authority's, or has expired.
  kOtherName,          // The server's certificate is for another name.
  kCertificateWanted,  // The server hangs up, as one does that asks for a client's certificate.
  kNotGrpc,            // Something else listens there.
  kProxy,              // The proxy that the environment names.
  kOther,
};

// The fault of an UNAVAILABLE that tells of a connection; nothing of other errors.
std::optional<ConnectionFault> ConnectionFaultOf(const absl::Status& status);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ERROR_DETAILS_H_
