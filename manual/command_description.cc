#include "manual/command_description.h"

#include <set>
#include <utility>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gridfold::manual {
namespace {

bool NamesFile(const std::string& value_name) {
  static const auto* const names =
      new std::set<std::string>{"FILE", "PATH", "FILE ...", "A,B,...|FILE", "FILES"};
  return names->contains(value_name);
}

// "a", "b" of "{a,b}"; "..." among them stands for other values.
std::vector<std::string> ListedValues(absl::string_view value_name) {
  if (!absl::ConsumePrefix(&value_name, "{") || !absl::ConsumeSuffix(&value_name, "}")) return {};
  std::vector<std::string> values;
  for (const absl::string_view value : absl::StrSplit(value_name, ',')) {
    if (absl::AsciiStrToLower(value) == value && !absl::StrContains(value, "...")) {
      values.emplace_back(value);
    }
  }
  return values;
}

std::string ValueName(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  // CLI11's own names of types.
  return type.empty() || type == "TEXT" ? std::string("VALUE") : type;
}

OptionDescription DescribeOption(const CLI::Option& option, const Vocabulary& vocabulary) {
  OptionDescription description;
  for (const std::string& name : option.get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
  description.value_name = description.names.empty() ? option.get_name() : ValueName(option);
  description.text = option.get_description();
  description.default_value = option.get_default_str();
  description.variable = option.get_envname();
  description.group = option.get_group();
  description.takes_path = NamesFile(description.value_name);
  absl::string_view word = description.value_name;
  description.takes_list = absl::ConsumeSuffix(&word, ",...");
  const auto known = vocabulary.find(std::string(word));
  description.values =
      known != vocabulary.end() ? known->second : ListedValues(description.value_name);
  return description;
}

CommandDescription DescribeBelow(const CLI::App& app, const Vocabulary& vocabulary,
                                 std::vector<std::string> path) {
  CommandDescription command;
  path.push_back(app.get_name());
  command.path = path;
  command.text = app.get_description();
  command.footer = app.get_footer();
  if (path.size() == 1) command.version = app.version();
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_group().empty()) continue;  // Hidden.
    OptionDescription description = DescribeOption(*option, vocabulary);
    (description.names.empty() ? command.arguments : command.options)
        .push_back(std::move(description));
  }
  for (const CLI::App* const below : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(DescribeBelow(*below, vocabulary, path));
  }
  return command;
}

}  // namespace

std::string CommandDescription::name() const { return absl::StrJoin(path, " "); }

CommandDescription Describe(const CLI::App& app, const Vocabulary& vocabulary) {
  return DescribeBelow(app, vocabulary, {});
}

}  // namespace gridfold::manual
