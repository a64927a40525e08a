// One number or truth value as text.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SCALAR_TEXT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SCALAR_TEXT_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "gridfold/empty_group.h"

namespace gridfold::client {

// An integer where `text` is one of 64 bits, "true" or "false", or else a floating-point number,
// which "nan" and "inf" are too. Nothing for other text.
std::optional<Scalar> ParseScalar(absl::string_view text);

// The policy that "error", "nan" or "null" names, or the value that other text is. Nothing for what
// is none.
std::optional<EmptyGroup> ParseEmptyGroup(absl::string_view text);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SCALAR_TEXT_H_
