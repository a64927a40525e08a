#include "client/command_line/arguments/strategy_option.h"

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace gridfold::client {

void AddStrategyOption(CLI::App& command, std::string& strategy) {
  command
      .add_option("--strategy", strategy,
                  "Run it by these kernels, named as --json shows them; any other name is refused "
                  "with the list of those that can take the array. For measuring: the answer has "
                  "the same bits")
      ->type_name("NAME");
}

}  // namespace gridfold::client
