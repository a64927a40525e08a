// The `gridfold` program.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_PROGRAM_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_PROGRAM_H_

#include <ostream>

#include "client/command_line/exit_code.h"
#include "client/command_line/output/terminal.h"

namespace gridfold::client {

// Parses the command line, does what it says, and prints to `out`, and errors to `error`.
ExitCode RunProgram(int argc, const char* const* argv, const TextStyle& out_style,
                    const TextStyle& error_style, std::ostream& out, std::ostream& error);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_PROGRAM_H_
