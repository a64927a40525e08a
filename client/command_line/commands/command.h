// A subcommand of the program.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_COMMAND_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_COMMAND_H_

#include <memory>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "client/command_line/session.h"

namespace gridfold::client {

// Adds its flags to the program when it is made, and runs once these are parsed.
class Command {
 public:
  virtual ~Command() = default;

  // Whether the command line named this command.
  virtual bool IsChosen() const = 0;

  // Does it. An error carries its exit code (exit_code.h).
  virtual absl::Status Run(const Session& session) = 0;
};

std::unique_ptr<Command> MakeInfoCommand(CLI::App& program);
std::unique_ptr<Command> MakeWatchCommand(CLI::App& program);
std::unique_ptr<Command> MakeDescribeCommand(CLI::App& program);
std::unique_ptr<Command> MakeReduceCommand(CLI::App& program);
std::unique_ptr<Command> MakeScanCommand(CLI::App& program);
std::unique_ptr<Command> MakeHistogramCommand(CLI::App& program);
std::unique_ptr<Command> MakeGroupCommand(CLI::App& program);
std::unique_ptr<Command> MakeQuantileCommand(CLI::App& program);
std::unique_ptr<Command> MakeTopkCommand(CLI::App& program);
std::unique_ptr<Command> MakeRelateCommand(CLI::App& program);
std::unique_ptr<Command> MakeMergeCommand(CLI::App& program);
std::unique_ptr<Command> MakeArrayCommand(CLI::App& program);
std::unique_ptr<Command> MakeRegionCommand(CLI::App& program);
std::unique_ptr<Command> MakeHelpCommand(CLI::App& program);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_COMMAND_H_
