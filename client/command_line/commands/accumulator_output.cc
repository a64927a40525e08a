#include "client/command_line/commands/accumulator_output.h"

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/output/output_file.h"
#include "client/command_line/output/standard_output.h"

namespace gridfold::client {

void AccumulatorOutput::AddTo(CLI::App& command, const char* flag, const std::string& what,
                              const char* group) {
  flag_ = flag;
  command
      .add_option(flag, path_, what + "; - writes it to standard output, and nothing else there")
      ->type_name("FILE")
      ->group(group);
}

absl::Status AccumulatorOutput::Check() const { return CheckBinaryOutput(flag_, path_); }

absl::Status AccumulatorOutput::CheckCount(size_t input_count) const {
  if (!is_wanted() || input_count <= 1) return absl::OkStatus();
  return WithExitCode(
      absl::InvalidArgumentError(absl::StrCat(
          flag_, ": an accumulator is that of one input, and there are ", input_count)),
      ExitCode::kUsage);
}

absl::StatusOr<bool> AccumulatorOutput::Store(const std::string& accumulator) const {
  if (!is_wanted()) return true;
  const absl::Status status = WriteFile(path_, {accumulator});
  if (!status.ok()) return WithExitCode(status, ExitCode::kInputOutput);
  return path_ != "-";
}

}  // namespace gridfold::client
