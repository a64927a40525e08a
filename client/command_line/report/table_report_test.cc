// Answers as tables, as arrays, and as maps.
#include "client/command_line/report/table_report.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "client/command_line/report/answer_plot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Result>
Answer<Result> AnswerWith(Result result) {
  return {.input = {.source = "a|b,c.csv",
                    .column = "x",
                    .element_type = ElementType::kFloat64,
                    .shape = {6}},
          .result = std::move(result),
          .round_trip_time = absl::ZeroDuration()};
}

HistogramResult TwoBins() {
  HistogramResult result;
  result.channels = {{.counts = {3, 5}}};
  result.bins = {{.bin_count = 2, .edges = {0, 0.1, kInfinity}}};
  return result;
}

TEST(TableTest, FieldsAreQuotedWhereTheyMustBe) {
  const DataTable table = {.heading = {"a", "b"}, .rows = {{"1,5", "say \"x\""}, {"a|b", "c\nd"}}};
  EXPECT_EQ(ToCsv(table), "a,b\n\"1,5\",\"say \"\"x\"\"\"\na|b,\"c\nd\"\n");
  EXPECT_EQ(ToMarkdown(table), "| a | b |\n| --- | --- |\n| 1,5 | say \"x\" |\n| a\\|b | c d |\n");
}

TEST(TableTest, GroupsHaveTheirPlaces) {
  ReductionResult result;
  result.group_count = 6;
  result.result_shape = {2, 3};
  result.entries = {{Statistic::kSum, std::vector<double>{0.1, 1e300, -0.0, NAN, 5, 6}},
                    {Statistic::kCount, std::vector<uint64_t>{1000000, 2, 3, 4, 5, 6}},
                    {Statistic::kAny, std::vector<bool>{true, false, true, true, true, true}}};
  const DataTable table = ToTable(AnswerWith(result));
  EXPECT_THAT(table.heading,
              ElementsAre("source", "column", "index_0", "index_1", "sum", "count", "any"));
  ASSERT_EQ(table.rows.size(), 6u);
  EXPECT_THAT(table.rows[0], ElementsAre("a|b,c.csv", "x", "0", "0", "0.1", "1000000", "true"));
  EXPECT_THAT(table.rows[1], ElementsAre("a|b,c.csv", "x", "0", "1", "1e+300", "2", "false"));
  EXPECT_THAT(table.rows[3], ElementsAre("a|b,c.csv", "x", "1", "0", "NaN", "4", "true"));
  EXPECT_FALSE(ToArray(result).ok());
  result.entries.resize(1);
  const absl::StatusOr<HostArray> array = ToArray(result);
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->element_type, ElementType::kFloat64);
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  double value = 0;
  std::memcpy(&value, array->bytes.data() + 8, 8);
  EXPECT_EQ(value, 1e300);
}

// As text with the digits of their own type, and as an array of it.
TEST(TableTest, ValuesAreInTheTypeThatTheyWereAskedFor) {
  ReductionResult result;
  result.group_count = 2;
  result.result_shape = {2};
  const std::vector<float> floats = {0.1F, 0};
  const std::string data(reinterpret_cast<const char*>(floats.data()), 8);
  result.entries = {{Statistic::kMean,
                     std::vector<double>(floats.begin(), floats.end()),
                     {true, false},
                     ElementType::kFloat32,
                     data}};
  const DataTable table = ToTable(AnswerWith(result));
  EXPECT_THAT(table.rows[0], ElementsAre("a|b,c.csv", "x", "0", "0.1"));
  EXPECT_THAT(table.rows[1], ElementsAre("a|b,c.csv", "x", "1", ""));
  const absl::StatusOr<HostArray> array = ToArray(result);
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->element_type, ElementType::kFloat32);
  EXPECT_EQ(array->bytes.substr(0, 4), data.substr(0, 4));
  EXPECT_EQ(array->bytes.substr(4), std::string("\x00\x00\xC0\x7F", 4));
  result.entries[0].output_type = ElementType::kFloat16;
  result.entries[0].data = std::string("\x00\x3C\x00\x00", 4);
  EXPECT_EQ(ToArray(result)->bytes, std::string("\x00\x3C\x00\x7E", 4));
}

// What stands in the place of a value that there is not is never shown.
TEST(TableTest, GroupsWithoutAValueAreEmpty) {
  ReductionResult result;
  result.group_count = 2;
  result.result_shape = {2};
  const std::vector<bool> second_only = {false, true};
  result.entries = {{Statistic::kMean, std::vector<double>{12.5, 3}, second_only},
                    {Statistic::kMax, std::vector<int64_t>{77, 3}, second_only}};
  const DataTable table = ToTable(AnswerWith(result));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0], ElementsAre("a|b,c.csv", "x", "0", "", ""));
  EXPECT_THAT(table.rows[1], ElementsAre("a|b,c.csv", "x", "1", "3", "3"));

  const ReductionResult::Entry of_integers = result.entries.back();
  result.entries.pop_back();
  const absl::StatusOr<HostArray> means = ToArray(result);
  ASSERT_TRUE(means.ok()) << means.status();
  double values[2] = {};
  ASSERT_EQ(means->bytes.size(), sizeof(values));
  std::memcpy(values, means->bytes.data(), sizeof(values));
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], 3);
  result.entries = {of_integers};
  const absl::StatusOr<HostArray> integers = ToArray(result);
  EXPECT_TRUE(absl::IsInvalidArgument(integers.status()));
  EXPECT_THAT(std::string(integers.status().message()), testing::HasSubstr("max"));
}

TEST(TableTest, BinsHaveTheirEdges) {
  EXPECT_EQ(ToCsv(ToTable(AnswerWith(TwoBins()), {})),
            "source,column,channel,lower,upper,count\n"
            "\"a|b,c.csv\",x,0,0,0.1,3\n\"a|b,c.csv\",x,0,0.1,inf,5\n");
  HistogramResult integers;
  integers.channels = {{.counts = {7}, .bin_indices = {2}}};
  integers.bins = {{.bin_count = 4, .edges = {}}};
  const HistogramOptions options = {.bins = {IntegerBins{.first_value = -3, .bin_count = 4}},
                                    .format = HistogramFormat::kSparse};
  EXPECT_THAT(ToTable(AnswerWith(integers), options).rows,
              ElementsAre(ElementsAre("a|b,c.csv", "x", "0", "-1", "-1", "7")));
  EXPECT_FALSE(ToArray(integers, options).ok());
  EXPECT_EQ(ToArray(TwoBins(), {})->element_count(), 2u);
}

TEST(TableTest, TwoCoordinates) {
  HistogramResult result;
  result.channels = {{.counts = {1, 2, 3, 4, 5, 6}}};
  result.bins = {{.bin_count = 2, .edges = {0, 1, 2}}, {.bin_count = 3, .edges = {0, 10, 20, 30}}};
  const HistogramOptions options = {.y_array = ArrayView(ElementType::kInt8, nullptr, 0)};
  const DataTable table = ToTable(AnswerWith(result), options);
  EXPECT_THAT(table.heading,
              ElementsAre("source", "column", "lower_x", "upper_x", "lower_y", "upper_y", "count"));
  EXPECT_THAT(table.rows[5], ElementsAre("a|b,c.csv", "x", "1", "2", "20", "30", "6"));
  EXPECT_THAT(ToArray(result, options)->shape, ElementsAre(2, 3));

  const std::string svg = PlotHistogram(result, options);
  // The cell of 6 is the upper right one: x from 1 to 2 of 2, y from 20 to 30 of 30.
  EXPECT_THAT(svg, HasSubstr("x=\"307.0\" y=\"15.0\" width=\"225.0\" height=\"73.3\" "
                             "fill-opacity=\"1.00\"><title>1, 20: 6</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>0, 0: 1</title>"));
}

}  // namespace
}  // namespace gridfold::client
