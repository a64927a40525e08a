#include "client/command_line/arguments/usage.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/command_line/arguments/suggestion.h"

namespace gridfold::client {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_footer(const CLI::App* app) const override {
    const CLI::App* program = app;
    while (program->get_parent() != nullptr) program = program->get_parent();
    if (program == app) return Formatter::make_footer(app);
    const std::vector<const CLI::Option*> options =
        program->get_options([program](const CLI::Option* option) {
          return option != program->get_help_ptr() && option->get_name() != "--version";
        });
    return absl::StrCat(make_group("Server and output, as of every command", false, options),
                        Formatter::make_footer(app));
  }
};

// Of the command and those above it.
std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* const option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::string DescribeUnexpected(const CLI::App& program, const std::string& text) {
  const CLI::App& command = ChosenCommand(program);
  if (text.size() < 2 || text[0] != '-') {
    const std::vector<std::string> names = CommandNames(command);
    if (names.empty()) return absl::StrCat("'", text, "' is one argument too many");
    return absl::StrCat("there is no command '", text, "'", DidYouMean(text, names));
  }
  const std::string name = text.substr(0, text.find('='));
  return absl::StrCat("there is no option ", name, DidYouMean(name, OptionNames(command)));
}

// The arguments that CLI11's message of an ExtrasError lists, from the last to the first: those of
// a subcommand are told nowhere else. An option that is none comes before what may be its value.
std::vector<std::string> UnexpectedOf(absl::string_view message) {
  std::vector<std::string> arguments =
      absl::StrSplit(message.substr(message.rfind(": ") + 2), ' ', absl::SkipEmpty());
  std::reverse(arguments.begin(), arguments.end());
  std::stable_partition(arguments.begin(), arguments.end(),
                        [](const std::string& argument) { return argument[0] == '-'; });
  return arguments;
}

}  // namespace

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string FullName(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : absl::StrCat(FullName(*parent), " ", command.get_name());
}

void UseHelpFormatter(CLI::App& program) { program.formatter(std::make_shared<HelpFormatter>()); }

const CLI::App& ChosenCommand(const CLI::App& program) {
  const CLI::App* chosen = &program;
  while (true) {
    const CLI::App* next = nullptr;
    for (const CLI::App* const command : chosen->get_subcommands()) {
      if (command->parsed()) next = command;
    }
    if (next == nullptr) return *chosen;
    chosen = next;
  }
}

absl::StatusOr<std::string> HelpOf(const CLI::App& program, const std::vector<std::string>& path) {
  const CLI::App* command = &program;
  for (const std::string& name : path) {
    const auto named =
        command->get_subcommands([&](const CLI::App* below) { return below->get_name() == name; });
    if (named.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("there is no command '", name, "'",
                                                     DidYouMean(name, CommandNames(*command))));
    }
    command = named.front();
  }
  return command->get_formatter()->make_help(command, FullName(*command),
                                             CLI::AppFormatMode::Normal);
}

std::string DescribeUsageError(const CLI::App& program, const CLI::ParseError& error) {
  std::string what = error.what();
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  std::vector<std::string> unexpected;
  if (is(CLI::ExitCodes::ExtrasError)) {
    unexpected = UnexpectedOf(what);
  } else if (is(CLI::ExitCodes::RequiredError) && !CommandNames(ChosenCommand(program)).empty()) {
    // A command that is none leaves its options without one: it is what is wrong.
    unexpected = program.remaining(/*recurse=*/true);
  }
  if (!unexpected.empty()) what = DescribeUnexpected(program, unexpected.front());
  return absl::StrCat(what, "\nRun ", FullName(ChosenCommand(program)),
                      " --help for more information.\n");
}

}  // namespace gridfold::client
