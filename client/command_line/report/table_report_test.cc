// Answers as tables, as arrays, and as charts.
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
using testing::Not;

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

size_t CountOf(const std::string& part, const std::string& text) {
  size_t count = 0;
  for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++count;
  return count;
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

TEST(PlotTest, BarsReachAcrossTheirBins) {
  // The last bin has no end: it is as wide as the one before.
  const std::string svg = PlotHistogram(TwoBins(), {});
  EXPECT_THAT(svg, HasSubstr("x=\"82.0\" y=\"103.0\" width=\"224.5\" height=\"132.0\">"
                             "<title>0: 3</title>"));
  EXPECT_THAT(svg, HasSubstr("x=\"307.0\" y=\"15.0\" width=\"224.5\" height=\"220.0\">"
                             "<title>0.1: 5</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  HistogramResult everything;
  everything.channels = {{.counts = {3}}};
  everything.bins = {{.bin_count = 1, .edges = {-kInfinity, kInfinity}}};
  EXPECT_THAT(PlotHistogram(everything, {}), Not(HasSubstr("nan")));
  EXPECT_EQ(PlotHistogram({.channels = {{}}, .bins = {{}}, .execution = {}}, {}), "");
  // So is a first one without a beginning as wide as the one behind it.
  HistogramResult endless;
  endless.channels = {{.counts = {1, 2, 3}}};
  endless.bins = {{.bin_count = 3, .edges = {-kInfinity, 0, 10, kInfinity}}};
  const std::string thirds = PlotHistogram(endless, {});
  EXPECT_THAT(thirds, HasSubstr("x=\"82.0\" y=\"161.7\" width=\"149.5\" height=\"73.3\">"));
  EXPECT_THAT(thirds, HasSubstr("x=\"382.0\" y=\"15.0\" width=\"149.5\" height=\"220.0\">"));
}

TEST(PlotTest, ManyBinsShareBars) {
  HistogramResult result;
  result.channels = {{.counts = std::vector<uint64_t>(100'000, 1)}};
  result.bins = {{.bin_count = 100'000, .edges = {}}};
  EXPECT_EQ(CountOf("<rect", PlotHistogram(result, {})), 400u);
}

ScanResult ScanOf(std::vector<double> values, std::vector<uint64_t> shape) {
  ScanResult scan;
  scan.element_type = ElementType::kFloat64;
  scan.shape = std::move(shape);
  scan.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * 8);
  return scan;
}

TEST(PlotTest, LongScansKeepTheirPeaks) {
  std::vector<double> values(100'000, 1);
  values[54'321] = 77;
  values[54'322] = NAN;
  values[54'323] = -5;
  const std::string svg = *PlotScan(ScanOf(values, {100'000}), WholeArray{});
  EXPECT_LT(svg.size(), 40'000u);
  // 54,321 of 99,999 is at 326.4 of the range; the peak is at its top, and the trough at the end.
  EXPECT_THAT(svg, HasSubstr("L326.4 15.0L326.5 235.0"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(PlotTest, MatricesHaveALineForEachRowOrColumn) {
  const ScanResult scan = ScanOf({1, 2, 3, 4, 5, 6}, {2, 3});
  const std::string rows = *PlotScan(scan, Axis{1});
  EXPECT_THAT(rows, HasSubstr(">row 1<"));
  EXPECT_THAT(rows, HasSubstr("<title>2: 6</title>"));
  EXPECT_EQ(CountOf("<path", rows), 2u);
  const std::string columns = *PlotScan(scan, Axes{{-2}});
  EXPECT_THAT(columns, HasSubstr(">column 2<"));
  EXPECT_THAT(columns, HasSubstr("<title>1: 4</title>"));
  EXPECT_EQ(CountOf("<path", columns), 3u);
  EXPECT_FALSE(PlotScan(ScanOf(std::vector<double>(18), {9, 2}), Axis{1}).ok());
  EXPECT_EQ(*PlotScan(ScanOf({}, {0}), WholeArray{}), "");
}

}  // namespace
}  // namespace gridfold::client
