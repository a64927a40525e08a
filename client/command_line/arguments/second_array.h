// The flags that name arrays beside the first one: a histogram's other coordinate and weights, and
// the keys of groups.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SECOND_ARRAY_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SECOND_ARRAY_H_

#include <optional>
#include <string>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "client/command_line/input/input_options.h"

namespace gridfold::client {

// A second array: its own file, another column of the first one's, or an array on the server.
struct SecondArray {
  const char* reference_flag;
  const char* type_flag = "";  // Of `type`, where there is one.
  std::string path = "";
  std::string column = "";
  std::optional<std::string> member = std::nullopt;
  std::string type = "";
  std::string reference = "";

  bool IsGiven() const {
    return !path.empty() || !column.empty() || member.has_value() || !reference.empty();
  }
};

// How a second array is named in the flags that describe it, and in what they say.
struct SecondArrayName {
  std::string flag;   // They begin with it: --y-column.
  std::string file;   // What names its file.
  std::string whose;  // "Its" or "Their".
};

// Adds the flags of a second array beside that of its file. It outlives `command`.
void AddSecondArrayParts(CLI::App& command, const char* group, const SecondArrayName& name,
                         SecondArray& second);

// Adds --y, --weights and the flags that describe them, which fill in `y` and `weights`. These
// outlive `command`.
void AddSecondArrays(CLI::App& command, const char* group, SecondArray& y, SecondArray& weights);

// The second array is like the first, but for what `second` says. Errors end the program with
// kUsage.
absl::StatusOr<InputOptions> ToSecondOptions(const InputOptions& first, const SecondArray& second);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_SECOND_ARRAY_H_
