#include "client/command_line/configuration.h"

#include <cstdlib>
#include <istream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "client/command_line/arguments/suggestion.h"

namespace gridfold::client {
namespace {

constexpr char kProfileSection[] = "profile";
constexpr char kProfileVariable[] = "GRIDFOLD_PROFILE";

// Empty where it is not set.
std::string Variable(const std::string& name) {
  const char* const value = name.empty() ? nullptr : std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::string DefaultPath() {
  const std::string given = Variable("XDG_CONFIG_HOME");
  const std::string home = Variable("HOME");
  if (given.empty() && home.empty()) return "";
  return absl::StrCat(given.empty() ? absl::StrCat(home, "/.config") : given,
                      "/gridfold/config.toml");
}

// The file's options in the order in which they go before each other: those of the chosen profile,
// then those of no section; without those that the environment has.
class ProfileReader : public CLI::ConfigBase {
 public:
  explicit ProfileReader(const CLI::App& program) : program_(program) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> chosen;
    std::vector<CLI::ConfigItem> common;
    for (CLI::ConfigItem& item : CLI::ConfigBase::from_config(input)) {
      // What CLI11 puts where a section begins and ends.
      const bool is_mark = item.name == "++" || item.name == "--";
      if (item.parents.empty()) {
        if (!is_mark && !IsInEnvironment(item)) common.push_back(std::move(item));
        continue;
      }
      if (item.parents[0] != kProfileSection || item.parents.size() > 2) {
        throw CLI::ConfigError(absl::StrCat("--config: [", item.parents[0],
                                            "] is no section of this file: they are [",
                                            kProfileSection, ".NAME]"));
      }
      if (item.parents.size() < 2) continue;  // The mark of all profiles together.
      profiles_.insert(item.parents[1]);
      if (item.parents[1] != Profile() || is_mark || IsInEnvironment(item)) continue;
      item.parents.clear();
      chosen.push_back(std::move(item));
    }
    std::set<std::string> names;
    for (const CLI::ConfigItem& item : chosen) names.insert(item.name);
    for (CLI::ConfigItem& item : common) {
      if (!names.contains(item.name)) chosen.push_back(std::move(item));
    }
    return chosen;
  }

  // By the command line, else by the environment; empty: none.
  std::string Profile() const {
    const std::vector<std::string>& given = program_.get_option("--profile")->results();
    return given.empty() ? Variable(kProfileVariable) : given.back();
  }

  // An error of parsing where the chosen profile was not found.
  void CheckProfile() const {
    const std::string profile = Profile();
    if (profile.empty() || profiles_.contains(profile)) return;
    if (profiles_.empty()) {
      throw CLI::ValidationError(
          "--profile", absl::StrCat("there is no [profile.", profile, "] in the file of --config"));
    }
    throw CLI::ValidationError(
        "--profile", NoneOf(profile, std::vector<std::string>(profiles_.begin(), profiles_.end())));
  }

 private:
  bool IsInEnvironment(const CLI::ConfigItem& item) const {
    const CLI::Option* const option = program_.get_option_no_throw("--" + item.name);
    return option != nullptr && !Variable(option->get_envname()).empty();
  }

  const CLI::App& program_;
  mutable std::set<std::string> profiles_;  // Of the file that was read.
};

}  // namespace

void CheckVariables(const CLI::App& program) {
  for (const CLI::Option* const option : program.get_options()) {
    const std::string value = Variable(option->get_envname());
    if (value.empty() || option->count() > 0) continue;
    throw CLI::ValidationError(option->get_envname(),
                               absl::StrCat(value, " is no value of ", option->get_name()));
  }
}

void AddConfiguration(CLI::App& program) {
  // CLI11 looks for the file before it looks at the environment, so this is done here.
  const std::string named = Variable("GRIDFOLD_CLIENT_CONFIG");
  program
      .set_config("--config", named.empty() ? DefaultPath() : named,
                  "Read options of the program from this file, in TOML form "
                  "(Env:GRIDFOLD_CLIENT_CONFIG)",
                  /*config_required=*/!named.empty())
      ->type_name("FILE");
  program.add_option("--profile", "Take what the file says in its section [profile.NAME] first")
      ->envname(kProfileVariable)
      ->type_name("NAME")
      ->configurable(false)
      ->take_last();
  const auto reader = std::make_shared<ProfileReader>(program);
  program.config_formatter(reader);
  program.allow_config_extras(CLI::config_extras_mode::error);
  program.parse_complete_callback([reader, &program] {
    reader->CheckProfile();
    CheckVariables(program);
  });
}

}  // namespace gridfold::client
