// gridfold_server: reads its options, starts an engine and a server, and waits for a signal.
//
// Exit codes: 0 after a signal, 1 when the server could not start or stop, 2 for unusable options.
// A program that has served ends without destroying what it used, so that nothing can keep it.
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "kernels/contract/engine.h"
#include "server/base/fixed_limits.h"
#include "server/base/limits.h"
#include "server/base/version.h"
#include "server/options.h"
#include "server/process/event_log.h"
#include "server/process/signal_watcher.h"
#include "server/server.h"
#include "server/transport/library_logs.h"
#include "server/transport/listen_address.h"

#ifdef GRIDFOLD_MIMALLOC
#include <mimalloc.h>
#endif

namespace gridfold::server {

namespace {

// Freed memory goes back to the system after 100 ms, by default of mimalloc after 10 to 25: a large
// message that comes or goes soon after the last one finds its pages there, and the system has none
// to clear (64 MiB: 16,000). Kept for a second it would hold off the end of a shortage, which the
// memory guard sees in what the process has. The environment's MIMALLOC_... go before.
void KeepFreedMemoryForAWhile() {
#ifdef GRIDFOLD_MIMALLOC
#if MI_MALLOC_VERSION >= 210
  constexpr mi_option_t kDelayMs = mi_option_purge_delay;
#else
  constexpr mi_option_t kDelayMs = mi_option_decommit_delay;
#endif
  mi_option_set_default(kDelayMs, 100);
#endif
}

// Readers see no file or a whole one.
absl::Status WritePortFile(const std::string& path, int port) {
  const std::string temporary = absl::StrCat(path, ".tmp");
  std::ofstream file(temporary);
  file << port << "\n";
  file.close();
  if (!file || rename(temporary.c_str(), path.c_str()) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot write --port-file ", path));
  }
  return absl::OkStatus();
}

void LogEngine(const kernels::Engine& engine) {
  const kernels::DeviceDescription& device = engine.device();
  LogEvent(LogLevel::kInfo, "engine",
           {{"engine", engine.name()},
            {"device", device.name},
            {"memory_bytes", device.memory_bytes},
            {"compute_units", device.compute_units},
            {"compute_capability", device.compute_capability}});
}

void LogSecurity(const ServerOptions& options) {
  const TlsFiles& tls = options.security.tls;
  if (tls.is_used()) {
    LogEvent(LogLevel::kInfo, "encrypted",
             {{"certificate", tls.certificate},
              {"client_certificates", tls.client_ca.empty() ? "not asked for" : "required"}});
  } else if (UnixPath(options.listen)) {
    LogEvent(LogLevel::kInfo, "not_encrypted",
             {{"note", "only this machine can connect, as the server's user or group"}});
  } else if (IsLoopback(options.listen)) {
    LogEvent(LogLevel::kInfo, "not_encrypted",
             {{"note",
               "only this machine can connect; --tls-certificate and --tls-key let others, with "
               "--listen 0.0.0.0:50051"}});
  } else {
    LogEvent(LogLevel::kWarning, "not_encrypted",
             {{"note",
               "anyone who reaches this address can connect, and read on the way what others "
               "send, tokens too"}});
  }
  if (!options.security.token_file.empty()) {
    LogEvent(LogLevel::kInfo, "tokens_required", {{"file", options.security.token_file}});
  }
}

// gRPC 1.51 bounds neither what headers cost (CVE-2023-33953) nor how fast calls are made and
// cancelled (CVE-2023-44487); a client certificate is checked before either.
void LogExposure(const ServerOptions& options) {
  if (IsLoopback(options.listen) || !options.security.tls.client_ca.empty()) return;
  LogEvent(LogLevel::kWarning, "exposed",
           {{"note",
             "anyone who reaches this address can keep the processors busy with headers and "
             "cancelled calls, tokens or not: listen on unix:path behind an edge, as "
             "deploy/README.md describes under \"Edge\", or require client certificates by "
             "--tls-client-ca"}});
}

void LogStart(const ServerOptions& options, const std::vector<kernels::Engine*>& engines,
              const Server& server) {
  for (const kernels::Engine* const engine : engines) LogEngine(*engine);
  Limits limits = options.limits;
  limits.engine_count = static_cast<uint32_t>(engines.size());
  LogEvent(LogLevel::kInfo, "limits",
           {{"lanes", limits.lane_count_of_all()},
            {"message_bytes_max", limits.message_bytes_max},
            {"queued_jobs_max", limits.queued_jobs_max},
            {"queued_bytes_max", limits.queued_bytes_max},
            {"answer_bytes_max", limits.answer_bytes_max},
            {"bin_count_max", limits.bin_count_max},
            {"group_count_max", limits.group_count_max},
            {"resident_bytes_max", limits.resident_bytes_of_all()},
            {"tenant_resident_bytes_max", limits.tenant_bytes_max()},
            {"array_count_max", limits.array_count_max},
            {"stream_count_max", limits.stream_count_max},
            {"region_count_max", limits.regions_allowed ? limits.region_count_max : 0},
            {"region_bytes_max", limits.regions_allowed ? limits.region_bytes_max : 0},
            {"batch_operations_max", limits.batch_operations_max},
            {"memory_bytes_max", limits.memory_bytes_max}});
  LogSecurity(options);
  LogExposure(options);
  if (options.metrics_address) {
    LogEvent(LogLevel::kInfo, "metrics",
             {{"address", *options.metrics_address}, {"port", *server.metrics_port()}});
  }
  LogEvent(LogLevel::kInfo, "serving",
           {{"version", Version()}, {"listen", options.listen}, {"port", server.port()}});
}

int Fail(const absl::Status& status) {
  LogEvent(LogLevel::kError, "failed", {{"message", status.message()}});
  return EXIT_FAILURE;
}

// Every connection is a descriptor, and shells and systemd allow 1,024 unless they are asked for
// more, as whoever needs no select() may.
void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Serve(ServerOptions options, SignalWatcher& signals) {
  const absl::StatusOr<std::vector<std::unique_ptr<kernels::Engine>>> owned =
      kernels::CreateEngines(options.engine);
  if (!owned.ok()) return Fail(owned.status());
  std::vector<kernels::Engine*> engines;
  for (const std::unique_ptr<kernels::Engine>& engine : *owned) engines.push_back(engine.get());
  options.limits = LimitsFor(options, engines);
  absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Start(engines, options.listen, options.limits, options.metrics_address,
                    options.tenant_weights, options.security);
  if (!server.ok()) return Fail(server.status());

  // From here on nothing is destroyed: what hangs must not keep the program from ending.
  Server& serving = **server;
  signals.BeginServing({.stop_at_once = [&serving] { serving.StopJobs(); },
                        .reload = [&serving] { serving.Reload(); }});
  LogStart(options, engines, **server);
  if (!options.port_file.empty()) {
    // Whoever finds the port finds the lines that tell of the start, too.
    FlushLog(kLogFlushTimeout);
    absl::Status status = WritePortFile(options.port_file, (*server)->port());
    if (!status.ok()) EndProgram(Fail(status));
  }

  const int signal = signals.WaitForFirst();
  LogEvent(LogLevel::kInfo, "draining",
           {{"signal", sigabbrev_np(signal)},
            {"lame_duck_ms", options.lame_duck.count()},
            {"grace_period_ms", options.grace_period.count()}});
  absl::Status status = (*server)->Drain(options.grace_period, options.lame_duck);
  if (!status.ok()) EndProgram(Fail(status));
  LogEvent(LogLevel::kInfo, "stopped", {});
  EndProgram(EXIT_SUCCESS);
}

int Main(int argc, const char* const* argv) {
  const std::variant<ServerOptions, EarlyExit> parsed = ParseOptions(argc, argv);
  if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
    fputs(exit->text.c_str(), exit->exit_code == 0 ? stdout : stderr);
    return exit->exit_code;
  }
  const auto& options = std::get<ServerOptions>(parsed);
  // Abseil looks for locks that are taken in circles, also as distributions build it for releases:
  // 4 % of the processor time of small calls. Tests leave that on.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  KeepFreedMemoryForAWhile();
  SignalWatcher::BlockSignals();
  ConfigureLog(options.log_level, options.log_format);
  RedirectLibraryLogs();
  RaiseDescriptorLimit();
  SignalWatcher signals;
  const int exit_code = Serve(options, signals);
  FlushLog(kLogFlushTimeout);
  return exit_code;
}

}  // namespace

}  // namespace gridfold::server

int main(int argc, char** argv) {
  try {
    return gridfold::server::Main(argc, argv);
  } catch (const std::exception& exception) {
    fprintf(stderr, "gridfold_server: %s\n", exception.what());
    return EXIT_FAILURE;
  }
}
