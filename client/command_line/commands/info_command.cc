// gridfold info: what a server is, what it has been doing, and whether it serves.
#include <optional>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "client/command_line/commands/command.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/server_report.h"

namespace gridfold::client {
namespace {

constexpr char kInfoFooter[] = R"(
Examples:
  gridfold info                        the server on this machine
  gridfold info --server gpu-host:50051 --json
  gridfold info --health --timeout 3   exit code 0 only where it serves: a container's health check
)";

class InfoCommand : public Command {
 public:
  explicit InfoCommand(CLI::App& program)
      : command_(*program.add_subcommand("info", "Tell what a server is and does")) {
    command_.footer(kInfoFooter);
    command_.add_flag(
        "--health", health_only_,
        "Only ask whether it serves: exit code 0 if so, 1 if not, 3 if nobody answers");
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<HealthStatus> health = (*client)->CheckHealth();
    if (!health.ok()) return health.status();
    return health_only_ ? PrintHealth(session, *health) : PrintAll(session, **client, *health);
  }

 private:
  static absl::Status PrintHealth(const Session& session, HealthStatus health) {
    const std::string& target = session.options().connection.target;
    session.out() << (session.options().json ? ToJson(target, health) : HealthName(health) + "\n");
    if (health == HealthStatus::kServing) return absl::OkStatus();
    return absl::FailedPreconditionError("the server does not serve");
  }

  static absl::Status PrintAll(const Session& session, Client& client, HealthStatus health) {
    const absl::StatusOr<ServerInfo> info = client.GetServerInfo();
    if (!info.ok()) return info.status();
    const absl::StatusOr<ServerStatistics> answer = client.GetStatistics();
    // They may be for administrators only.
    if (!answer.ok() && !absl::IsPermissionDenied(answer.status())) return answer.status();
    const std::optional<ServerStatistics> statistics =
        answer.ok() ? std::optional(*answer) : std::nullopt;
    const std::string& target = session.options().connection.target;
    if (session.options().json) {
      session.out() << ToJson(target, health, *info, statistics);
    } else {
      PrintServer(target, health, *info, statistics, session.style(), session.out());
    }
    return absl::OkStatus();
  }

  CLI::App& command_;
  bool health_only_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeInfoCommand(CLI::App& program) {
  return std::make_unique<InfoCommand>(program);
}

}  // namespace gridfold::client
