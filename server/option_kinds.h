// Options of the kinds that most are of: each has a name "--...", a variable of the environment and
// a target, which holds the default and is set where the option is given. Used by options.cc and
// special_options.cc only.
#ifndef GRIDFOLD_SERVER_OPTION_KINDS_H_
#define GRIDFOLD_SERVER_OPTION_KINDS_H_

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gridfold::server {

// The variable of an option: "--max-queued-jobs" is also GRIDFOLD_MAX_QUEUED_JOBS.
std::string EnvironmentName(absl::string_view option);

// A text.
CLI::Option* AddText(CLI::App& app, const std::string& name, std::string& target,
                     const std::string& description);

// The path of a file, which is not empty.
void AddPath(CLI::App& app, const std::string& name, std::string& target,
             const std::string& description);

void AddFlag(CLI::App& app, const std::string& name, bool& target, const std::string& description);

// A size in bytes, also as "256MiB" and the like.
CLI::Option* AddSize(CLI::App& app, const std::string& name, uint64_t& target, uint64_t smallest,
                     uint64_t largest, const std::string& description);

// A time such as "30s", "500ms" or "2m"; a plain number is in seconds.
void AddDuration(CLI::App& app, const std::string& name, std::chrono::milliseconds& target,
                 std::chrono::milliseconds largest, const std::string& description);

// The whole number that all of `text` is: digits, and a minus sign where T has one. CLI11's own
// parser and absl::SimpleAtoi also take blanks and plus signs, and CLI11's lets numbers wrap
// around.
template <class T>
std::optional<T> ParseStrictly(absl::string_view text) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Empty, or why `text` is not a number between the two. Says more than CLI::Range does.
template <class T>
std::string CheckRange(const std::string& text, T smallest, T largest) {
  const std::optional<T> number = ParseStrictly<T>(text);
  if (number && *number >= smallest && *number <= largest) return "";
  return absl::StrCat("\"", text, "\" is not a number from ", smallest, " to ", largest);
}

template <class T>
void AddNumber(CLI::App& app, const std::string& name, T& target, T smallest, T largest,
               const std::string& description) {
  app.add_option(name, target, description)
      ->envname(EnvironmentName(name))
      ->capture_default_str()
      ->type_name("NUMBER")
      ->check([smallest, largest](const std::string& text) {
        return CheckRange(text, smallest, largest);
      });
}

// One of the names of `choices`. CLI11's own transformer would list the numbers of the enumeration.
template <class T>
void AddChoice(CLI::App& app, const std::string& name, T& target,
               const std::map<std::string, T>& choices, const std::string& description) {
  std::string names;
  std::string default_name;
  for (const auto& [choice, value] : choices) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", choice);
    if (value == target) default_name = choice;
  }
  app.add_option_function<std::string>(
         name,
         [name, names, &target, &choices](const std::string& text) {
           const auto choice = choices.find(text);
           if (choice == choices.end()) {
             throw CLI::ValidationError(name, absl::StrCat("\"", text, "\" is not one of ", names));
           }
           target = choice->second;
         },
         description)
      ->envname(EnvironmentName(name))
      ->type_name(absl::StrCat("{", names, "}"))
      ->default_str(default_name);
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_OPTION_KINDS_H_
