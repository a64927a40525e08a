// A subcommand that has subcommands of its own, of which a command line names one.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_COMMAND_GROUP_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_COMMAND_GROUP_H_

#include <memory>
#include <string>
#include <vector>

#include "client/command_line/commands/command.h"

namespace gridfold::client {

class CommandGroup : public Command {
 public:
  CommandGroup(CLI::App& program, const std::string& name, const std::string& description,
               const char* footer)
      : command_(*program.add_subcommand(name, description)) {
    command_.footer(footer);
    command_.require_subcommand(1);
    command_.fallthrough();
  }

  // Help lists them in this order.
  template <class Subcommand>
  void Add() {
    commands_.push_back(std::make_unique<Subcommand>(command_));
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    for (const std::unique_ptr<Command>& command : commands_) {
      if (command->IsChosen()) return command->Run(session);
    }
    return absl::InternalError("no subcommand is chosen");
  }

 private:
  CLI::App& command_;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_COMMAND_GROUP_H_
