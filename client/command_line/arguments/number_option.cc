#include "client/command_line/arguments/number_option.h"

#include <algorithm>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace gridfold::client {

void RefuseEmptyValues(CLI::App& app, const std::vector<std::string>& may_be_empty) {
  const auto takes_value = [&may_be_empty](const CLI::Option* option) {
    const std::string name = option->get_name();
    return option->get_items_expected_max() > 0 &&
           std::find(may_be_empty.begin(), may_be_empty.end(), name) == may_be_empty.end();
  };
  for (CLI::Option* const option : app.get_options(takes_value)) {
    option->check([](const std::string& value) {
      return std::string(value.empty() ? "is given without a value" : "");
    });
  }
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    RefuseEmptyValues(*command, may_be_empty);
  }
}

}  // namespace gridfold::client
