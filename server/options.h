// The command line of gridfold_server. Every option may also be given by an environment variable,
// GRIDFOLD_ and its name in capitals, or in the file that --config names. The command line takes
// precedence over the environment, and the environment over the file: whoever starts a ready-made
// set-up changes an option without touching its file.
#ifndef GRIDFOLD_SERVER_OPTIONS_H_
#define GRIDFOLD_SERVER_OPTIONS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/contract/engine.h"
#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/process/event_log.h"
#include "server/transport/security_options.h"

namespace CLI {
class App;
}

namespace gridfold::server {

struct ServerOptions {
  kernels::EngineOptions engine;
  // host:port, where port 0 takes any that is free, or unix:path.
  std::string listen = "127.0.0.1:50051";
  std::string port_file;  // Where the port is written; empty: nowhere.
  // host:port; none: metrics are off.
  std::optional<std::string> metrics_address = "127.0.0.1:9464";
  Limits limits;
  // Whether limits.resident_bytes_max, limits.queued_jobs_max and limits.queued_bytes_max were
  // asked for.
  bool has_resident_bytes = false;
  bool has_queued_jobs = false;
  bool has_queued_bytes = false;
  TenantWeights tenant_weights;
  SecurityOptions security;
  bool insecure = false;  // Allows `listen` to be open to other machines without TLS.
  std::chrono::milliseconds lame_duck{0};
  std::chrono::milliseconds grace_period = kGracePeriod;
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

// The limits of a server with these engines: where nobody says how much, resident arrays have what
// devices have room for, and as many jobs may wait for each of several devices as for one.
Limits LimitsFor(const ServerOptions& options, const std::vector<kernels::Engine*>& engines);

// The output and exit code of a program that does not serve: help, the version, or an error.
struct EarlyExit {
  int exit_code = 0;  // 0 for help and version, 2 for options that cannot be used.
  std::string text;   // For standard output where exit_code is 0, else for standard error.
};

// Shows `visit` the command line that the program takes, for whoever describes it.
void VisitCommandLine(const std::function<void(const CLI::App&)>& visit);

// Reads the environment and the configuration file as well.
std::variant<ServerOptions, EarlyExit> ParseOptions(int argc, const char* const* argv);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_OPTIONS_H_
