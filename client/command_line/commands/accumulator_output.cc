#include "client/command_line/commands/accumulator_output.h"

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "client/command_line/exit_code.h"
#include "client/command_line/input/file.h"

namespace gridfold::client {

void AccumulatorOutput::AddTo(CLI::App& command, const char* flag, const std::string& what,
                              const char* group) {
  command
      .add_option(flag, path_, what + "; - writes it to standard output, and nothing else there")
      ->type_name("FILE")
      ->group(group);
}

absl::StatusOr<bool> AccumulatorOutput::Store(const std::string& accumulator) const {
  if (!is_wanted()) return true;
  const absl::Status status = WriteFile(path_, {accumulator});
  if (!status.ok()) return WithExitCode(status, ExitCode::kInputOutput);
  return path_ != "-";
}

}  // namespace gridfold::client
