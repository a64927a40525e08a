// gridfold help: the help of the program or of one of its commands.
#include <memory>
#include <string>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "client/command_line/arguments/usage.h"
#include "client/command_line/commands/command.h"

namespace gridfold::client {
namespace {

constexpr char kHelpFooter[] = R"(
Examples:
  gridfold help
  gridfold help reduce          as gridfold reduce --help
  gridfold help array put
)";

class HelpCommand : public Command {
 public:
  explicit HelpCommand(CLI::App& program)
      : program_(program), command_(*program.add_subcommand("help", "Tell how a command is used")) {
    command_.footer(kHelpFooter);
    command_.add_option("COMMAND", path_, "The command, and the one below it where there is one");
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::string> help = HelpOf(program_, path_);
    if (!help.ok()) return WithExitCode(help.status(), ExitCode::kUsage);
    session.out() << *help;
    return absl::OkStatus();
  }

 private:
  CLI::App& program_;
  CLI::App& command_;
  std::vector<std::string> path_;
};

}  // namespace

std::unique_ptr<Command> MakeHelpCommand(CLI::App& program) {
  return std::make_unique<HelpCommand>(program);
}

}  // namespace gridfold::client
