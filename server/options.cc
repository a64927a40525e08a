#include "server/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/identifier.h"
#include "server/base/version.h"
#include "server/process/allowed_memory.h"
#include "server/transport/listen_address.h"

namespace gridfold::server {

namespace {

constexpr int kUsageExitCode = 2;

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

// "--max-queued-jobs" is also GRIDFOLD_MAX_QUEUED_JOBS.
std::string EnvironmentName(absl::string_view option) {
  return absl::StrCat("GRIDFOLD_",
                      absl::AsciiStrToUpper(absl::StrReplaceAll(option.substr(2), {{"-", "_"}})));
}

// The configuration file without the options that are given by the environment.
class ConfigBelowEnvironment : public CLI::ConfigBase {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> options = CLI::ConfigBase::from_config(input);
    std::erase_if(options, [](const CLI::ConfigItem& item) {
      // CLI11 takes an empty variable for none.
      const char* const variable = std::getenv(EnvironmentName("--" + item.name).c_str());
      return item.parents.empty() && variable != nullptr && *variable != '\0';
    });
    return options;
  }
};

template <class T>
CLI::Option* AddOption(CLI::App& app, const std::string& name, T& target,
                       const std::string& description) {
  return app.add_option(name, target, description)
      ->envname(EnvironmentName(name))
      ->capture_default_str();
}

// One of the names of `choices`. CLI11's own transformer would list the numbers of the enumeration.
template <class T>
void AddChoice(CLI::App& app, const std::string& name, T& target,
               const std::map<std::string, T>& choices, const std::string& description) {
  std::string names;
  std::string default_name;
  for (const auto& [choice, value] : choices) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", choice);
    if (value == target) default_name = choice;
  }
  app.add_option_function<std::string>(
         name,
         [name, names, &target, &choices](const std::string& text) {
           const auto choice = choices.find(text);
           if (choice == choices.end()) {
             throw CLI::ValidationError(name, absl::StrCat("\"", text, "\" is not one of ", names));
           }
           target = choice->second;
         },
         description)
      ->envname(EnvironmentName(name))
      ->type_name(absl::StrCat("{", names, "}"))
      ->default_str(default_name);
}

// The whole number that all of `text` is: digits, and a minus sign where T has one. CLI11's own
// parser and absl::SimpleAtoi also take blanks and plus signs, and CLI11's lets numbers wrap
// around.
template <class T>
std::optional<T> ParseStrictly(absl::string_view text) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Empty, or why `text` is not a number between the two. Says more than CLI::Range does.
template <class T>
std::string CheckRange(const std::string& text, T smallest, T largest) {
  const std::optional<T> number = ParseStrictly<T>(text);
  if (number && *number >= smallest && *number <= largest) return "";
  return absl::StrCat("\"", text, "\" is not a number from ", smallest, " to ", largest);
}

// "256MiB" where the size is a whole number of MiB.
std::string FormatSize(uint64_t bytes) {
  return bytes % kMiB == 0 ? absl::StrCat(bytes / kMiB, "MiB") : absl::StrCat(bytes);
}

// A size in bytes; "256MiB" and the like become numbers before the range is checked.
void AddSize(CLI::App& app, const std::string& name, uint64_t& target, uint64_t smallest,
             uint64_t largest, const std::string& description) {
  CLI::AsSizeValue as_size(/*kb_is_1000=*/true);
  as_size.description("");
  AddOption(app, name, target, description)
      ->type_name("SIZE")
      ->default_str(FormatSize(target))
      ->check([smallest, largest](const std::string& text) {
        return CheckRange(text, smallest, largest);
      })
      ->transform(as_size)
      // Runs before as_size, which would let negative sizes wrap around.
      ->transform(CLI::Validator(
          [](std::string& text) {
            const bool begins_well =
                !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
            return begins_well ? std::string()
                               : absl::StrCat("\"", text, "\" is not a size such as 256MiB");
          },
          ""));
}

template <class T>
void AddNumber(CLI::App& app, const std::string& name, T& target, T smallest, T largest,
               const std::string& description) {
  AddOption(app, name, target, description)
      ->type_name("NUMBER")
      ->check([smallest, largest](const std::string& text) {
        return CheckRange(text, smallest, largest);
      });
}

void AddFlag(CLI::App& app, const std::string& name, bool& target, const std::string& description) {
  app.add_flag(name, target, description)->envname(EnvironmentName(name));
}

// "30s", "500ms", "2m"; a plain number is in seconds.
void AddDuration(CLI::App& app, const std::string& name, std::chrono::milliseconds& target,
                 std::chrono::milliseconds largest, const std::string& description) {
  app.add_option_function<std::string>(
         name,
         [name, largest, &target](const std::string& text) {
           absl::Duration duration;
           int64_t seconds = 0;
           if (absl::SimpleAtoi(text, &seconds)) {
             duration = absl::Seconds(seconds);
           } else if (!absl::ParseDuration(text, &duration)) {
             throw CLI::ValidationError(
                 name, absl::StrCat("\"", text, "\" is not a time such as 30s or 500ms"));
           }
           if (duration < absl::ZeroDuration() || duration > absl::FromChrono(largest)) {
             throw CLI::ValidationError(
                 name, absl::StrCat("\"", text, "\" is not between 0s and ",
                                    absl::FormatDuration(absl::FromChrono(largest))));
           }
           target = absl::ToChronoMilliseconds(duration);
         },
         description)
      ->envname(EnvironmentName(name))
      ->type_name("TIME")
      ->default_str(absl::FormatDuration(absl::FromChrono(target)));
}

// Empty, or what is wrong with it.
std::string CheckHostAndPort(const std::string& listen) {
  const auto [host, port] = SplitListen(listen);
  const bool port_is_good = ParseStrictly<uint16_t>(port).has_value();
  const bool host_is_good =
      !host.empty() && !absl::StrContains(host, ",") &&
      (!absl::StrContains(host, ":") || (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")));
  if (port_is_good && host_is_good) return "";
  return absl::StrCat("\"", listen, "\" is not host:port, for example 127.0.0.1:50051 or [::1]:0");
}

// Empty, or what is wrong with it.
std::string CheckListen(const std::string& listen) {
  const std::optional<std::string> path = UnixPath(listen);
  if (!path) return CheckHostAndPort(listen);
  if (path->empty() || path->back() == '/' || absl::StartsWith(*path, "//")) {
    return absl::StrCat("\"", listen, "\" names no file, as unix:/run/gridfold/socket does");
  }
  if (path->size() <= kUnixPathBytesMax) return "";
  return absl::StrCat("the path of \"", listen, "\" has ", path->size(),
                      " bytes; the system takes ", kUnixPathBytesMax, " for a Unix socket");
}

constexpr char kOff[] = "off";

// Where metrics are served, or "off".
void AddMetricsAddress(CLI::App& app, std::optional<std::string>& target) {
  constexpr char kName[] = "--metrics-address";
  app.add_option_function<std::string>(
         kName,
         [&target](const std::string& text) {
           target = text == kOff ? std::nullopt : std::optional(text);
         },
         "Address to serve metrics on, host:port, at /metrics for Prometheus; port 0 takes any "
         "that is free, and off serves none")
      ->envname(EnvironmentName(kName))
      ->type_name("HOST:PORT")
      ->default_str(target.value_or(kOff))
      ->check([](const std::string& text) { return text == kOff ? "" : CheckHostAndPort(text); });
}

constexpr char kAll[] = "all";

// Numbers of GPUs with commas between them, or "all", which is none by number.
std::vector<int> ParseDevices(const std::string& name, const std::string& text) {
  std::vector<int> devices;
  if (text == kAll) return devices;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::optional<int> number = ParseStrictly<int>(part);
    if (!number || *number < 0 || *number >= 1024) {
      throw CLI::ValidationError(
          name, absl::StrCat("\"", text, "\" is not all, or numbers from 0 to 1023 such as 0,1"));
    }
    const int device = *number;
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw CLI::ValidationError(name, absl::StrCat("\"", text, "\" names ", device, " twice"));
    }
    devices.push_back(device);
  }
  if (devices.size() > kEngineCountMax) {
    throw CLI::ValidationError(name, absl::StrCat("more than ", kEngineCountMax, " devices"));
  }
  return devices;
}

void AddCudaDevices(CLI::App& app, std::vector<int>& target) {
  static constexpr char kName[] = "--cuda-devices";
  app.add_option_function<std::string>(
         kName, [&target](const std::string& text) { target = ParseDevices(kName, text); },
         "GPUs of the CUDA engine, by number with commas between; each has lanes and room for "
         "resident arrays of its own")
      ->envname(EnvironmentName(kName))
      ->type_name("{all, NUMBER,...}")
      ->default_str(kAll);
}

// Adds "NAME=W" to the weights; an empty name means those who name no tenant.
void ParseTenantWeight(const std::string& name, const std::string& text, TenantWeights& weights) {
  const size_t equals = text.rfind('=');
  const std::optional<uint64_t> weight =
      equals == std::string::npos ? std::nullopt : ParseStrictly<uint64_t>(text.substr(equals + 1));
  if (!weight || *weight < 1 || *weight > kTenantWeightMax) {
    throw CLI::ValidationError(
        name, absl::StrCat("\"", text, "\" is not NAME=W, W from 1 to ", kTenantWeightMax));
  }
  const std::string tenant = text.substr(0, equals);
  if (!tenant.empty()) {
    absl::Status status = ValidateIdentifier(tenant, kTenantNameBytesMax, "NAME");
    if (!status.ok()) {
      throw CLI::ValidationError(name, absl::StrCat("\"", text, "\": ", status.message()));
    }
  }
  if (!weights.emplace(tenant, *weight).second) {
    throw CLI::ValidationError(name, absl::StrCat("\"", tenant, "\" has two weights"));
  }
}

void AddTenantWeights(CLI::App& app, TenantWeights& target) {
  static constexpr char kName[] = "--tenant-weight";
  app.add_option_function<std::vector<std::string>>(
         kName,
         [&target](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) ParseTenantWeight(kName, text, target);
         },
         "A tenant's share of the lanes while others wait too, and of what is left of a queue that "
         "is nearly full; once for each tenant, or with commas between")
      ->envname(EnvironmentName(kName))
      ->type_name("NAME=W")
      ->default_str("1 each")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void AddPath(CLI::App& app, const std::string& name, std::string& target,
             const std::string& description) {
  AddOption(app, name, target, description)->type_name("PATH")->check([](const std::string& path) {
    return std::string(path.empty() ? "is given without a path" : "");
  });
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

void AddAllOptions(CLI::App& app, ServerOptions& options) {
  Limits& limits = options.limits;
  app.set_version_flag("--version", absl::StrCat("gridfold_server ", Version()));
  // CLI11 looks for the file before it looks at the environment; so here it is given as a default,
  // and the file's options that the environment has too are left out.
  const char* const variable = std::getenv("GRIDFOLD_CONFIG");
  const std::string config = variable == nullptr ? "" : variable;
  app.set_config("--config", config,
                 "Read options from this file, in TOML or INI form (Env:GRIDFOLD_CONFIG)",
                 /*config_required=*/!config.empty())
      ->type_name("PATH");
  app.config_formatter(std::make_shared<ConfigBelowEnvironment>());
  // A misspelt name in the file is an error, as it is on the command line.
  app.allow_config_extras(CLI::config_extras_mode::error);

  AddChoice(app, "--engine", options.engine.kind, kEngineKinds,
            "Engine that runs the jobs; auto takes a GPU where there is one");
  AddOption(app, "--listen", options.listen,
            "Address to listen on, host:port, where port 0 takes any that is free, or unix:path, "
            "where the "
            "server's user and group may connect. Other machines can reach it only with TLS, or "
            "--insecure")
      ->type_name("ADDRESS")
      ->check(CheckListen);
  AddPath(app, "--port-file", options.port_file,
          "Write the port, 0 of a Unix socket, to this file once requests are accepted");
  AddSecurity(app, options);
  AddMetricsAddress(app, options.metrics_address);
  AddNumber<uint32_t>(app, "--lanes", limits.lane_count, 1, kLaneCountCeiling,
                      "Jobs that run at the same time on each device");
  AddNumber<int>(app, "--cpu-threads", options.engine.cpu_threads, 0, 65536,
                 "Threads of the CPU engine; 0 takes one for each processor");
  AddCudaDevices(app, options.engine.cuda_devices);
  AddSize(app, "--max-message-bytes", limits.message_bytes_max, kMessageBytesFloor,
          kMessageBytesCeiling, "Largest request or answer");
  AddNumber<uint64_t>(app, "--max-queued-jobs", limits.queued_jobs_max, 1, kQueuedJobsCeiling,
                      "Jobs that may wait for a lane; the last quarter is kept for tenants with "
                      "few of them");
  AddSize(app, "--max-queued-bytes", limits.queued_bytes_max, 1, uint64_t{1} << 50,
          "Bytes of requests that may wait for a lane, kept in the same way; no less than the "
          "largest request");
  AddSize(app, "--max-answer-bytes", limits.answer_bytes_max, kAnswerBytesFloor,
          kAnswerBytesCeiling,
          "Bytes of answers that are being made or have yet to be taken by their callers; parts of "
          "it are kept for tenants and connections with little of it. Beyond it jobs wait");
  AddDuration(app, "--send-timeout", limits.send_timeout, kSendTimeoutCeiling,
              "Time after which a call ends whose answer its caller does not take, beside the time "
              "that the answer takes at 1 MiB a second; 0 sets no bound");
  AddTenantWeights(app, options.tenant_weights);
  AddNumber<uint64_t>(app, "--max-bins", limits.bin_count_max, 1, kBinCountCeiling,
                      "Bins of one histogram, all channels together");
  AddNumber<uint64_t>(app, "--max-groups", limits.group_count_max, 1, kGroupCountCeiling,
                      "Groups of one reduction or scan");
  AddSize(app, "--resident-bytes", limits.resident_bytes_max, 0, kResidentBytesCeiling,
          "Memory for resident arrays, of each GPU where there is one; 0 allows none");
  AddSize(app, "--tenant-resident-bytes", limits.tenant_resident_bytes_max, 0,
          kResidentBytesCeiling, "What of that one tenant may have; 0 sets no bound of its own");
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
                      "files; those beyond are closed");
  AddSize(app, "--max-memory-bytes", limits.memory_bytes_max, kMemoryBytesFloor,
          kMemoryBytesCeiling,
          "Memory of the process beyond which connections that make it grow are closed. By default "
          "nine tenths of what the machine, or the control group around the server, has");
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
        "--max-queued-bytes",
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

std::variant<ServerOptions, EarlyExit> ParseOptions(int argc, const char* const* argv) {
  ServerOptions options;
  options.limits.memory_bytes_max = AllowedMemoryBytes() / 10 * kMemoryTenths;
  CLI::App app(
      "Reduces, scans and histograms large arrays for remote callers, on a GPU or without.",
      "gridfold_server");
  AddAllOptions(app, options);
  try {
    app.parse(argc, argv);
    CheckRelations(options.limits);
    CheckSecurity(options);
  } catch (const CLI::ParseError& error) {
    return ExitWith(app, error);
  }
  return options;
}

}  // namespace gridfold::server
