// The flag that has a command draw its answer, and the drawing's file.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_PLOT_OUTPUT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_PLOT_OUTPUT_H_

#include <cstddef>
#include <string>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "client/command_line/report/answer.h"

namespace gridfold::client {

class PlotOutput {
 public:
  // Adds --plot to a command's group of flags.
  CLI::Option* AddTo(CLI::App& command, const char* group);

  // Before anything is asked for: whether the place for it makes sense, for so many answers.
  absl::Status Check(size_t answer_count) const;

  bool is_wanted() const { return !path_.empty(); }

  // Writes a chart of what was asked of `input`. An error carries kInputOutput; FAILED_PRECONDITION
  // where there is nothing to draw.
  absl::Status Write(const InputDescription& input, const std::string& svg) const;

 private:
  std::string path_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_PLOT_OUTPUT_H_
