// `gridfold histogram` against a fake server: what is asked of it.
#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/command_line/program_test_fixture.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

TEST_F(ProgramTest, HistogramFlagsReachTheServer) {
  EXPECT_EQ(Run({"histogram", "@in.csv", "--bins", "4", "--range", "-1,1", "--y-column", "y",
                 "--weights-column", "2", "--clamp", "--sparse", "--quantiles", "0.5,1"}),
            ExitCode::kRequestFailed);
  ExpectMessage(histogram_request_, absl::StrCat("array {", kFirstColumn, "} y_array {",
                                                 kSecondColumn, "} weights {", kSecondColumn, R"(}
    bins { even { bin_count: 4 lower_bound: -1 upper_bound: 1 } }
    channel_count: 1
    out_of_range_policy: OUT_OF_RANGE_POLICY_CLAMP format: HISTOGRAM_FORMAT_SPARSE
    quantiles: 0.5 quantiles: 1
    compact_answer: true)"));
}

TEST_F(ProgramTest, LayoutsAndChannelsReachTheServer) {
  Run({"histogram", "--layout", "even:2:0:1", "--layout", "integer:-5:10", "--channels", "2",
       "@in.csv"});
  ExpectMessage(histogram_request_, absl::StrCat("array {", kFirstColumn, R"(}
    bins { even { bin_count: 2 lower_bound: 0 upper_bound: 1 } }
    bins { integer { first_value: -5 bin_count: 10 } }
    channel_count: 2
    out_of_range_policy: OUT_OF_RANGE_POLICY_DROP format: HISTOGRAM_FORMAT_DENSE
    compact_answer: true)"));
  Run({"histogram", "@in.csv", "--integer", "-3", "--bins", "7"});
  EXPECT_EQ(histogram_request_.bins(0).integer().first_value(), -3);
}

}  // namespace
}  // namespace gridfold::client
