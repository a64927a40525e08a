#include "client/command_line/arguments/output_type_option.h"

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/input_arguments.h"

namespace gridfold::client {

CLI::Option* AddOutputTypeOption(CLI::App& command, std::optional<ElementType>& type,
                                 const std::string& description) {
  const std::string flag = "--output-type";
  const auto parse = [flag, &type](const std::string& name) {
    const absl::StatusOr<ElementType> parsed = ParseTypeArgument(flag, name);
    // Whose message begins with the flag, as CLI11's does.
    if (!parsed.ok()) throw CLI::ValidationError(std::string(parsed.status().message()));
    type = *parsed;
  };
  return command.add_option_function<std::string>(flag, parse, description)->type_name("TYPE");
}

}  // namespace gridfold::client
