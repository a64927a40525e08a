#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manual/completion.h"

namespace gridfold::manual {
namespace {

std::string Quote(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string NamesBelow(const CommandDescription& command) {
  return absl::StrJoin(
      command.commands, " ",
      [](std::string* out, const CommandDescription& below) { out->append(below.path.back()); });
}

// Whether the words so far have come to the command, of which fish knows the words alone.
std::string Condition(const CommandDescription& command) {
  std::vector<std::string> seen;
  for (size_t i = 1; i < command.path.size(); ++i) {
    seen.push_back("__fish_seen_subcommand_from " + command.path[i]);
  }
  return absl::StrJoin(seen, "; and ");
}

std::string ConditionOfCommands(const CommandDescription& command) {
  const std::string here = Condition(command);
  return absl::StrCat(here, here.empty() ? "" : "; and ", "not __fish_seen_subcommand_from ",
                      NamesBelow(command));
}

std::string Values(const OptionDescription& option) {
  const std::string values = absl::StrJoin(option.values, " ");
  return Quote(option.takes_list ? absl::StrCat("(__fish_append , ", values, ")") : values);
}

std::string OptionLine(const std::string& start, const OptionDescription& option) {
  std::string line = start;
  for (const std::string& name : option.names) {
    absl::StrAppend(&line,
                    name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
  }
  if (option.takes_value()) absl::StrAppend(&line, option.takes_path ? " -r -F" : " -x");
  if (!option.values.empty()) absl::StrAppend(&line, " -a ", Values(option));
  return absl::StrCat(line, " -d ", Quote(Brief(option.text)), "\n");
}

}  // namespace

std::string WriteFishCompletion(const CommandDescription& program) {
  const std::string start = absl::StrCat("complete -c ", program.path.front());
  std::string text = "# Made from the program's own options; changes here are lost.\n";
  ForEachCommand(
      program, [&](const CommandDescription& command, const std::vector<OptionDescription>&) {
        const std::string condition = Condition(command);
        const std::string here =
            condition.empty() ? start : absl::StrCat(start, " -n ", Quote(condition));
        for (const CommandDescription& below : command.commands) {
          absl::StrAppend(&text, start, " -n ", Quote(ConditionOfCommands(command)), " -f -a ",
                          below.path.back(), " -d ", Quote(Brief(below.text)), "\n");
        }
        for (const OptionDescription& argument : command.arguments) {
          if (argument.values.empty()) continue;
          absl::StrAppend(&text, here, " -f -a ", Values(argument), "\n");
        }
        // fish offers the options above a command without being told.
        for (const OptionDescription& option : command.options) {
          absl::StrAppend(&text, OptionLine(here, option));
        }
      });
  return text;
}

}  // namespace gridfold::manual
