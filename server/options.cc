#include "server/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <istream>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/version.h"
#include "server/option_kinds.h"
#include "server/process/allowed_memory.h"
#include "server/special_options.h"
#include "server/transport/listen_address.h"

namespace gridfold::server {

namespace {

constexpr int kUsageExitCode = 2;
constexpr char kMaxAnswerBytes[] = "--max-answer-bytes";

const std::map<std::string, kernels::EngineKind> kEngineKinds = {
    {"auto", kernels::EngineKind::kAuto},
    {"cuda", kernels::EngineKind::kCuda},
    {"cpu", kernels::EngineKind::kCpu},
};
const std::map<std::string, LogLevel> kLogLevels = {
    {"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo}, {"warning", LogLevel::kWarning},
    {"error", LogLevel::kError}, {"off", LogLevel::kOff},
};
const std::map<std::string, bool> kSwitch = {{"off", false}, {"on", true}};
const std::map<std::string, LogFormat> kLogFormats = {
    {"text", LogFormat::kText},
    {"json", LogFormat::kJson},
};

// Empty where it is not set; CLI11 takes an empty variable for none.
std::string Variable(const std::string& name) {
  const char* const value = name.empty() ? nullptr : std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// The configuration file without the options that are given by the environment.
class ConfigBelowEnvironment : public CLI::ConfigBase {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> options = CLI::ConfigBase::from_config(input);
    std::erase_if(options, [](const CLI::ConfigItem& item) {
      return item.parents.empty() && !Variable(EnvironmentName("--" + item.name)).empty();
    });
    return options;
  }
};

// Some releases of CLI11 (2.4) skip a variable whose value its option does not take.
void CheckVariables(const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options()) {
    const std::string value = Variable(option->get_envname());
    if (value.empty() || option->count() > 0) continue;
    throw CLI::ValidationError(option->get_envname(),
                               absl::StrCat(value, " is no value of ", option->get_name()));
  }
}

void AddSecurity(CLI::App& app, ServerOptions& options) {
  TlsFiles& tls = options.security.tls;
  AddPath(app, "--tls-certificate", tls.certificate,
          "Certificate of the server, PEM, with its intermediates after it: connections are "
          "encrypted. Read again when it changes, as all of these files are");
  AddPath(app, "--tls-key", tls.key, "The certificate's private key, PEM");
  AddPath(app, "--tls-client-ca", tls.client_ca,
          "Only callers with a certificate of one of these authorities can connect, PEM");
  AddPath(app, "--token-file", options.security.token_file,
          "Only callers with one of the tokens whose hashes this file has can call, as the tenant "
          "that it names, within the limits that it sets");
  AddPath(
      app, "--audit-log", options.security.audit_log,
      "Note who called what, with which arrays and outcome, in this file, or between the lines of "
      "the log where it is stderr: a JSON object for each call");
  AddFlag(
      app, "--insecure", options.insecure,
      "Let other machines connect without encryption, where --listen is not a loopback address");
  AddChoice(app, "--reflection", options.security.reflection, kSwitch,
            "Whether the server describes its services to whoever asks (gRPC reflection)");
}

constexpr char kResidentBytes[] = "--resident-bytes";
constexpr char kMaxQueuedJobs[] = "--max-queued-jobs";
constexpr char kMaxQueuedBytes[] = "--max-queued-bytes";
// Of the memory that the process may have, what several devices' requests may take while they wait.
constexpr uint64_t kQueueMemoryPart = 8;

void AddAllOptions(CLI::App& app, ServerOptions& options) {
  Limits& limits = options.limits;
  app.set_version_flag("-V,--version", absl::StrCat("gridfold_server ", Version()));
  // CLI11 looks for the file before it looks at the environment; so here it is given as a default,
  // and the file's options that the environment has too are left out.
  const std::string config = Variable("GRIDFOLD_CONFIG");
  app.set_config("--config", config,
                 "Read options from this file, in TOML or INI form (Env:GRIDFOLD_CONFIG)",
                 /*config_required=*/!config.empty())
      ->type_name("PATH");
  app.config_formatter(std::make_shared<ConfigBelowEnvironment>());
  // A misspelt name in the file is an error, as it is on the command line.
  app.allow_config_extras(CLI::config_extras_mode::error);

  AddChoice(app, "--engine", options.engine.kind, kEngineKinds,
            "Engine that runs the jobs; auto takes a GPU where there is one");
  AddListen(app, options.listen);
  AddPath(app, "--port-file", options.port_file,
          "Write the port, 0 of a Unix socket, to this file once requests are accepted");
  AddSecurity(app, options);
  AddMetricsAddress(app, options.metrics_address);
  AddNumber<uint32_t>(app, "--lanes", limits.lane_count, 1, kLaneCountCeiling,
                      "Jobs that run at the same time on each device");
  AddNumber<int>(app, "--cpu-threads", options.engine.cpu_threads, 0, 65536,
                 "Threads of the CPU engine; 0 takes one for each processor");
  AddNumber<int>(app, "--cpu-devices", options.engine.cpu_devices, 1,
                 static_cast<int>(kEngineCountMax),
                 "Virtual devices of the CPU engine, among which its threads are dealt; each has "
                 "lanes and room for resident arrays of its own");
  AddCudaDevices(app, options.engine.cuda_devices);
  AddSize(app, "--max-message-bytes", limits.message_bytes_max, kMessageBytesFloor,
          kMessageBytesCeiling, "Largest request or answer");
  AddNumber<uint64_t>(app, kMaxQueuedJobs, limits.queued_jobs_max, 1, kQueuedJobsCeiling,
                      "Jobs that may wait for a lane; the last quarter is kept for tenants with "
                      "few of them. By default so many for each device");
  AddSize(app, kMaxQueuedBytes, limits.queued_bytes_max, 1, uint64_t{1} << 50,
          "Bytes of requests that may wait for a lane, kept in the same way; no less than the "
          "largest request. By default so many for each device; for several no more than an eighth "
          "of --max-memory-bytes, and no less than for one");
  AddSize(app, kMaxAnswerBytes, limits.answer_bytes_max, kAnswerBytesFloor, kAnswerBytesCeiling,
          "Bytes of answers that are being made or have yet to be taken by their callers; parts of "
          "it are kept for tenants and connections with little of it. Beyond it jobs wait")
      ->default_str("an eighth of --max-memory-bytes, no more than 1024MiB");
  AddDuration(app, "--send-timeout", limits.send_timeout, kSendTimeoutCeiling,
              "Time after which a call ends whose answer its caller does not take, beside the time "
              "that the answer takes at 1 MiB a second; 0 sets no bound");
  AddTenantWeights(app, options.tenant_weights);
  AddNumber<uint64_t>(app, "--max-bins", limits.bin_count_max, 1, kBinCountCeiling,
                      "Bins of one histogram, all channels together");
  AddNumber<uint64_t>(app, "--max-groups", limits.group_count_max, 1, kGroupCountCeiling,
                      "Groups of one reduction or scan");
  AddSize(
      app, kResidentBytes, limits.resident_bytes_max, 0, kResidentBytesCeiling,
      "Memory for resident arrays on each device; 0 allows none. By default half of what is free "
      "of a GPU's");
  AddSize(app, "--tenant-resident-bytes", limits.tenant_resident_bytes_max, 0,
          kResidentBytesCeiling, "What of that one tenant may have; 0 sets no bound of its own");
  AddSize(app, "--dealt-bytes", limits.dealt_bytes_min, 0, kResidentBytesCeiling,
          "Bytes of input from which on a reduction or histogram of an array that is sent, or in a "
          "region, is computed by all devices together; 0 leaves each to one device");
  AddNumber<uint64_t>(app, "--max-arrays", limits.array_count_max, 1, kArrayCountCeiling,
                      "Resident arrays of all tenants together");
  AddFlag(app, "--allow-regions", limits.regions_allowed,
          "Let callers on this host share memory with the server, for arrays that are not sent. "
          "Whoever reaches the server may name any object \"/gridfold-...\" that it may open");
  AddNumber<uint64_t>(app, "--max-regions", limits.region_count_max, 1, kRegionCountCeiling,
                      "Shared-memory regions of all tenants together");
  AddSize(app, "--max-region-bytes", limits.region_bytes_max, 1, kRegionBytesCeiling,
          "Bytes of all shared-memory regions together");
  AddNumber<uint32_t>(app, "--max-connections", limits.connection_count_max, 1,
                      kConnectionCountCeiling,
                      "Connections open at the same time, as far as the process may have so many "
                      "files; one beyond takes the place of an idle one, or of one of the address "
                      "that has most, or is closed");
  AddSize(app, "--max-memory-bytes", limits.memory_bytes_max, kMemoryBytesFloor,
          kMemoryBytesCeiling,
          "Memory of the process beyond which connections that make it grow are closed")
      ->default_str("nine tenths of what the machine, or the control group around it, has");
  AddNumber<uint64_t>(app, "--max-streams", limits.stream_count_max, 1, kStreamCountCeiling,
                      "Streams open at the same time that compute as their data arrives");
  AddDuration(
      app, "--stream-idle-timeout", limits.stream_idle_timeout, kIdleTimeoutCeiling,
      "Time after which a stream ends whose caller sends nothing while the server waits for "
      "it; 0 lets it wait for ever");
  AddDuration(app, "--connection-idle-timeout", limits.connection_idle_timeout, kIdleTimeoutCeiling,
              "Time after which a connection without calls is closed; 0 keeps it open");
  AddNumber<uint64_t>(app, "--max-batch-operations", limits.batch_operations_max, 1,
                      kBatchOperationsCeiling, "Operations of one BatchCompute call");
  AddDuration(app, "--grace-period", options.grace_period, kGracePeriodCeiling,
              "Time that jobs may take to finish after SIGTERM or SIGINT");
  AddDuration(app, "--lame-duck", options.lame_duck, kLameDuckCeiling,
              "Time to go on after SIGTERM or SIGINT while health says NOT_SERVING, before new "
              "requests are refused and the grace period begins");
  AddChoice(app, "--log-level", options.log_level, kLogLevels, "Least severe events to log");
  AddChoice(app, "--log-format", options.log_format, kLogFormats,
            "Form of the log on standard error");
}

// The command line that the program takes, and what parsing has set.
struct CommandLine {
  CommandLine() {
    options.limits.memory_bytes_max = AllowedMemoryBytes() / 10 * kMemoryTenths;
    AddAllOptions(app, options);
  }

  CLI::App app{
      "Reduces, scans and histograms large arrays for remote callers, on a GPU or without.",
      "gridfold_server"};
  ServerOptions options;
};

void CheckSecurity(const ServerOptions& options) {
  const TlsFiles& tls = options.security.tls;
  if (tls.certificate.empty() != tls.key.empty()) {
    throw CLI::ValidationError(tls.key.empty() ? "--tls-certificate" : "--tls-key",
                               "--tls-certificate and --tls-key go together");
  }
  if (!tls.client_ca.empty() && !tls.is_used()) {
    throw CLI::ValidationError("--tls-client-ca", "needs --tls-certificate and --tls-key");
  }
  if (!tls.is_used() && !options.insecure && !IsLoopback(options.listen)) {
    throw CLI::ValidationError(
        "--listen", absl::StrCat(options.listen,
                                 " is open to other machines: give --tls-certificate and "
                                 "--tls-key, or --insecure to go without encryption"));
  }
}

void CheckRelations(const Limits& limits) {
  if (limits.queued_bytes_max < limits.message_bytes_max) {
    throw CLI::ValidationError(
        kMaxQueuedBytes,
        absl::StrCat(limits.queued_bytes_max, " is less than --max-message-bytes, ",
                     limits.message_bytes_max, ": the largest request could never wait"));
  }
}

EarlyExit ExitWith(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  if (app.exit(error, out, err) == 0) return {0, out.str()};
  return {kUsageExitCode, absl::StrCat("gridfold_server: ", error.what(),
                                       "\nRun with --help for more information.\n")};
}

}  // namespace

Limits LimitsFor(const ServerOptions& options, const std::vector<kernels::Engine*>& engines) {
  Limits limits = options.has_resident_bytes ? options.limits : options.limits.ForDevices(engines);
  if (!options.has_queued_jobs) {
    limits.queued_jobs_max =
        std::min<uint64_t>(limits.queued_jobs_max * engines.size(), kQueuedJobsCeiling);
  }
  if (!options.has_queued_bytes) {
    limits.queued_bytes_max =
        std::max(limits.queued_bytes_max, std::min(limits.queued_bytes_max * engines.size(),
                                                   limits.memory_bytes_max / kQueueMemoryPart));
  }
  return limits;
}

void VisitCommandLine(const std::function<void(const CLI::App&)>& visit) {
  const CommandLine command_line;
  visit(command_line.app);
}

std::variant<ServerOptions, EarlyExit> ParseOptions(int argc, const char* const* argv) {
  CommandLine command_line;
  CLI::App& app = command_line.app;
  ServerOptions& options = command_line.options;
  try {
    app.parse(argc, argv);
    CheckVariables(app);
    options.has_resident_bytes = app.count(kResidentBytes) > 0;
    options.has_queued_jobs = app.count(kMaxQueuedJobs) > 0;
    options.has_queued_bytes = app.count(kMaxQueuedBytes) > 0;
    if (app.count(kMaxAnswerBytes) == 0) {
      options.limits.answer_bytes_max = AnswerBytesOf(options.limits.memory_bytes_max);
    }
    CheckRelations(options.limits);
    CheckSecurity(options);
  } catch (const CLI::ParseError& error) {
    return ExitWith(app, error);
  }
  return options;
}

}  // namespace gridfold::server
