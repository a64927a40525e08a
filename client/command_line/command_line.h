// The command line that `gridfold` takes: its options and commands.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMAND_LINE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMAND_LINE_H_

#include <memory>
#include <vector>

#include "CLI/App.hpp"
#include "client/command_line/commands/command.h"
#include "client/command_line/session.h"

namespace gridfold::client {

// Whoever parses or describes it uses `app()`. Not thread-safe.
class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App& app() { return app_; }

  // What parsing has set.
  const SessionOptions& options() const { return options_; }

  // The command that the parsed command line names, null where it names none.
  Command* chosen() const;

 private:
  CLI::App app_;
  SessionOptions options_;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMAND_LINE_H_
