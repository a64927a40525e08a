// transport_benchmark: gridfold_server's transport beside what gRPC itself can
// do on this machine.
//
// Starts the server and a bare one, each a process of its own, loads them over
// loopback and prints a table of ratios. Exit codes: 0; 1 when a server could
// not be started; 2 for unusable options.
#include <CLI/CLI.hpp>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/transport_benchmark/bare_server.h"
#include "client/transport_benchmark/child_process.h"
#include "client/transport_benchmark/http_get.h"
#include "client/transport_benchmark/sections.h"

namespace gridfold::transport_benchmark {

namespace {

namespace fs = std::filesystem;

struct Options {
  std::string server;
  std::vector<std::string> server_options;
  std::vector<std::string> all_devices_options;
  std::vector<std::string> one_device_options = {"--cuda-devices=0"};
  std::set<std::string> only;
  std::string json;
  std::string log = "transport_benchmark_server.log";
  std::string bare_port_file;
  bool answers_nothing = false;
  bool quick = false;
  int soak_seconds = 60;
  uint64_t one_caller_bytes = Targets().one_caller_bytes;
  uint64_t devices_bytes = Targets().devices_bytes;
};

constexpr std::string_view kDevices = "devices";

constexpr struct {
  const char* name;
  void (*measure)(const Targets&, Report&);
} kSections[] = {{"resident", MeasureResident},    {"unary", MeasureUnary},
                 {"batch", MeasureBatches},        {"streams", MeasureStreams},
                 {"one_caller", MeasureOneCaller}, {"crossovers", MeasureCrossovers},
                 {"regions", MeasureRegions},      {"generator", MeasureGenerator},
                 {"devices", MeasureDevices},      {"soak", MeasureSoak},
                 {"overload", MeasureOverload}};

// Starts a program that writes its port to a file of a folder of this run.
absl::StatusOr<ChildProcess> StartServer(std::vector<std::string> arguments,
                                         const std::string& port_file, const std::string& log,
                                         std::string& target) {
  fs::remove(port_file);
  absl::StatusOr<ChildProcess> child = ChildProcess::Start(arguments, log);
  if (!child.ok()) return child;
  const absl::StatusOr<int> port = AwaitPort(*child, port_file);
  if (!port.ok()) return port.status();
  target = "127.0.0.1:" + std::to_string(*port);
  return child;
}

// What overload is measured on has few places to wait.
std::vector<std::string> ServerArguments(const Options& options, const std::string& section,
                                         const std::string& port_file, int metrics_port) {
  std::vector<std::string> arguments = {options.server,
                                        "--listen",
                                        "127.0.0.1:0",
                                        "--metrics-address",
                                        "127.0.0.1:" + std::to_string(metrics_port),
                                        "--port-file",
                                        port_file,
                                        "--allow-regions",
                                        "--log-level",
                                        "error"};
  if (section == "overload") {
    for (const auto& [name, value] :
         {std::pair{"--lanes", kOverloadLanes}, std::pair{"--max-queued-jobs", kOverloadQueue}}) {
      arguments.push_back(name);
      arguments.push_back(std::to_string(value));
    }
  }
  if (section == kDevices) {
    arguments.insert(arguments.end(), options.all_devices_options.begin(),
                     options.all_devices_options.end());
  }
  arguments.insert(arguments.end(), options.server_options.begin(), options.server_options.end());
  return arguments;
}

// What all devices are compared with.
std::vector<std::string> OneDeviceArguments(const Options& options, const std::string& port_file) {
  std::vector<std::string> arguments = ServerArguments(options, "", port_file, FreePort());
  arguments.insert(arguments.end(), options.one_device_options.begin(),
                   options.one_device_options.end());
  return arguments;
}

int Fail(const absl::Status& status, const Options& options) {
  std::fprintf(stderr, "%s (see %s)\n", std::string(status.message()).c_str(), options.log.c_str());
  return EXIT_FAILURE;
}

// Each section has a server of its own, which nothing else has used before.
int Measure(const Options& options, const fs::path& self, const fs::path& folder) {
  Targets targets;
  targets.quick = options.quick;
  targets.soak_seconds = options.soak_seconds;
  targets.one_caller_bytes = options.one_caller_bytes;
  targets.devices_bytes = options.devices_bytes;
  targets.folder = folder;
  targets.kernel_benchmark = fs::path(options.server).parent_path() / "kernel_benchmark";
  const std::string bare_port_file = folder / "bare_port";
  const auto bare = StartServer({self, "--serve-bare", bare_port_file}, bare_port_file, options.log,
                                targets.bare);
  if (!bare.ok()) return Fail(bare.status(), options);
  const auto bare_answers = StartServer({self, "--serve-bare", bare_port_file, "--answer-nothing"},
                                        bare_port_file, options.log, targets.bare_answers);
  if (!bare_answers.ok()) return Fail(bare_answers.status(), options);
  Report report;
  for (const auto& section : kSections) {
    if (!options.only.empty() && !options.only.contains(section.name)) continue;
    targets.metrics_port = FreePort();
    const std::string port_file = folder / "port";
    const auto server =
        StartServer(ServerArguments(options, section.name, port_file, targets.metrics_port),
                    port_file, options.log, targets.gridfold);
    if (!server.ok()) return Fail(server.status(), options);
    targets.server = &*server;
    // Started when the other one has taken its part of the devices' memory, and gone before it.
    std::optional<ChildProcess> one_device;
    if (section.name == kDevices) {
      auto started = StartServer(OneDeviceArguments(options, port_file), port_file, options.log,
                                 targets.one_device);
      if (!started.ok()) return Fail(started.status(), options);
      one_device.emplace(*std::move(started));
    }
    section.measure(targets, report);
  }
  if (!options.json.empty() && !report.WriteJson(options.json)) {
    std::fprintf(stderr, "cannot write %s\n", options.json.c_str());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

int Main(int argc, char** argv) {
  const fs::path self = fs::canonical("/proc/self/exe");
  Options options;
  options.server = self.parent_path() / "gridfold_server";
  CLI::App app(
      "gridfold_server's transport beside what gRPC itself can do on "
      "this machine");
  std::set<std::string> names;
  for (const auto& section : kSections) names.insert(section.name);
  app.add_option("--only", options.only, "sections to run; default: all")
      ->check(CLI::IsMember(names));
  app.add_option("--server", options.server, "the gridfold_server to run")->capture_default_str();
  app.add_option("--server-option", options.server_options, "an option for it; may be repeated");
  app.add_option("--all-devices-option", options.all_devices_options,
                 "what makes the server of \"devices\" use all of them; may be repeated");
  app.add_option("--one-device-option", options.one_device_options,
                 "what makes the one that it is compared with use one; may be repeated")
      ->capture_default_str();
  app.add_option("--json", options.json, "a file for the figures");
  app.add_option("--log", options.log, "a file for what the servers say")->capture_default_str();
  app.add_option("--soak-seconds", options.soak_seconds,
                 "how long the soak is, after a warm-up of 10 s")
      ->check(CLI::Range(1, 24 * 3600))
      ->capture_default_str();
  app.add_option("--one-caller-bytes", options.one_caller_bytes,
                 "the size of the array of one caller")
      ->capture_default_str();
  app.add_option(
         "--devices-bytes", options.devices_bytes,
         "the size of the resident arrays, and of the largest region, of \"devices\": a power "
         "of two, from 16 MiB on")
      ->check(CLI::Range(uint64_t{16} << 20, uint64_t{1} << 40))
      ->check([](const std::string& text) {
        return std::has_single_bit(std::stoull(text)) ? "" : text + " is no power of two";
      })
      ->capture_default_str();
  app.add_flag("--quick", options.quick, "a few calls of everything, to see that it works");
  app.add_option("--serve-bare", options.bare_port_file)->group("");
  app.add_flag("--answer-nothing", options.answers_nothing)->group("");
  CLI11_PARSE(app, argc, argv);
  if (!options.bare_port_file.empty()) {
    return RunBareServer(options.bare_port_file,
                         options.answers_nothing ? UnaryAnswer::kNothing : UnaryAnswer::kEcho);
  }

  std::string folder = fs::temp_directory_path() / "transport_benchmark_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return EXIT_FAILURE;
  const int exit_code = Measure(options, self, folder);
  fs::remove_all(folder);
  return exit_code;
}

}  // namespace

}  // namespace gridfold::transport_benchmark

int main(int argc, char** argv) {
  // Abseil looks for locks that are taken in circles unless it is told not to, as the programs that
  // are measured here tell it.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return gridfold::transport_benchmark::Main(argc, argv);
}
