// What `gridfold group` says of command lines that make no sense.
#include <string>
#include <utility>
#include <vector>

#include "client/command_line/exit_code.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using Arguments = std::vector<std::string>;

class GroupCommandTest : public ProgramTest {
 protected:
  void ExpectUsageError(Arguments arguments, const std::string& message) {
    arguments.insert(arguments.begin(), "group");
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_THAT(error_out_.str(), testing::StartsWith("gridfold: " + message + "\n"))
        << testing::PrintToString(arguments);
    EXPECT_EQ(out_.str(), "");
  }
};

TEST_F(GroupCommandTest, OptionsThatDoNotGoTogether) {
  const std::vector<std::pair<Arguments, std::string>> wrong = {
      {{"--clamp"}, "--clamp: goes with bins"},
      {{"--key-range", "0:3", "--bins", "4"}, "--key-range: not with bins"},
      {{"--op", "median", "-q", "1"}, "--op: median is --quantile 0.5 where others are asked for"},
  };
  for (const auto& [options, message] : wrong) {
    Arguments arguments = {"@in.csv", "--key", "y"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    ExpectUsageError(arguments, message);
  }
}

TEST_F(GroupCommandTest, ARangeOfKeysIsTwoNumbers) {
  for (const std::string range : {"3", "3:", ":3", "x:3", "3:x", "3:-1", "18446744073709551616:1",
                                  "-9223372036854775809:1", "1:2:3"}) {
    ExpectUsageError({"@in.csv", "--key", "y", "--key-range", range},
                     "--key-range: '" + range + "' is not FIRST:COUNT");
  }
}

TEST_F(GroupCommandTest, KeysAndValuesAreNeeded) {
  ExpectUsageError(
      {"@in.csv"},
      "VALUES, --key, --key-member or --key-array is required: keys and values are two arrays");
  ExpectUsageError({"--array", "x"}, "--key-array or FILE is required");
}

}  // namespace
}  // namespace gridfold::client
