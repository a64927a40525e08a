// From the fields of requests, which errors of the server name, to the options they came from.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_FIELD_OPTION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_FIELD_OPTION_H_

#include <string>

#include "CLI/App.hpp"
#include "absl/status/status.h"

namespace gridfold::client {

// The option of `command` that the field came from, "--bins" of "bins[0].even.bin_count": of
// several the one that was given. Of an option that was given several times, with the value at
// fault. Empty where no option stands for the field.
std::string OptionOfField(const CLI::App& command, const std::string& field);

// The message of an error in a call or in the options of a client: with the option in place of the
// field's path at its beginning, where there is one.
std::string MessageWithOption(const CLI::App& command, const absl::Status& status);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_FIELD_OPTION_H_
