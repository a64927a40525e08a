// `gridfold reduce` against a fake server: what is asked of it, and what is printed.
#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, ReduceFlagsReachTheServer) {
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum,max", "--segments", "0,1,2", "--ignore-nan",
                 "--wrap", "--ddof", "1"}),
            ExitCode::kSuccess);
  ExpectMessage(reduce_request_, absl::StrCat("array {", kFirstColumn, R"(}
    statistics: STATISTIC_SUM statistics: STATISTIC_MAX
    grouping { segments { offsets: 0 offsets: 1 offsets: 2 } }
    nan_policy: NAN_POLICY_IGNORE overflow_policy: OVERFLOW_POLICY_WRAP
    delta_degrees_of_freedom: 1)"));
}

TEST_F(ProgramTest, OutputTypesReachTheServer) {
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "mean", "--output-type", "float16"}),
            ExitCode::kSuccess);
  EXPECT_EQ(reduce_request_.output_type(), v1::ELEMENT_TYPE_FLOAT16);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--output-type", "half"}), ExitCode::kUsage);
  EXPECT_THAT(error_out_.str(), HasSubstr("--output-type: 'half' is none of int8"));
}

TEST_F(ProgramTest, SegmentsComeFromAFile) {
  Run({"reduce", "@in.csv", "--segments", "@offsets.txt"});
  EXPECT_EQ(reduce_request_.grouping().segments().offsets_size(), 3);
  EXPECT_EQ(Run({"reduce", "@in.csv", "--segments", "@missing"}), ExitCode::kInputOutput);
}

TEST_F(ProgramTest, ReducePrintsATable) {
  EXPECT_EQ(Run({"reduce", "@in.csv", "--column", "y", "--stat", "sum", "--stat", "max"}),
            ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("sum  42\nmax  42\n"));
  EXPECT_EQ(error_out_.str(), "");
}

TEST_F(ProgramTest, ReducePrintsJson) {
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum", "--json"}), ExitCode::kSuccess);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["statistics"]["sum"][0], 42);
}

}  // namespace
}  // namespace gridfold::client
