// Where the server is and how it is reached, for every program that talks to one.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_CONNECTION_OPTIONS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_CONNECTION_OPTIONS_H_

#include <string>

#include "CLI/App.hpp"
#include "absl/status/statusor.h"
#include "gridfold/client_options.h"

namespace gridfold::client {

struct ConnectionOptions {
  std::string target = ClientOptions().target;
  Balancing balancing = Balancing::kFirst;
  bool use_tls = false;  // As any of the files does.
  TlsOptions tls;
  std::string token_file;  // Empty: no token.
};

// Adds --server, --balance, the --tls options and --token-file, which fill in `options`.
void AddConnectionOptions(CLI::App& program, ConnectionOptions& options);

// What Client::Connect is to know of them: the rest has its defaults. Reads the token. Errors of
// its file end the program with kInputOutput.
absl::StatusOr<ClientOptions> ToClientOptions(const ConnectionOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_CONNECTION_OPTIONS_H_
