#include "client/command_line/report/relation_report.h"

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/report/answer_test_util.h"
#include "client/command_line/report/json_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string TextOf(const RelateResult& result) {
  std::ostringstream out;
  PrintRelations(AnswerOf(result), kPlain, out);
  return out.str();
}

RelateResult OfMatrix() {
  RelateResult result;
  result.entries = {{PairedStatistic::kCorrelation, std::vector<double>{1, 0.5, 0.25, 1}},
                    {PairedStatistic::kMean, std::vector<double>{1.5, -2}}};
  result.column_count = 2;
  result.observation_count = 1234;
  return result;
}

RelateResult OfTwoArrays() {
  RelateResult result;
  result.entries = {{PairedStatistic::kDot, std::vector<int64_t>{-12345}},
                    {PairedStatistic::kVariance, std::vector<double>{2.5, 7}},
                    {PairedStatistic::kCovariance, std::vector<double>{0.125}}};
  result.column_count = 2;
  result.observation_count = 3;
  return result;
}

TEST(RelationReportTest, MatricesHaveARowForEachColumn) {
  EXPECT_EQ(TextOf(OfMatrix()), absl::StrCat(kInputLine,
                                             "correlation 0     1  0.5\n"
                                             "correlation 1  0.25    1\n"
                                             "mean            1.5   -2\n"
                                             "\n"
                                             "observations: 1,234\n",
                                             kExecutionLine));
  EXPECT_EQ(ToCsv(ToTable(AnswerOf(OfMatrix()))),
            "source,column,statistic,row,column_0,column_1\n"
            "a.csv,x,correlation,0,1,0.5\n"
            "a.csv,x,correlation,1,0.25,1\n"
            "a.csv,x,mean,,1.5,-2\n");
  EXPECT_EQ(ToMarkdown(ToTable(AnswerOf(OfMatrix()))),
            "| source | column | statistic | row | column_0 | column_1 |\n"
            "| --- | --- | --- | --- | --- | --- |\n"
            "| a.csv | x | correlation | 0 | 1 | 0.5 |\n"
            "| a.csv | x | correlation | 1 | 0.25 | 1 |\n"
            "| a.csv | x | mean |  | 1.5 | -2 |\n");
  EXPECT_EQ(ToJson(AnswerOf(OfMatrix())),
            absl::StrCat(R"({"operation":"relate",)", kInputJson,
                         R"(,"column_count":2,"observation_count":1234,"statistics":)"
                         R"({"correlation":[1.0,0.5,0.25,1.0],"mean":[1.5,-2.0]},)",
                         kExecutionJson, "}\n"));
}

TEST(RelationReportTest, TwoArraysHaveOneValueOrTwo) {
  EXPECT_EQ(TextOf(OfTwoArrays()), absl::StrCat(kInputLine,
                                                "dot         -12,345   \n"
                                                "variance        2.5  7\n"
                                                "covariance    0.125   \n"
                                                "\n"
                                                "observations: 3\n",
                                                kExecutionLine));
  EXPECT_EQ(ToCsv(ToTable(AnswerOf(OfTwoArrays()))),
            "source,column,statistic,row,column_0,column_1\n"
            "a.csv,x,dot,,-12345,\n"
            "a.csv,x,variance,,2.5,7\n"
            "a.csv,x,covariance,,0.125,\n");
}

TEST(RelationReportTest, OneStatisticIsAnArray) {
  RelateResult result = OfMatrix();
  const absl::StatusOr<HostArray> both = ToArray(result);
  EXPECT_TRUE(absl::IsInvalidArgument(both.status()));
  EXPECT_THAT(std::string(both.status().message()), HasSubstr("ask for one statistic"));
  result.entries.pop_back();
  const absl::StatusOr<HostArray> matrix = ToArray(result);
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_THAT(matrix->shape, ElementsAre(2, 2));
  EXPECT_EQ(matrix->element_type, ElementType::kFloat64);
  result.entries = {OfMatrix().entries[1]};
  EXPECT_THAT(ToArray(result)->shape, ElementsAre(2));
  result.entries = {OfTwoArrays().entries[0]};
  EXPECT_THAT(ToArray(result)->shape, ElementsAre(1));
  EXPECT_EQ(ToArray(result)->element_type, ElementType::kInt64);
}

TEST(RelationReportTest, EachStatisticHasItsName) {
  EXPECT_STREQ(RelationName(PairedStatistic::kDot), "dot");
  EXPECT_STREQ(RelationName(PairedStatistic::kCovariance), "covariance");
  EXPECT_STREQ(RelationName(PairedStatistic::kCorrelation), "correlation");
  EXPECT_STREQ(RelationName(PairedStatistic::kMean), "mean");
  EXPECT_STREQ(RelationName(PairedStatistic::kVariance), "variance");
}

}  // namespace
}  // namespace gridfold::client
