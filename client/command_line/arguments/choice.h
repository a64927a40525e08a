// Options whose value is one of some names.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_CHOICE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_CHOICE_H_

#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "client/command_line/arguments/suggestion.h"

namespace gridfold::client {

template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

// Adds `flag`, which sets `value`, and must outlive the parsing, to what stands for its name.
// Another name is an error that lists those there are. `aliases` are taken too, and not listed.
template <typename T>
CLI::Option* AddChoice(CLI::App& command, const std::string& flag, T& value, Choices<T> choices,
                       const std::string& description, Choices<T> aliases = {}) {
  const auto parse = [flag, &value, choices = std::move(choices),
                      aliases = std::move(aliases)](const std::string& text) {
    std::vector<std::string> names;
    for (const Choices<T>* const known : {&choices, &aliases}) {
      for (const auto& [name, meaning] : *known) {
        if (name == text) {
          value = meaning;
          return;
        }
        if (known == &choices) names.push_back(name);
      }
    }
    throw CLI::ValidationError(flag, NoneOf(text, names));
  };
  return command.add_option_function<std::string>(flag, parse, description);
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_ARGUMENTS_CHOICE_H_
