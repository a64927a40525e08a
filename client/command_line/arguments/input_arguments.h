// The flags that say which array is meant.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_INPUT_ARGUMENTS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_INPUT_ARGUMENTS_H_

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

// What an input may be besides a file.
enum class InputPlaces { kFile, kFileOrServer };

// How many inputs a command takes.
enum class InputCount { kOne, kSeveral };

// FILE and the flags that describe it, as text; where an array on the server is allowed too,
// --array in place of them, and --shared.
class InputArguments {
 public:
  InputArguments(CLI::App& command, InputPlaces places, InputCount count = InputCount::kOne);
  InputArguments(const InputArguments&) = delete;
  InputArguments& operator=(const InputArguments&) = delete;

  // INVALID_ARGUMENT names the flag.
  absl::StatusOr<InputOptions> ToOptions() const;

  // Of several: each file with each column, in this order. A name with *, ? or [ that is no file
  // stands for the files that match it, by name. INVALID_ARGUMENT names the flag, or the pattern
  // that nothing matches.
  absl::StatusOr<std::vector<InputOptions>> ToList() const;

  // The same for each file, whatever columns are named.
  absl::StatusOr<std::vector<InputOptions>> ToFiles() const;
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  CLI::Option& AddFile(const char* group, InputCount count);
  CLI::Option& AddColumn(const char* group, InputCount count);
  absl::Status ApplyCsvArguments(CsvOptions& csv) const;

  CLI::App& command_;
  InputOptions options_;
  std::vector<std::string> paths_;    // Of several.
  std::vector<std::string> columns_;  // Of several.
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
