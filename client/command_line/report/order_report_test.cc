// Quantiles, and largest elements: for people, as tables, as JSON and as arrays.
#include "client/command_line/report/order_report.h"

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/report/answer_test_util.h"
#include "client/command_line/report/json_report.h"
#include "client/command_line/report/order_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string TextOf(const QuantileResult& result, const QuantileOptions& options,
                   uint64_t rows_max = 20) {
  std::ostringstream out;
  PrintQuantiles(AnswerOf(result), options, rows_max, kPlain, out);
  return out.str();
}

std::string TextOf(const TopResult& result, const TopOptions& options, uint64_t rows_max = 20) {
  std::ostringstream out;
  PrintTop(AnswerOf(result), options, rows_max, kPlain, out);
  return out.str();
}

const QuantileOptions kWhole = {.quantiles = {0.5, 0.9}, .ranks = {1000}};

QuantileResult OfWhole() {
  QuantileResult result;
  result.quantile_values = {std::vector<double>{1.5}, std::vector<double>{22}};
  result.rank_values = {std::vector<int64_t>{-3000}};
  result.group_count = 1;
  return result;
}

const QuantileOptions kRows = {.quantiles = {0.25}, .ranks = {7}, .grouping = Axes{{1}}};

QuantileResult OfRows() {
  QuantileResult result;
  result.quantile_values = {std::vector<double>{1, 2, 3}};
  result.rank_values = {std::vector<double>{4, 5, 6.5}};
  result.group_count = 3;
  result.result_shape = {3};
  return result;
}

TEST(QuantileReportTest, AWholeArrayHasALineForEach) {
  EXPECT_EQ(TextOf(OfWhole(), kWhole), absl::StrCat(kInputLine,
                                                    "0.5            1.5\n"
                                                    "0.9             22\n"
                                                    "rank 1,000  -3,000\n"
                                                    "\n",
                                                    kExecutionLine));
  EXPECT_EQ(ToCsv(ToTable(AnswerOf(OfWhole()), kWhole)),
            "source,column,quantile_0.5,quantile_0.9,rank_1000\n"
            "a.csv,x,1.5,22,-3000\n");
  EXPECT_EQ(
      ToJson(AnswerOf(OfWhole()), kWhole),
      absl::StrCat(R"({"operation":"quantile",)", kInputJson,
                   R"(,"group_count":1,"result_shape":[],"method":"linear","quantiles":[)"
                   R"({"probability":0.5,"values":[1.5]},{"probability":0.9,"values":[22.0]}],)"
                   R"("ranks":[{"rank":1000,"values":[-3000]}],)",
                   kExecutionJson, "}\n"));
}

TEST(QuantileReportTest, GroupsAreRows) {
  EXPECT_EQ(TextOf(OfRows(), kRows), absl::StrCat(kInputLine,
                                                  "group  0.25  rank 7\n"
                                                  "    0     1       4\n"
                                                  "    1     2       5\n"
                                                  "    2     3     6.5\n"
                                                  "\n",
                                                  kExecutionLine));
  EXPECT_THAT(TextOf(OfRows(), kRows, 2),
              HasSubstr("    1     2       5\nand 1 more groups (--rows 0 shows all)\n\n"));
  EXPECT_THAT(TextOf(OfRows(), kRows, 3), Not(HasSubstr("more groups")));
  EXPECT_EQ(TextOf(OfRows(), kRows, 0), TextOf(OfRows(), kRows));
  EXPECT_EQ(ToCsv(ToTable(AnswerOf(OfRows()), kRows)),
            "source,column,index_0,quantile_0.25,rank_7\n"
            "a.csv,x,0,1,4\na.csv,x,1,2,5\na.csv,x,2,3,6.5\n");
  // One row of a matrix is still a group.
  QuantileResult one = OfRows();
  one.group_count = 1;
  EXPECT_THAT(TextOf(one, kRows), HasSubstr("group  0.25  rank 7\n    0     1       4\n\n"));
}

TEST(QuantileReportTest, JsonNamesTheMethod) {
  using enum QuantileMethod;
  const std::pair<QuantileMethod, const char*> names[] = {
      {kLinear, "linear"},   {kLower, "lower"},       {kHigher, "higher"},
      {kNearest, "nearest"}, {kMidpoint, "midpoint"}, {kMean, "mean"}};
  for (const auto& [method, name] : names) {
    QuantileOptions options = kWhole;
    options.method = method;
    EXPECT_THAT(ToJson(AnswerOf(OfWhole()), options),
                HasSubstr(absl::StrCat("\"method\":\"", name, "\"")));
  }
}

TEST(QuantileReportTest, ArraysHaveTheQuantilesFirst) {
  const absl::StatusOr<HostArray> both = ToArray(OfRows());
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(both->shape, ElementsAre(2, 3));
  ASSERT_EQ(both->element_count(), 6u);
  const double* const values = reinterpret_cast<const double*>(both->bytes.data());
  EXPECT_THAT(std::vector<double>(values, values + 6), ElementsAre(1, 2, 3, 4, 5, 6.5));
  QuantileResult quantiles = OfRows();
  quantiles.rank_values.clear();
  EXPECT_THAT(ToArray(quantiles)->shape, ElementsAre(3)) << "one has no dimension of its own";
  const absl::Status mixed = ToArray(OfWhole()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(mixed));
  EXPECT_THAT(std::string(mixed.message()), HasSubstr("are not of one type"));
}

TopResult OfTop() {
  TopResult result;
  result.values = std::vector<uint64_t>{9000, 8, 70, 6};
  result.indices = {1234, 0, 5, 2};
  result.group_count = 2;
  result.result_shape = {2, 2};
  return result;
}

TEST(TopReportTest, ElementsAreRows) {
  const TopOptions whole = {.count = 4};
  EXPECT_EQ(TextOf(OfTop(), whole), absl::StrCat(kInputLine,
                                                 "value  index\n"
                                                 "9,000  1,234\n"
                                                 "    8      0\n"
                                                 "   70      5\n"
                                                 "    6      2\n"
                                                 "\n",
                                                 kExecutionLine));
  EXPECT_THAT(TextOf(OfTop(), whole, 1),
              HasSubstr("9,000  1,234\nand 3 more elements (--rows 0 shows all)\n\n"));
  EXPECT_EQ(TextOf(OfTop(), whole, 0), TextOf(OfTop(), whole, 4));
  const TopOptions rows = {.count = 2, .grouping = Axes{{1}}};
  EXPECT_THAT(TextOf(OfTop(), rows), HasSubstr("group  value  index\n"
                                               "    0  9,000  1,234\n"
                                               "    0      8      0\n"
                                               "    1     70      5\n"
                                               "    1      6      2\n\n"));
}

TEST(TopReportTest, ProgramsGetAllFigures) {
  EXPECT_EQ(ToCsv(ToTable(AnswerOf(OfTop()))),
            "source,column,index_0,index_1,value,index\n"
            "a.csv,x,0,0,9000,1234\na.csv,x,0,1,8,0\na.csv,x,1,0,70,5\na.csv,x,1,1,6,2\n");
  EXPECT_EQ(ToJson(AnswerOf(OfTop())),
            absl::StrCat(R"({"operation":"topk",)", kInputJson,
                         R"(,"group_count":2,"result_shape":[2,2],"values":[9000,8,70,6],)"
                         R"("indices":[1234,0,5,2],)",
                         kExecutionJson, "}\n"));
  EXPECT_THAT(ToArray(OfTop()).shape, ElementsAre(2, 2));
  EXPECT_EQ(ToArray(OfTop()).element_type, ElementType::kUint64);
}

}  // namespace
}  // namespace gridfold::client
