// What to do about a server that cannot be reached, in terms of the command line.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_CONNECTION_HINT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_CONNECTION_HINT_H_

#include "absl/status/status.h"

namespace gridfold::client {

// `status` of a client that could not be had, with the option that may help behind its message,
// where one may.
absl::Status WithConnectionHint(const absl::Status& status);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_CONNECTION_HINT_H_
