// gridfold region: memory that callers on the server's machine share with it.
#include <string>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "client/command_line/commands/command.h"
#include "client/command_line/commands/command_group.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/region_report.h"

namespace gridfold::client {
namespace {

constexpr char kRegionFooter[] = R"(
Programs register regions (gridfold/shared_region.h), and so does --shared:
  gridfold reduce samples.npy --shared
Regions that they left behind can be looked at and let go:
  gridfold region list
  gridfold region unregister region-0123456789abcdef
)";

class ListRegionsCommand : public Command {
 public:
  explicit ListRegionsCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("list", "List the regions that are registered")) {}

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    const absl::StatusOr<std::vector<RegionDescription>> regions = (*client)->ListRegions();
    if (!regions.ok()) return regions.status();
    if (session.options().json) {
      session.out() << ToJson(*regions);
    } else {
      PrintRegions(*regions, session.style(), session.out());
    }
    return absl::OkStatus();
  }

 private:
  CLI::App& command_;
};

class UnregisterRegionCommand : public Command {
 public:
  explicit UnregisterRegionCommand(CLI::App& parent)
      : command_(*parent.add_subcommand("unregister", "Make the server forget a region")) {
    command_.add_option("NAME", name_, "The region's name")->required();
  }

  bool IsChosen() const override { return command_.parsed(); }

  absl::Status Run(const Session& session) override {
    const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
    if (!client.ok()) return client.status();
    return (*client)->UnregisterRegion(name_);
  }

 private:
  CLI::App& command_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Command> MakeRegionCommand(CLI::App& program) {
  auto group = std::make_unique<CommandGroup>(program, "region", "Memory shared with the server",
                                              kRegionFooter);
  group->Add<ListRegionsCommand>();
  group->Add<UnregisterRegionCommand>();
  return group;
}

}  // namespace gridfold::client
