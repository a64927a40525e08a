// Reductions by key: for people, as tables, as JSON and as arrays.
#include "client/command_line/report/group_report.h"

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/report/answer_test_util.h"
#include "client/command_line/report/group_table.h"
#include "client/command_line/report/json_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string TextOf(const KeyedReductionResult& result, const KeyedReductionOptions& options,
                   uint64_t rows_max = 20) {
  std::ostringstream out;
  PrintGroups(AnswerOf(result), options, rows_max, kPlain, out);
  return out.str();
}

std::string CsvOf(const KeyedReductionResult& result, const KeyedReductionOptions& options) {
  return ToCsv(ToTable(AnswerOf(result), options));
}

KeyedReductionResult ThreeGroups() {
  KeyedReductionResult result;
  result.entries = {{Statistic::kSum, std::vector<int64_t>{1000, -2, 3}},
                    {Statistic::kMean, std::vector<double>{0.5, 2, 3.25}}};
  result.group_count = 3;
  result.counts = {2000, 1, 4};
  return result;
}

TEST(GroupReportTest, FoundKeysNameTheirGroups) {
  KeyedReductionResult result = ThreeGroups();
  result.keys = std::vector<int64_t>{-7000, 0, 12};
  EXPECT_EQ(TextOf(result, {}), absl::StrCat(kInputLine,
                                             "   key  elements    sum  mean\n"
                                             "-7,000     2,000  1,000   0.5\n"
                                             "     0         1     -2     2\n"
                                             "    12         4      3  3.25\n"
                                             "\n",
                                             kExecutionLine));
  EXPECT_THAT(TextOf(result, {}, 2), HasSubstr("     0         1     -2     2\n"
                                               "and 1 more groups (--rows 0 shows all)\n\n"));
  EXPECT_EQ(TextOf(result, {}, 0), TextOf(result, {}, 3));
  EXPECT_EQ(CsvOf(result, {}),
            "source,column,key,elements,sum,mean\n"
            "a.csv,x,-7000,2000,1000,0.5\na.csv,x,0,1,-2,2\na.csv,x,12,4,3,3.25\n");
  EXPECT_EQ(ToJson(AnswerOf(result), {}),
            absl::StrCat(R"({"operation":"group",)", kInputJson,
                         R"(,"group_count":3,"keys":[-7000,0,12],"counts":[2000,1,4],)"
                         R"("statistics":{"sum":[1000,-2,3],"mean":[0.5,2.0,3.25]},)",
                         kExecutionJson, "}\n"));
}

TEST(GroupReportTest, KeysOfARangeAreCountedFromItsFirst) {
  const KeyedReductionOptions below = {.groups = KeyRange{.first_key = -1, .key_count = 3}};
  EXPECT_THAT(TextOf(ThreeGroups(), below), HasSubstr(" -1     2,000  1,000   0.5\n"
                                                      "  0         1     -2     2\n"
                                                      "  1         4      3  3.25\n\n"));
  EXPECT_THAT(CsvOf(ThreeGroups(), below), HasSubstr("a.csv,x,1,4,3,3.25\n"));
  EXPECT_THAT(ToJson(AnswerOf(ThreeGroups()), below), HasSubstr(R"("first_key":-1,"counts")"));
  const uint64_t large = uint64_t{1} << 63;
  const KeyedReductionOptions beyond = {.groups =
                                            KeyRange{.key_count = 3, .first_unsigned_key = large}};
  EXPECT_THAT(TextOf(ThreeGroups(), beyond), HasSubstr("\n9,223,372,036,854,775,810         4"));
  EXPECT_THAT(CsvOf(ThreeGroups(), beyond), HasSubstr("a.csv,x,9223372036854775809,1,-2,2\n"));
  EXPECT_THAT(ToJson(AnswerOf(ThreeGroups()), beyond),
              HasSubstr(R"("first_key":9223372036854775808,"counts")"));
}

TEST(GroupReportTest, BinsAreNamedByTheirLowerEdges) {
  KeyedReductionResult result = ThreeGroups();
  result.bins = {{.bin_count = 3, .edges = {0, 0.5, 2, 10}}};
  const KeyedReductionOptions options = {.groups = KeyBins{.bins = {EdgeBins{{0, 0.5, 2, 10}}}}};
  EXPECT_THAT(TextOf(result, options), HasSubstr("bin from  elements    sum  mean\n"
                                                 "       0     2,000  1,000   0.5\n"
                                                 "     0.5         1     -2     2\n"
                                                 "       2         4      3  3.25\n\n"));
  EXPECT_EQ(CsvOf(result, options),
            "source,column,lower,upper,elements,sum,mean\n"
            "a.csv,x,0,0.5,2000,1000,0.5\na.csv,x,0.5,2,1,-2,2\na.csv,x,2,10,4,3,3.25\n");
  result.underflow_count = 1111;
  result.overflow_count = 22;
  result.nan_count = 3;
  EXPECT_THAT(TextOf(result, options),
              HasSubstr("3.25\noutside the bins: 1,111 below, 22 above, 3 NaN\n\n"));
  EXPECT_THAT(ToJson(AnswerOf(result), options),
              HasSubstr(R"("bins":[{"bin_count":3,"edges":[0.0,0.5,2.0,10.0]}],)"
                        R"("underflow_count":1111,"overflow_count":22,"nan_count":3,"counts")"));
}

TEST(GroupReportTest, WhatIsOutsideIsToldWhicheverItIs) {
  KeyedReductionResult result = ThreeGroups();
  result.bins = {{.bin_count = 3, .edges = {}}};
  const KeyedReductionOptions options = {
      .groups = KeyBins{.bins = {IntegerBins{.first_value = -1, .bin_count = 3}}}};
  EXPECT_THAT(TextOf(result, options), Not(HasSubstr("outside")));
  EXPECT_THAT(CsvOf(result, options),
              HasSubstr("a.csv,x,-1,-1,2000,1000,0.5\na.csv,x,0,0,1,-2,2\n"));
  for (uint64_t* const count :
       {&result.underflow_count, &result.overflow_count, &result.nan_count}) {
    *count = 1;
    EXPECT_THAT(TextOf(result, options), HasSubstr("outside the bins: "));
    *count = 0;
  }
}

TEST(GroupReportTest, TwoCoordinatesHaveTwoBins) {
  KeyedReductionResult result;
  result.entries = {{Statistic::kSum, std::vector<int64_t>{1, 2, 3, 4, 5, 6}}};
  result.group_count = 6;
  result.counts = {1, 1, 1, 1, 1, 9};
  result.bins = {{.bin_count = 2, .edges = {0, 1, 2}}, {.bin_count = 3, .edges = {0, 10, 20, 30}}};
  const KeyedReductionOptions options = {
      .groups = KeyBins{.bins = {EdgeBins{{0, 1, 2}}, EdgeBins{{0, 10, 20, 30}}}}};
  EXPECT_THAT(TextOf(result, options), HasSubstr("bin from  elements  sum\n"
                                                 "    0, 0         1    1\n"
                                                 "   0, 10         1    2\n"
                                                 "   0, 20         1    3\n"
                                                 "    1, 0         1    4\n"
                                                 "   1, 10         1    5\n"
                                                 "   1, 20         9    6\n\n"));
  EXPECT_THAT(CsvOf(result, options),
              testing::StartsWith("source,column,lower_x,upper_x,lower_y,upper_y,elements,sum\n"));
  EXPECT_THAT(CsvOf(result, options), HasSubstr("a.csv,x,0,1,20,30,1,3\na.csv,x,1,2,0,10,1,4\n"));
  EXPECT_THAT(ToArray(result)->shape, ElementsAre(2, 3));
  result.bins.pop_back();
  EXPECT_THAT(ToArray(result)->shape, ElementsAre(6));
  EXPECT_TRUE(absl::IsInvalidArgument(ToArray(ThreeGroups()).status())) << "two statistics";
}

}  // namespace
}  // namespace gridfold::client
