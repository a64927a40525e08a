#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manual/completion.h"

namespace gridfold::manual {
namespace {

// For the inside of single quotes, where _arguments reads colons and brackets.
std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"'", "'\\''"}, {"\\", "\\\\"}, {":", "\\:"}, {"[", "\\["}, {"]", "\\]"}});
}

std::string FunctionName(const CommandDescription& command) {
  return absl::StrCat("_", absl::StrJoin(command.path, "_"));
}

// What _arguments does to complete a value.
std::string Action(const OptionDescription& option) {
  const std::string values = absl::StrJoin(option.values, " ");
  if (!values.empty() && option.takes_list) return absl::StrCat("_sequence compadd - ", values);
  if (!values.empty()) return absl::StrCat("(", values, ")");
  return option.takes_path ? "_files" : "";
}

std::string OptionSpecs(const std::vector<OptionDescription>& options) {
  std::string specs;
  for (const OptionDescription& option : options) {
    for (const std::string& name : option.names) {
      absl::StrAppend(&specs, "    '*", name, option.takes_value() ? "=" : "", "[",
                      Escape(Brief(option.text)), "]");
      if (option.takes_value()) {
        absl::StrAppend(&specs, ":", Escape(option.value_name), ":", Action(option));
      }
      absl::StrAppend(&specs, "' \\\n");
    }
  }
  return specs;
}

std::string CommandFunction(const CommandDescription& command,
                            const std::vector<OptionDescription>& inherited) {
  std::string text =
      absl::StrCat(FunctionName(command), "() {\n  local curcontext=\"$curcontext\" state line\n",
                   "  _arguments -C \\\n", OptionSpecs(command.options), OptionSpecs(inherited));
  if (command.commands.empty()) {
    for (const OptionDescription& argument : command.arguments) {
      absl::StrAppend(&text, "    '*:", Escape(argument.value_name), ":", Action(argument),
                      "' \\\n");
    }
    return absl::StrCat(text, "    && return\n}\n\n");
  }
  absl::StrAppend(&text, "    '1:command:((");
  for (const CommandDescription& below : command.commands) {
    absl::StrAppend(&text, below.path.back(), "\\:\"", Escape(Brief(below.text)), "\" ");
  }
  absl::StrAppend(&text, "))' \\\n    '*::argument:->below' && return\n  case $line[1] in\n");
  for (const CommandDescription& below : command.commands) {
    absl::StrAppend(&text, "    ", below.path.back(), ") ", FunctionName(below), " ;;\n");
  }
  return absl::StrCat(text, "  esac\n}\n\n");
}

}  // namespace

std::string WriteZshCompletion(const CommandDescription& program) {
  const std::string& name = program.path.front();
  std::string text = absl::StrCat("#compdef ", name,
                                  "\n# Made from the program's own options; changes here are "
                                  "lost.\n\n");
  ForEachCommand(program, [&](const CommandDescription& command,
                              const std::vector<OptionDescription>& inherited) {
    absl::StrAppend(&text, CommandFunction(command, inherited));
  });
  // zsh runs the file as the function's body the first time.
  return absl::StrCat(text, FunctionName(program), " \"$@\"\n");
}

}  // namespace gridfold::manual
