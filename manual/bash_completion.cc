#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manual/completion.h"

namespace gridfold::manual {
namespace {

constexpr char kScript[] =
    R"bash(# Bash completion for PROGRAM, made from its own options; changes here are lost.
_PROGRAM() {
  local current=${COMP_WORDS[COMP_CWORD]} command="" pending="" word i
  # Which command it is, and which option waits for its value. Bash splits --name=value at the "=".
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == "=" ]]; then
      continue
    elif [[ -n $pending ]]; then
      pending=""
    else
      case $word in
        VALUE_OPTIONS) pending=$word ;;
        *) case "$command/$word" in
             COMMANDS) command=$command/$word ;;
           esac ;;
      esac
    fi
  done
  [[ $current == "=" ]] && current=""

  # What fits: words, values with commas between, or files.
  local words="" list="" files=""
  if [[ -n $pending ]]; then
    case "$command $pending" in
VALUES
    esac
  else
    case $command in
OPTIONS
    esac
  fi
  COMPREPLY=()
  if [[ -n $list ]]; then
    local before=""
    [[ $current == *,* ]] && before=${current%,*},
    COMPREPLY=($(compgen -P "$before" -W "$list" -- "${current##*,}"))
    compopt -o nospace 2>/dev/null
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
  if [[ -n $files && $current != -* ]]; then
    local IFS=$'\n'
    COMPREPLY+=($(compgen -f -- "$current"))
    compopt -o filenames 2>/dev/null
  fi
  return 0
}
complete -F _PROGRAM PROGRAM
)bash";

// "/array/put" of `gridfold array put`, empty of the program.
std::string Key(const CommandDescription& command) {
  std::string key;
  for (size_t i = 1; i < command.path.size(); ++i) absl::StrAppend(&key, "/", command.path[i]);
  return key;
}

std::string Alternatives(const std::set<std::string>& words) {
  return words.empty() ? "''" : absl::StrJoin(words, "|");
}

// The line of a `case` that says what an option's value may be; nothing where anything may.
std::string ValueCase(const std::string& key, const OptionDescription& option) {
  std::string what;
  if (!option.values.empty()) {
    what = absl::StrCat(option.takes_list ? "list" : "words", "='",
                        absl::StrJoin(option.values, " "), "'");
  }
  if (option.takes_path) absl::StrAppend(&what, what.empty() ? "" : " ", "files=1");
  if (what.empty()) return "";
  std::vector<std::string> patterns;
  for (const std::string& name : option.names) {
    patterns.push_back(absl::StrCat("'", key, " ", name, "'"));
  }
  return absl::StrCat("      ", absl::StrJoin(patterns, "|"), ") ", what, " ;;\n");
}

std::string OptionsCase(const CommandDescription& command,
                        const std::vector<OptionDescription>& inherited) {
  std::vector<std::string> words;
  for (const CommandDescription& below : command.commands) words.push_back(below.path.back());
  bool takes_path = false;
  for (const OptionDescription& argument : command.arguments) {
    words.insert(words.end(), argument.values.begin(), argument.values.end());
    takes_path = takes_path || argument.takes_path;
  }
  for (const std::vector<OptionDescription>* const options : {&command.options, &inherited}) {
    for (const OptionDescription& option : *options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
    }
  }
  return absl::StrCat("      '", Key(command), "') words='", absl::StrJoin(words, " "), "'",
                      takes_path ? " files=1" : "", " ;;\n");
}

}  // namespace

std::string WriteBashCompletion(const CommandDescription& program) {
  std::set<std::string> value_options;
  std::set<std::string> commands;
  std::string values;
  std::string options;
  ForEachCommand(program, [&](const CommandDescription& command,
                              const std::vector<OptionDescription>& inherited) {
    if (command.path.size() > 1) commands.insert(Key(command));
    for (const std::vector<OptionDescription>* const all : {&command.options, &inherited}) {
      for (const OptionDescription& option : *all) {
        if (!option.takes_value()) continue;
        value_options.insert(option.names.begin(), option.names.end());
        absl::StrAppend(&values, ValueCase(Key(command), option));
      }
    }
    absl::StrAppend(&options, OptionsCase(command, inherited));
  });
  if (!values.empty()) values.pop_back();
  options.pop_back();
  return absl::StrReplaceAll(kScript, {{"PROGRAM", program.path.front()},
                                       {"VALUE_OPTIONS", Alternatives(value_options)},
                                       {"COMMANDS", Alternatives(commands)},
                                       {"VALUES", values},
                                       {"OPTIONS", options}});
}

}  // namespace gridfold::manual
