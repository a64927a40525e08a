// gridfold_manual FOLDER DATE: writes manual pages and shell completions of gridfold, gridfold_load
// and gridfold_server into FOLDER, in the folders that an installed tree has for them below share/.
// The pages bear DATE.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/usage.h"
#include "client/command_line/command_line.h"
#include "client/load/program.h"
#include "gridfold/element_type.h"
#include "gridfold/statistic.h"
#include "manual/command_description.h"
#include "manual/completion.h"
#include "manual/man_page.h"
#include "server/options.h"

namespace gridfold::manual {
namespace {

constexpr int kProgramSection = 1;
constexpr int kServerSection = 8;

std::vector<std::string> ElementTypeNames() {
  std::vector<std::string> names;
  // The numbers of the enum, of which there are few and some in between mean nothing.
  for (int number = 1; number < 64; ++number) {
    const auto name = client::ElementTypeName(static_cast<client::ElementType>(number));
    if (name != "unknown") names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> StatisticNames() {
  std::vector<std::string> names;
  for (const client::Statistic statistic : client::AllStatistics()) {
    names.emplace_back(client::StatisticName(statistic));
  }
  return names;
}

bool Write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "gridfold_manual: cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

bool WriteAll(const CLI::App& app, int section, const std::filesystem::path& folder,
              const std::string& date) {
  const CommandDescription program = Describe(app, {{"TYPE", ElementTypeNames()},
                                                    {"STATISTIC", StatisticNames()},
                                                    {"COMMAND", client::CommandNames(app)}});
  const std::string& name = program.path.front();
  bool is_written =
      Write(folder / "bash-completion/completions" / name, WriteBashCompletion(program)) &&
      Write(folder / "zsh/site-functions" / ("_" + name), WriteZshCompletion(program)) &&
      Write(folder / "fish/vendor_completions.d" / (name + ".fish"), WriteFishCompletion(program));
  for (const ManPage& page : WriteManPages(program, section, date)) {
    const std::string section_folder = absl::StrCat("man", section);
    is_written = is_written && Write(folder / "man" / section_folder / page.file_name, page.text);
  }
  return is_written;
}

}  // namespace
}  // namespace gridfold::manual

int main(int argc, char** argv) {
  using gridfold::manual::WriteAll;
  if (argc != 3) {
    std::fprintf(stderr, "usage: gridfold_manual FOLDER YYYY-MM-DD\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const std::string date = argv[2];
  gridfold::client::CommandLine client;
  bool is_written = WriteAll(client.app(), gridfold::manual::kProgramSection, folder, date);
  gridfold::load::VisitCommandLine([&](const CLI::App& app) {
    is_written = is_written && WriteAll(app, gridfold::manual::kProgramSection, folder, date);
  });
  gridfold::server::VisitCommandLine([&](const CLI::App& app) {
    is_written = is_written && WriteAll(app, gridfold::manual::kServerSection, folder, date);
  });
  return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}
