// How a program tells how it is used: its help, and what is wrong with a command line.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_USAGE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_USAGE_H_

#include <string>

#include "CLI/App.hpp"

namespace gridfold::client {

// Has the help of subcommands show the options of the whole program too. To be called before
// subcommands are added.
void UseHelpFormatter(CLI::App& program);

// The command that the parsed command line has chosen, a subcommand's subcommand in the end; the
// program itself where there is none.
const CLI::App& ChosenCommand(const CLI::App& program);

// What is wrong, with the command or option that may have been meant, and where there is help.
std::string DescribeUsageError(const CLI::App& program, const CLI::ParseError& error);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_USAGE_H_
