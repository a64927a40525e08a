// Options whose value is a number, which is taken strictly.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_NUMBER_OPTION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_NUMBER_OPTION_H_

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/number_parsing.h"

namespace gridfold::client {

// Adds an option whose value, a whole number from `smallest` to `largest`, is written to `target`,
// which must outlive `app`. Other text is an error that names the option and the range.
template <std::integral Integer, typename Target>
CLI::Option* AddNumberOption(CLI::App& app, const std::string& name, Target& target,
                             const std::string& description,
                             Integer smallest = std::numeric_limits<Integer>::min(),
                             Integer largest = std::numeric_limits<Integer>::max()) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &target, smallest, largest](const std::string& text) {
            const std::optional<Integer> value = ParseStrictly<Integer>(text);
            if (!value || *value < smallest || *value > largest) {
              throw CLI::ValidationError(
                  name, absl::StrCat("'", text, "' is not a whole number from ", smallest, " to ",
                                     largest));
            }
            target = *value;
          },
          description)
      ->type_name("N");
}

// Makes an empty value an error for every option of `app` and its subcommands, but for those of
// `may_be_empty`: it would count as not given. Called when all options have been added.
void RefuseEmptyValues(CLI::App& app, const std::vector<std::string>& may_be_empty);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_NUMBER_OPTION_H_
