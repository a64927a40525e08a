// Command lines as a whole against a fake server: exit codes, errors, standard input and output,
// help.
#include "client/command_line/program.h"

#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/output/terminal.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "gridfold/v1/error_details.pb.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, CommandLinesThatMakeNoSenseAreUsageErrors) {
  const std::vector<std::vector<std::string>> all = {
      {},
      {"reduce"},
      {"multiply", "x.npy"},
      {"reduce", "@in.csv", "--unknown"},
      {"reduce", "@in.csv", "--stat", "median"},
      {"reduce", "@in.csv", "--axis", "0", "--segments", "0,2"},
      {"reduce", "@in.csv", "--segments", "0,,2"},
      {"reduce", "@in.csv", "--type", "float128"},
      {"reduce", "@in.csv", "--shape", "2,1,1,1,1,1,1,1,1"},
      {"reduce", "@in.csv", "--axis", "0,"},
      {"reduce", "@in.csv", "--format", "xml"},
      {"reduce", "@in.csv", "--delimiter", "ab"},
      {"scan", "@in.csv", "--op", "median"},
      {"scan", "@in.csv", "--output-type", "x"},
      {"histogram", "@in.csv", "--edges", "0,1", "--bins", "3"},
      {"histogram", "@in.csv", "--quantiles", "half"},
      {"--timeout", "-1", "info"},
      {"--timeout", "nan", "info"},
      {"--priority", "urgent", "info"},
      {"reduce", "@in.csv", "--array", "x"},
      {"reduce", "--array", "x[1]"},
      {"reduce", "--array", "x[1:2"},
      {"reduce", "--array", "x[-1:2]"},
      {"reduce", "--array", "[1:2]"},
      {"scan", "--array", "x", "--to-array", "y", "--in-place"},
      {"scan", "--array", "x", "--to-array", "y", "--output", "z.npy"},
      {"histogram", "@in.csv", "--weights-array", "x[]"},
      {"array"},
      {"array", "steal", "x"},
      {"array", "create", "x", "--type", "int8"},
      {"array", "create", "x", "--type", "int9", "--shape", "1"},
      {"array", "create", "x", "--type", "int8", "--shape", "one"},
      {"array", "create", "x", "--type", "int8", "--shape", "1", "--expire", "soon"},
      {"array", "create", "x", "--type", "int8", "--shape", "1", "--device", "-1"},
      {"array", "put", "x"},
      {"array", "get", "x[1:2:3]", "--output", "-"},
  };
  for (const std::vector<std::string>& arguments : all) {
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_NE(error_out_.str(), "");
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(ProgramTest, FilesThatMakeNoSenseAreInputErrors) {
  Write("bad.npy", "not numpy");
  EXPECT_EQ(Run({"reduce", "@missing.npy"}), ExitCode::kInputOutput);
  EXPECT_THAT(error_out_.str(), HasSubstr("missing.npy: No such file"));
  EXPECT_EQ(Run({"reduce", "@bad.npy"}), ExitCode::kInputOutput);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--column", "z"}), ExitCode::kInputOutput);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--shape", "3,3"}), ExitCode::kInputOutput);
}

TEST_F(ProgramTest, ServerErrorsNameTheFieldAndTheDelay) {
  v1::RpcStatus details;
  google::protobuf::Any& bad_request = *details.add_details();
  bad_request.set_type_url("type.googleapis.com/google.rpc.BadRequest");
  v1::BadRequest violation;
  violation.add_field_violations()->set_field("grouping.axis");
  bad_request.set_value(violation.SerializeAsString());
  error_ =
      grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no such axis", details.SerializeAsString());
  EXPECT_EQ(Run({"reduce", "@in.csv", "--json"}), ExitCode::kRequestFailed);
  EXPECT_EQ(error_out_.str(), "gridfold: no such axis\n  field: grouping.axis\n");
  EXPECT_EQ(nlohmann::json::parse(out_.str())["error"]["field"], "grouping.axis");
}

TEST_F(ProgramTest, StandardInputIsOneArray) {
  for (const std::vector<std::string>& second :
       {std::vector<std::string>{"--weights-column", "2"}, {"--y", "-"}, {"--weights", "-"}}) {
    std::vector<std::string> arguments = {"histogram", "-", "--format", "csv", "--bins", "3"};
    arguments.insert(arguments.end(), second.begin(), second.end());
    EXPECT_EQ(Run(arguments), ExitCode::kUsage);
    EXPECT_THAT(error_out_.str(), HasSubstr("standard input can be read once"));
  }
  EXPECT_EQ(Run({"histogram", "@in.csv", "--bins", "3", "--y", "-", "--weights", "-"}),
            ExitCode::kUsage);
}

// Takes no character, as a full disk.
class FullBuffer : public std::streambuf {};

TEST_F(ProgramTest, OutputThatIsNotWrittenIsAnError) {
  const std::string file = Path("in.csv");
  const std::vector<std::vector<const char*>> command_lines = {
      {"--version"}, {"info", "--health"}, {"reduce", file.c_str(), "--json"}};
  for (const std::vector<const char*>& arguments : command_lines) {
    std::vector<const char*> argv = {"gridfold", "--server", server_.target().c_str()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    FullBuffer full;
    std::ostream out(&full);
    error_out_.str("");
    const TextStyle style = {.width = 80, .unicode = false, .colour = false};
    EXPECT_EQ(RunProgram(static_cast<int>(argv.size()), argv.data(), style, style, out, error_out_),
              ExitCode::kInputOutput);
    EXPECT_EQ(error_out_.str(), "gridfold: standard output: cannot be written\n");
  }
}

TEST_F(ProgramTest, NoServerIsUnreachable) {
  EXPECT_EQ(Run({"info", "--server", "127.0.0.1:1"}), ExitCode::kUnreachable);
  EXPECT_THAT(error_out_.str(), HasSubstr("cannot connect to 127.0.0.1:1"));
  EXPECT_THAT(error_out_.str(), HasSubstr("gridfold_server"));
}

TEST_F(ProgramTest, HealthIsAnExitCode) {
  EXPECT_EQ(Run({"info", "--health"}), ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), "SERVING\n");
  server_.health().SetServingStatus(false);
  EXPECT_EQ(Run({"info", "--health"}), ExitCode::kRequestFailed);
  EXPECT_EQ(out_.str(), "NOT_SERVING\n");
}

TEST_F(ProgramTest, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(Run({"--help"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("Exit codes:"));
  for (const char* command : {"info", "reduce", "scan", "histogram", "array"}) {
    EXPECT_EQ(Run({command, "--help"}), ExitCode::kSuccess);
    EXPECT_THAT(out_.str(), HasSubstr(absl::StrCat("Examples:\n  gridfold ", command)));
  }
  EXPECT_EQ(Run({"--version"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("gridfold "));
  const std::string version = out_.str();
  EXPECT_EQ(Run({"-V"}), ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), version);
}

TEST_F(ProgramTest, HelpIsACommandToo) {
  const std::vector<std::vector<std::string>> paths = {{}, {"reduce"}, {"array", "put"}};
  // CLI11 lists what an option excludes in no particular order.
  const auto beginning = [](const std::string& help) { return help.substr(0, help.find("Excl")); };
  for (const std::vector<std::string>& path : paths) {
    std::vector<std::string> asked = {"help"};
    asked.insert(asked.end(), path.begin(), path.end());
    EXPECT_EQ(Run(asked), ExitCode::kSuccess);
    const std::string help = out_.str();
    std::vector<std::string> option = path;
    option.push_back("--help");
    EXPECT_EQ(Run(option), ExitCode::kSuccess);
    EXPECT_EQ(beginning(help), beginning(out_.str()));
    EXPECT_THAT(help, HasSubstr("Usage: gridfold"));
  }
  EXPECT_EQ(Run({"help", "array", "putt"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("there is no command 'putt'; did you mean put?"));
}

}  // namespace
}  // namespace gridfold::client
