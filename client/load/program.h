// The `gridfold_load` program.
#ifndef GRIDFOLD_CLIENT_LOAD_PROGRAM_H_
#define GRIDFOLD_CLIENT_LOAD_PROGRAM_H_

#include <atomic>
#include <functional>
#include <ostream>
#include <string>

#include "CLI/App.hpp"
#include "client/command_line/exit_code.h"
#include "client/command_line/output/terminal.h"

namespace gridfold::load {

// Shows `visit` the command line that the program takes, for whoever describes it.
void VisitCommandLine(const std::function<void(const CLI::App&)>& visit);

// Parses the command line, does what it says, and prints the report to `out`, and errors to
// `error`. While the load runs it is shown by `show`, where there is one. When `is_interrupted`
// becomes true the run ends, with its report.
client::ExitCode RunProgram(int argc, const char* const* argv,
                            const std::atomic<bool>& is_interrupted,
                            const std::function<void(const std::string&)>& show,
                            const client::TextStyle& out_style,
                            const client::TextStyle& error_style, std::ostream& out,
                            std::ostream& error);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_PROGRAM_H_
