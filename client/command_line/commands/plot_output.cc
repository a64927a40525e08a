#include "client/command_line/commands/plot_output.h"

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/plot/plot_file.h"

namespace gridfold::client {

CLI::Option* PlotOutput::AddTo(CLI::App& command, const char* group) {
  return command
      .add_option(
          "--plot", path_,
          "Draw the answer as well: .svg, a page where the name ends in .html, or .png, for "
          "which rsvg-convert is needed")
      ->type_name("FILE")
      ->group(group);
}

absl::Status PlotOutput::Check(size_t answer_count) const {
  if (!is_wanted()) return absl::OkStatus();
  absl::Status status = CheckPlotPath(path_);
  if (status.ok() && answer_count > 1) {
    status = absl::InvalidArgumentError(
        absl::StrCat("--plot: draws one answer, and there are ", answer_count, " inputs"));
  }
  return status.ok() ? status : WithExitCode(status, ExitCode::kUsage);
}

absl::Status PlotOutput::Write(const InputDescription& input, const std::string& svg) const {
  const std::string title =
      absl::StrCat(input.source, input.column.empty() ? "" : ", column ", input.column);
  absl::Status status = svg.empty() ? absl::FailedPreconditionError(absl::StrCat(
                                          "--plot: of ", title, " there is nothing to draw"))
                                    : WritePlot(path_, title, svg);
  return status.ok() ? status : WithExitCode(status, ExitCode::kInputOutput);
}

}  // namespace gridfold::client
