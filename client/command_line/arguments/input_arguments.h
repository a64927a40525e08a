// The flags that say which array is meant.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_INPUT_ARGUMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_INPUT_ARGUMENTS_H_

#include <string>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

// What an input may be besides a file.
enum class InputPlaces { kFile, kFileOrServer };

// FILE and the flags that describe it, as text; where an array on the server is allowed too,
// --array in place of them, and --shared.
class InputArguments {
 public:
  InputArguments(CLI::App& command, InputPlaces places);
  InputArguments(const InputArguments&) = delete;
  InputArguments& operator=(const InputArguments&) = delete;

  // INVALID_ARGUMENT names the flag.
  absl::StatusOr<InputOptions> ToOptions() const;

 private:
  InputOptions options_;
  absl::Status ApplyCsvArguments(CsvOptions& csv) const;

  const CLI::App& command_;
  std::string reference_;
  std::string type_;
  std::string shape_;
  std::string delimiter_;
  std::string comment_;
};

// The element type called `name`; INVALID_ARGUMENT names `flag` and lists the types.
absl::StatusOr<ElementType> ParseTypeArgument(absl::string_view flag, const std::string& name);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_INPUT_ARGUMENTS_H_
