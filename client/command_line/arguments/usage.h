// How a program tells how it is used: its help, and what is wrong with a command line.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_USAGE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_USAGE_H_

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"

namespace gridfold::client {

// Has the help of subcommands show the options of the whole program too. To be called before
// subcommands are added.
void UseHelpFormatter(CLI::App& program);

// The command that the parsed command line has chosen, a subcommand's subcommand in the end; the
// program itself where there is none.
const CLI::App& ChosenCommand(const CLI::App& program);

// The names of the commands right below `app`.
std::vector<std::string> CommandNames(const CLI::App& app);

// The name of a command with those of the commands above it: "gridfold array put".
std::string FullName(const CLI::App& command);

// The help of the command at the end of `path`, which leads there from `program` and is empty for
// the program itself. Error: `path` names a command that is none.
absl::StatusOr<std::string> HelpOf(const CLI::App& program, const std::vector<std::string>& path);

// What is wrong, with the command or option that may have been meant, and where there is help.
std::string DescribeUsageError(const CLI::App& program, const CLI::ParseError& error);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_USAGE_H_
