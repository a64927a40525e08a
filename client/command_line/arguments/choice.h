// Options whose value is one of some names.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_CHOICE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_CHOICE_H_

#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/arguments/suggestion.h"

namespace gridfold::client {

template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

// Adds `flag`, which sets `value`, and must outlive the parsing, to what stands for its name.
// Help lists the names, as {a,b,c}, and so does the error of another name. `aliases` are taken too,
// and not listed.
template <typename T>
CLI::Option* AddChoice(CLI::App& command, const std::string& flag, T& value, Choices<T> choices,
                       const std::string& description, const Choices<T>& aliases = {}) {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : choices) names.push_back(name);
  const std::string value_name = absl::StrCat("{", absl::StrJoin(names, ","), "}");
  choices.insert(choices.end(), aliases.begin(), aliases.end());
  const auto parse = [flag, &value, names = std::move(names),
                      choices = std::move(choices)](const std::string& text) {
    for (const auto& [name, meaning] : choices) {
      if (name == text) {
        value = meaning;
        return;
      }
    }
    throw CLI::ValidationError(flag, NoneOf(text, names));
  };
  return command.add_option_function<std::string>(flag, parse, description)->type_name(value_name);
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_CHOICE_H_
