// The flag that names the strategy which is to run an operation.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STRATEGY_OPTION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STRATEGY_OPTION_H_

#include <string>

#include "CLI/App.hpp"

namespace gridfold::client {

// Adds --strategy, whose value goes to `strategy`, which must outlive the command.
void AddStrategyOption(CLI::App& command, std::string& strategy);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_STRATEGY_OPTION_H_
