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

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_GRIDFOLD_ERROR_DETAILS_H_
