// What somebody may have meant who wrote a name that there is not.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SUGGESTION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SUGGESTION_H_

#include <span>
#include <string>

#include "absl/strings/string_view.h"

namespace gridfold::client {

// "; did you mean NAME?" with the name nearest to `text`, by letters that are wrong, missing, too
// many or swapped, or that begins with it; empty where none is near.
std::string DidYouMean(absl::string_view text, std::span<const std::string> names);

// "'TEXT' is none of A, B, C" and DidYouMean: of a value that must be one of some.
std::string NoneOf(absl::string_view text, std::span<const std::string> names);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SUGGESTION_H_
