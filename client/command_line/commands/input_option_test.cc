// What every command that takes an array says of options of its input that make no sense, and the
// help of every command: command lines as a whole, none of which asks a server.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Arguments = std::vector<std::string>;

// With which their input, and options of it, are all that is missing.
const std::vector<Arguments>& CommandsOfAnArray() {
  static const auto* const commands = new std::vector<Arguments>{
      {"reduce"}, {"scan"}, {"histogram"}, {"quantile"}, {"topk"}, {"group"}, {"relate"}};
  return *commands;
}
const std::vector<Arguments>& CommandsOfAFile() {
  static const auto* const commands = new std::vector<Arguments>{
      {"describe"}, {"array", "put", "name"}, {"array", "write", "name"}};
  return *commands;
}

Arguments Joined(const Arguments& one, const Arguments& other) {
  Arguments all = one;
  all.insert(all.end(), other.begin(), other.end());
  return all;
}

class InputOptionTest : public ProgramTest {
 protected:
  void ExpectUsageError(const Arguments& arguments, const std::string& message) {
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << absl::StrJoin(arguments, " ");
    EXPECT_THAT(error_out_.str(), StartsWith(absl::StrCat("gridfold: ", message)))
        << absl::StrJoin(arguments, " ");
    EXPECT_EQ(out_.str(), "");
  }
};

TEST_F(InputOptionTest, OptionsThatMakeNoSenseAreNamed) {
  const std::vector<std::pair<Arguments, std::string>> wrong = {
      {{"--type", "float128"}, "--type: 'float128' is none of int8, int16, "},
      {{"--shape", "1,x"}, "--shape: 'x' is not a number that fits\n"},
      {{"--shape", "1,-1"}, "--shape: '-1' is not a number that fits\n"},
      {{"--shape", "1,1,1,1,1,1,1,1,1"}, "--shape: 9 extents are more than 8\n"},
      {{"--delimiter", "ab"}, "--delimiter: 'ab' is not one character, or is one that has "},
      {{"--delimiter", "\""}, "--delimiter: '\"' is not one character, or is one that has "},
      {{"--comment", "ab"}, "--comment: 'ab' is not one character, or is one that has "},
      {{"--comment", "\n"}, "--comment: '\n' is not one character, or is one that has "},
      {{"--comment", "\r"}, "--comment: '\r' is not one character, or is one that has "},
      {{"--comment", ";", "--delimiter", ";"}, "--comment: is the character of --delimiter\n"},
      {{"--comment", "\t", "--delimiter", "\\t"}, "--comment: is the character of --delimiter\n"},
  };
  std::vector<Arguments> commands = CommandsOfAnArray();
  commands.insert(commands.end(), CommandsOfAFile().begin(), CommandsOfAFile().end());
  for (const Arguments& command : commands) {
    for (const auto& [options, message] : wrong) {
      ExpectUsageError(Joined(Joined(command, {"@in.csv"}), options), message);
    }
  }
}

TEST_F(InputOptionTest, AnArrayIsNeeded) {
  for (const Arguments& command : CommandsOfAnArray()) {
    ExpectUsageError(command, "FILE or --array is required\n");
    ExpectUsageError(Joined(command, {"--array", "x[1"}), "--array: 'x[1' does not end with ]\n");
    ExpectUsageError(Joined(command, {"--array", "x[1]"}),
                     "--array: two numbers are needed in brackets, [FIRST:COUNT]; ");
    ExpectUsageError(Joined(command, {"--array", "x{1"}), "--array: 'x{1' does not end with }\n");
    ExpectUsageError(Joined(command, {"--array", "x{::0}"}), "--array: '::0' is no index");
    ExpectUsageError(Joined(command, {"--array", "x", "@in.csv"}), "");
    ExpectUsageError(Joined(command, {"--array", "x", "--shared"}), "");
  }
  for (const Arguments& command : CommandsOfAFile()) {
    ExpectUsageError(command, "FILE is required");
  }
}

// The first line of its help names the command, and so does an example.
TEST_F(InputOptionTest, EveryCommandHasItsOwnHelp) {
  const std::vector<Arguments> paths = {{"info"},
                                        {"watch"},
                                        {"describe"},
                                        {"reduce"},
                                        {"scan"},
                                        {"histogram"},
                                        {"group"},
                                        {"quantile"},
                                        {"topk"},
                                        {"relate"},
                                        {"merge"},
                                        {"help"},
                                        {"array"},
                                        {"array", "create"},
                                        {"array", "put"},
                                        {"array", "write"},
                                        {"array", "get"},
                                        {"array", "show"},
                                        {"array", "list"},
                                        {"array", "delete"},
                                        {"region"},
                                        {"region", "list"},
                                        {"region", "unregister"}};
  for (const Arguments& path : paths) {
    const std::string name = absl::StrJoin(path, " ");
    EXPECT_EQ(Run(Joined({"help"}, path)), ExitCode::kSuccess) << name;
    const std::string help = out_.str();
    EXPECT_THAT(help, HasSubstr(absl::StrCat("Usage: gridfold ", name, " ["))) << name;
    EXPECT_THAT(help, HasSubstr("--server")) << name;
    EXPECT_EQ(Run(Joined(path, {"--help"})), ExitCode::kSuccess) << name;
    EXPECT_THAT(out_.str(), HasSubstr(absl::StrCat("Usage: gridfold ", name, " ["))) << name;
    // Every name that is none is said to be so, also below a command.
    EXPECT_EQ(Run(Joined(Joined({"help"}, path), {"xyzzy"})), ExitCode::kUsage) << name;
    EXPECT_EQ(error_out_.str(), "gridfold: there is no command 'xyzzy'\n") << name;
  }
  EXPECT_EQ(Run({"help"}), ExitCode::kSuccess);
  for (const Arguments& path : paths) {
    if (path.size() == 1) {
      EXPECT_THAT(out_.str(), HasSubstr(absl::StrCat("\n  ", path[0], " ")));
    }
  }
}

}  // namespace
}  // namespace gridfold::client
