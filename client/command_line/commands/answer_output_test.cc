// Answers in the forms that are asked for: of several files and columns, as JSON, CSV, Markdown and
// .npy, and drawn.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/input/file.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, SeveralColumnsAndFilesAreAnsweredOneByOne) {
  Write("in2.csv", "x,y\n5,6\n");
  EXPECT_EQ(Run({"reduce", "@in*.csv", "--column", "x", "--column", "y", "--stat", "sum",
                 "--output", "csv"}),
            ExitCode::kSuccess);
  const std::string first = Path("in.csv");
  const std::string second = Path("in2.csv");
  EXPECT_EQ(out_.str(), absl::StrCat("source,column,sum\n", first, ",x,42\n", first, ",y,42\n",
                                     second, ",x,42\n", second, ",y,42\n"));
  EXPECT_EQ(Run({"reduce", "@in.csv", "@in2.csv", "--stat", "sum", "--output", "markdown"}),
            ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), absl::StrCat("| source | column | sum |\n| --- | --- | --- |\n| ", first,
                                     " |  | 42 |\n| ", second, " |  | 42 |\n"));
  // One object a line.
  EXPECT_EQ(Run({"reduce", "@in.csv", "@in2.csv", "--json"}), ExitCode::kSuccess);
  const std::string lines = out_.str();
  EXPECT_EQ(nlohmann::json::parse(lines.substr(lines.find('\n')))["input"]["source"], second);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--column", "y", "--stat", "sum"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("in.csv, column y: 2 int64 elements"));

  for (const std::vector<std::string>& rest :
       std::vector<std::vector<std::string>>{{"reduce", "--output", "npy"},
                                             {"reduce", "--accumulator", "x.acc"},
                                             {"histogram", "--bins", "2", "--plot", "x.svg"}}) {
    std::vector<std::string> arguments = rest;
    arguments.insert(arguments.begin() + 1, {"@in.csv", "@in2.csv"});
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << rest[1];
    EXPECT_THAT(error_out_.str(), HasSubstr("there are 2"));
  }
  EXPECT_EQ(Run({"reduce", "@none*.csv"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("nothing matches"));
  EXPECT_EQ(Run({"reduce", "-", "-"}), ExitCode::kUsage);
}

TEST_F(ProgramTest, AnswersAreWrittenInTheFormOfTheFile) {
  for (const char* name : {"out.json", "out.csv", "out.md", "out.npy"}) Write(name, "");
  for (const char* name : {"@out.json", "@out.csv", "@out.md", "@out.npy"}) {
    EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum", "--output", name}), ExitCode::kSuccess);
    EXPECT_EQ(out_.str(), "");
  }
  EXPECT_EQ(nlohmann::json::parse(*ReadFile(Path("out.json"), 9999, nullptr))["statistics"]["sum"],
            nlohmann::json({42}));
  EXPECT_THAT(*ReadFile(Path("out.csv"), 9999, nullptr), testing::StartsWith("source,column,sum"));
  EXPECT_THAT(*ReadFile(Path("out.md"), 9999, nullptr), testing::StartsWith("| source |"));
  // One int64 without dimensions, behind a header.
  const std::string npy = *ReadFile(Path("out.npy"), 9999, nullptr);
  EXPECT_THAT(npy, HasSubstr("'shape': ()"));
  EXPECT_EQ(npy.substr(npy.size() - 8), std::string("\x2a\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum,max", "--output", "npy"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--output", "out.xls"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("'out.xls' is neither json, csv, markdown nor npy"));
  EXPECT_EQ(Run({"scan", "@in.csv", "--output", "csv"}), ExitCode::kSuccess);
  EXPECT_EQ(out_.str(), absl::StrCat("source,column,index_0,value\n", Path("in.csv"), ",,0,1\n",
                                     Path("in.csv"), ",,1,3\n"));
}

TEST_F(ProgramTest, AnswersAreDrawn) {
  Write("sum.svg", "");
  Write("sum.html", "");
  EXPECT_EQ(Run({"scan", "@in.csv", "--plot", "@sum.svg"}), ExitCode::kSuccess);
  const std::string drawing = *ReadFile(Path("sum.svg"), 99999, nullptr);
  EXPECT_THAT(drawing, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  // The fake server's results are its input: 1 at index 0, 3 at index 1.
  EXPECT_THAT(drawing, HasSubstr("<title>1: 3</title>"));
  EXPECT_THAT(out_.str(), HasSubstr("index"));
  EXPECT_EQ(Run({"scan", "@in.csv", "--plot", "@sum.html", "--json"}), ExitCode::kSuccess);
  EXPECT_THAT(*ReadFile(Path("sum.html"), 99999, nullptr), HasSubstr("in.csv</h1>\n<svg "));
  EXPECT_EQ(Run({"scan", "@in.csv", "--plot", "sum.gif"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("none of .svg, .html and .png"));
  EXPECT_EQ(Run({"histogram", "@in.csv", "--bins", "2", "--plot", "sum"}), ExitCode::kUsage);
}

}  // namespace
}  // namespace gridfold::client
