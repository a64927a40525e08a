// Accumulators in files, and `gridfold merge` of them against a fake server.
#include "client/command_line/exit_code.h"
#include "client/command_line/input/file.h"
#include "client/command_line/program_test_fixture.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, AccumulatorsAreWrittenAndMerged) {
  Write("a.acc", "");
  EXPECT_EQ(Run({"reduce", "@in.csv", "--stat", "sum", "--accumulator", "@a.acc", "--first-index",
                 "100"}),
            ExitCode::kSuccess);
  EXPECT_TRUE(reduce_request_.return_accumulator());
  EXPECT_EQ(reduce_request_.first_index(), 100u);
  EXPECT_EQ(*ReadFile(Path("a.acc"), 100, nullptr), "part");
  EXPECT_THAT(out_.str(), HasSubstr("sum  42\n"));

  Write("b.acc", "other");
  Write("merged.acc", "");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(reduction { results { statistic: STATISTIC_SUM values { int64_values { values: 43 } } }
                     group_count: 1 accumulator: "whole" }
         element_type: ELEMENT_TYPE_INT64 element_count: 1000)",
      &merge_response_));
  EXPECT_EQ(Run({"merge", "@a.acc", "@b.acc", "--output", "@merged.acc", "--partial",
                 "--output-type", "float32"}),
            ExitCode::kSuccess);
  ExpectMessage(merge_request_,
                "accumulators: 'part' accumulators: 'other' partial: true "
                "output_type: ELEMENT_TYPE_FLOAT32");
  EXPECT_EQ(*ReadFile(Path("merged.acc"), 100, nullptr), "whole");
  EXPECT_THAT(out_.str(), HasSubstr("2 accumulators: 1,000 int64 elements\n\nsum  43\n"));

  EXPECT_EQ(Run({"merge", "@a.acc", "--json"}), ExitCode::kSuccess);
  const nlohmann::json json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["operation"], "reduce");
  EXPECT_EQ(json["input"]["element_count"], 1000);
  EXPECT_EQ(json["statistics"]["sum"][0], 43);
}

TEST_F(ProgramTest, MergedHistogramsArePrinted) {
  Write("a.acc", "a");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(histogram { channels { counts: 3 counts: 5 quantile_values: -6.5 }
                     bins { bin_count: 2 } accumulator: "whole" }
         element_type: ELEMENT_TYPE_INT8 element_count: 8
         histogram_description { format: HISTOGRAM_FORMAT_DENSE quantiles: 0.5 first_values: -7 })",
      &merge_response_));
  EXPECT_EQ(Run({"merge", "@a.acc"}), ExitCode::kSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("-7  3  "));
  EXPECT_THAT(out_.str(), HasSubstr("-6  5  "));
  EXPECT_THAT(out_.str(), HasSubstr("quantile 0.5    -6.5\n"));
  EXPECT_EQ(Run({"merge", "@a.acc", "--json"}), ExitCode::kSuccess);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["channels"][0]["counts"][1], 5);
}

TEST_F(ProgramTest, MergeSubtracts) {
  Write("whole.acc", "whole");
  Write("new.acc", "new");
  Write("old.acc", "old");
  Write("older.acc", "older");
  Write("rest.acc", "");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(remainder {
           reduction { results { statistic: STATISTIC_SUM values { int64_values { values: 4 } } }
                       group_count: 1 accumulator: "rest" }
           element_type: ELEMENT_TYPE_INT64 element_count: 7 })",
      &subtract_response_));
  EXPECT_EQ(Run({"merge", "@whole.acc", "--subtract", "@old.acc", "--subtract", "@older.acc",
                 "--output", "@rest.acc"}),
            ExitCode::kSuccess);
  ExpectMessage(subtract_request_, "minuend: 'whole' subtrahends: 'old' subtrahends: 'older'");
  EXPECT_EQ(*ReadFile(Path("rest.acc"), 100, nullptr), "rest");
  EXPECT_THAT(out_.str(), HasSubstr("7 int64 elements\n\nsum  4\n"));
  // What was merged before.
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(reduction { group_count: 1 accumulator: "merged" })", &merge_response_));
  EXPECT_EQ(Run({"merge", "@whole.acc", "@new.acc", "--subtract", "@old.acc", "--partial"}),
            ExitCode::kSuccess);
  ExpectMessage(merge_request_, "accumulators: 'whole' accumulators: 'new' partial: true");
  ExpectMessage(subtract_request_, "minuend: 'merged' subtrahends: 'old' partial: true");
}

TEST_F(ProgramTest, MergeNeedsFilesThatCanBeRead) {
  EXPECT_EQ(Run({"merge"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"merge", "@missing.acc"}), ExitCode::kInputOutput);
}

}  // namespace
}  // namespace gridfold::client
