// The configuration file of the command line, and the profiles in it.
//
//   server = "gpu-host:50051"           # For every call,
//   tls-ca = "/etc/ssl/ours.pem"
//
//   [profile.test]                      # and with --profile test these instead.
//   server = "localhost:50051"
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_CONFIGURATION_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_CONFIGURATION_H_

#include "CLI/App.hpp"

namespace gridfold::client {

// Adds --config and --profile. The file sets options of `program` itself, by their long names: what
// the command line says goes before what the environment says, and that before the profile, and
// that before the rest of the file. Called when the program's other options have been added.
//
// A misspelt option, a section that is no profile, and a profile that the file does not have are
// errors of parsing. There need be no file where the command line and the environment name none:
// ~/.config/gridfold/config.toml, or the same in XDG_CONFIG_HOME.
void AddConfiguration(CLI::App& program);

// Refuses, as an error of parsing, a variable of the environment that an option is to have its
// value from and does not take: some releases of CLI11 (2.4) skip it. Called when `program` has
// parsed; programs with AddConfiguration need not.
void CheckVariables(const CLI::App& program);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_CONFIGURATION_H_
