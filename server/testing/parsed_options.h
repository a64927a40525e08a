// Options as tests give them, by the command line, the environment or a file, and what comes of
// them.
#ifndef GRIDFOLD_SERVER_TESTING_PARSED_OPTIONS_H_
#define GRIDFOLD_SERVER_TESTING_PARSED_OPTIONS_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "server/options.h"

namespace gridfold::server {

inline std::variant<ServerOptions, EarlyExit> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gridfold_server");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

inline ServerOptions ParseGood(const std::vector<const char*>& arguments) {
  const auto parsed = Parse(arguments);
  if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
    ADD_FAILURE() << exit->text;
    return {};
  }
  return std::get<ServerOptions>(parsed);
}

inline EarlyExit ParseBad(const std::vector<const char*>& arguments) {
  const auto parsed = Parse(arguments);
  if (std::holds_alternative<ServerOptions>(parsed)) {
    ADD_FAILURE() << "accepted";
    return {};
  }
  return std::get<EarlyExit>(parsed);
}

// An environment variable for the length of a test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~ScopedVariable() { unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

inline std::string WriteFile(const std::string& content) {
  const std::string path = testing::TempDir() + "/options_test.toml";
  std::ofstream(path) << content;
  return path;
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_PARSED_OPTIONS_H_
