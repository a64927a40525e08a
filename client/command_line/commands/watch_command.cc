// gridfold watch: what a server does, while it does it.
#include <optional>
#include <string>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/time/clock.h"
#include "client/command_line/commands/command.h"
#include "client/command_line/input/number_parsing.h"
#include "client/command_line/output/screen.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/watch_report.h"

namespace gridfold::client {
namespace {

constexpr char kWatchFooter[] = R"(
Examples:
  gridfold watch                       until q or Ctrl-C
  gridfold watch --server gpu-host:50051 --interval 5
  gridfold watch --once                one second of it, also where it goes through a pipe
  gridfold watch --once --json | jq .statistics.jobs_succeeded
)";

std::string CheckInterval(const std::string& text) {
  const std::optional<double> seconds = ParseNumber<double>(text);
  return seconds && *seconds >= 0.1 && *seconds <= 3600 ? "" : "must be 0.1 to 3600 seconds";
}

class WatchCommand : public Command {
 public:
  explicit WatchCommand(CLI::App& program)
      : command_(*program.add_subcommand("watch", "Show what a server does, again and again")) {
    command_.footer(kWatchFooter);
    command_.add_option("--interval", interval_s_, "Time between two looks")
        ->type_name("SECONDS")
        ->check(CheckInterval)
        ->capture_default_str();
    command_.add_flag("--once", once_,
                      "Look twice, an interval apart, print it and end; so it is without a "
                      "terminal, and with --json");
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<ServerInfo> info = (*client)->GetServerInfo();
    if (!info.ok()) return info.status();
    WatchHistory history(*info, session.options().connection.target);
    if (absl::Status status = Look(**client, history); !status.ok()) return status;
    const bool once = once_ || session.options().json;
    const std::unique_ptr<Screen> screen = once ? nullptr : Screen::Open(session.out());
    if (screen == nullptr) return ShowOnce(session, **client, history);
    while (true) {
      screen->Show(WatchLines(history, session.style()));
      if (screen->WaitForEnd(absl::Seconds(interval_s_))) return absl::OkStatus();
      // A server that restarts is shown as such, and watched on.
      const absl::Status status = Look(**client, history);
      if (!status.ok() && !absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) {
        return status;
      }
      if (!status.ok()) history.AddSilence(status);
    }
  }

 private:
  absl::Status ShowOnce(const Session& session, Client& client, WatchHistory& history) const {
    absl::SleepFor(absl::Seconds(interval_s_));
    if (absl::Status status = Look(client, history); !status.ok()) return status;
    if (session.options().json) {
      session.out() << ToJson(history.target(), history.health(), history.info(),
                              history.statistics());
      return absl::OkStatus();
    }
    for (const std::string& line : WatchLines(history, session.style())) {
      session.out() << line << "\n";
    }
    return absl::OkStatus();
  }

  static absl::Status Look(Client& client, WatchHistory& history) {
    const absl::StatusOr<HealthStatus> health = client.CheckHealth();
    if (!health.ok()) return health.status();
    const absl::StatusOr<ServerStatistics> statistics = client.GetStatistics();
    if (!statistics.ok()) return statistics.status();
    history.Add(absl::Now(), *health, *statistics);
    return absl::OkStatus();
  }

  CLI::App& command_;
  double interval_s_ = 1;
  bool once_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeWatchCommand(CLI::App& program) {
  return std::make_unique<WatchCommand>(program);
}

}  // namespace gridfold::client
