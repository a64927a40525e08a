// The flag that has a command write an accumulator, and the writing.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_ACCUMULATOR_OUTPUT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_ACCUMULATOR_OUTPUT_H_

#include <cstddef>
#include <string>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gridfold::client {

class AccumulatorOutput {
 public:
  AccumulatorOutput() = default;
  // Of a command whose flag, for other values, means something else.
  AccumulatorOutput(const char* flag, std::string path) : flag_(flag), path_(std::move(path)) {}

  // Adds `flag` to a command's group of flags; `what` begins its description.
  void AddTo(CLI::App& command, const char* flag, const std::string& what, const char* group);

  // Before anything is asked for: whether the place for it makes sense.
  absl::Status Check() const;

  // The same for a command with several inputs: there is one accumulator only.
  absl::Status CheckCount(size_t input_count) const;

  bool is_wanted() const { return !path_.empty(); }

  // Writes the accumulator if it is wanted. Gives whether there is more to print, which there is
  // not where standard output has it. An error carries kInputOutput.
  absl::StatusOr<bool> Store(const std::string& accumulator) const;

 private:
  std::string flag_;
  std::string path_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_COMMANDS_ACCUMULATOR_OUTPUT_H_
