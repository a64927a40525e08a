// What answers look like as charts. The drawing area is as in plot/svg_chart_test.cc: from (82, 15)
// to (532, 235).
#include "client/command_line/report/answer_plot.h"

#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

size_t CountOf(const std::string& part, const std::string& text) {
  size_t count = 0;
  for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++count;
  return count;
}

// What `pattern` captures, wherever it matches.
std::vector<std::string> AllMatches(const std::string& svg, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(svg.begin(), svg.end(), regex), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

// What bars, dots and cells say where somebody points at them.
std::vector<std::string> Titles(const std::string& svg) {
  return AllMatches(svg, "<title>([^<]*)</title>");
}

// The path of each line.
std::vector<std::string> Paths(const std::string& svg) { return AllMatches(svg, "d=\"([^\"]*)\""); }

HistogramResult HistogramOf(std::vector<std::vector<uint64_t>> channels,
                            std::vector<std::vector<double>> edges) {
  HistogramResult result;
  for (std::vector<uint64_t>& counts : channels) {
    result.channels.push_back({.counts = std::move(counts)});
  }
  for (std::vector<double>& of_bins : edges) {
    const uint64_t bin_count = of_bins.size() - 1;
    result.bins.push_back({.bin_count = bin_count, .edges = std::move(of_bins)});
  }
  return result;
}

HistogramResult TwoBins() { return HistogramOf({{3, 5}}, {{0, 0.1, kInfinity}}); }

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

TEST(PlotTest, BinsWithoutAnEndAreAsWideAsOneWhereNoneIsBesideThem) {
  // A bar from its bin's finite edge, whichever that is, or from 0 where it has none.
  EXPECT_THAT(PlotHistogram(HistogramOf({{3}}, {{5, kInfinity}}), {}),
              HasSubstr("x=\"82.0\" y=\"15.0\" width=\"449.5\" height=\"220.0\"><title>5: 3<"));
  EXPECT_THAT(PlotHistogram(HistogramOf({{3}}, {{-kInfinity, -5}}), {}),
              HasSubstr("x=\"82.0\" y=\"15.0\" width=\"449.5\" height=\"220.0\"><title>-6: 3<"));
  EXPECT_THAT(PlotHistogram(HistogramOf({{3}}, {{-kInfinity, kInfinity}}), {}),
              HasSubstr("x=\"82.0\" y=\"15.0\" width=\"449.5\" height=\"220.0\"><title>0: 3<"));
  const std::string halves = PlotHistogram(HistogramOf({{2, 4}}, {{-kInfinity, 7, kInfinity}}), {});
  EXPECT_THAT(halves, HasSubstr("x=\"82.0\" y=\"125.0\" width=\"224.5\""));
  EXPECT_THAT(halves, HasSubstr("x=\"307.0\" y=\"15.0\" width=\"224.5\""));
  EXPECT_THAT(Titles(halves), ElementsAre("6: 2", "7: 4"));
}

TEST(PlotTest, AxesSayWhatTheyShow) {
  const HistogramResult result = HistogramOf({{1, 2}}, {{1, 10, 100}});
  const std::string even = PlotHistogram(result, {});
  EXPECT_THAT(even, HasSubstr(">value<"));
  EXPECT_THAT(even, HasSubstr(">count<"));
  // 10 is at 9 / 99 of a linear axis, and in the middle of a logarithmic one.
  EXPECT_THAT(even, HasSubstr("x=\"82.0\" y=\"125.0\" width=\"40.4\""));
  HistogramOptions options = {.bins = {LogarithmicBins{}}};
  options.weights = std::vector<float>();
  const std::string logarithmic = PlotHistogram(result, options);
  EXPECT_THAT(logarithmic, HasSubstr(">sum of weights<"));
  EXPECT_THAT(logarithmic, HasSubstr("x=\"82.0\" y=\"125.0\" width=\"224.5\""));
}

TEST(PlotTest, ChannelsAreLinesThroughTheMiddlesOfTheirBins) {
  const HistogramResult result = HistogramOf({{3, 5}, {10, 20}}, {{2, 4, 6}, {2, 6, 12}});
  const std::string svg = PlotHistogram(result, {});
  EXPECT_THAT(Titles(svg), ElementsAre("3: 3", "5: 5", "4: 10", "9: 20"));
  EXPECT_THAT(AllMatches(svg, ">(channel [^<]*)<"), ElementsAre("channel 0", "channel 1"));
  EXPECT_THAT(Paths(svg), ElementsAre("M82.0 202.0L232.0 180.0", "M157.0 125.0L532.0 15.0"));
  EXPECT_THAT(svg, HasSubstr(">value<"));
  EXPECT_THAT(svg, HasSubstr(">count<"));
}

TEST(PlotTest, OnlyALineOfFewPointsHasDots) {
  for (const size_t count : {64, 65}) {
    std::vector<double> edges(count + 1);
    for (size_t i = 0; i < edges.size(); ++i) edges[i] = static_cast<double>(i);
    const std::vector<uint64_t> counts(count, 1);
    const HistogramResult channels = HistogramOf({counts, counts}, {edges, edges});
    EXPECT_EQ(CountOf("<circle", PlotHistogram(channels, {})), count == 64 ? 128u : 0u);
    const ScanResult scan = ScanOf(std::vector<double>(count, 1), {count});
    EXPECT_EQ(CountOf("<circle", *PlotScan(scan, WholeArray{})), count == 64 ? 64u : 0u);
  }
}

TEST(PlotTest, EachAxisOfAMapHasItsOwnBins) {
  // The last of 241 columns, which share 81 places, and the lower one of two rows.
  HistogramResult result;
  result.channels = {{.counts = {6}, .bin_indices = {480}}};
  result.bins = {{.bin_count = 241, .edges = {}}, {.bin_count = 2, .edges = {1, 10, 100}}};
  HistogramOptions options = {
      .bins = {IntegerBins{.first_value = 10, .bin_count = 241}, LogarithmicBins{}}};
  options.y_array = std::vector<float>();
  const std::string svg = PlotHistogram(result, options);
  EXPECT_THAT(svg, HasSubstr("x=\"530.1\" y=\"125.0\" width=\"1.9\" height=\"110.0\" "
                             "fill-opacity=\"1.00\"><title>250, 1: 6</title>"));
  EXPECT_THAT(svg, HasSubstr(">x<"));
  EXPECT_THAT(svg, HasSubstr(">y<"));
  // And 161 rows share 54: two bins each would be one row more than are drawn.
  std::swap(result.bins[0], result.bins[1]);
  std::swap(options.bins[0], options.bins[1]);
  result.bins[1].bin_count = 161;
  result.channels[0].bin_indices = {160};
  EXPECT_THAT(PlotHistogram(result, options),
              HasSubstr("x=\"82.0\" y=\"15.0\" width=\"225.0\" height=\"2.7\" "
                        "fill-opacity=\"1.00\"><title>1, 169: 6</title>"));
}

TEST(PlotTest, ALongScanHasTheExtremesOfEachStretch) {
  // 1,000 stretches of three results.
  std::vector<double> values(3000, 0);
  const auto set = [&](size_t begin, double first, double second, double third) {
    values[begin] = first;
    values[begin + 1] = second;
    values[begin + 2] = third;
  };
  set(0, 5, 9, 7);
  set(3, NAN, 2, 7);
  set(6, 1, 4, NAN);
  set(9, NAN, NAN, NAN);
  set(2997, 7, 3, 5);
  const std::string svg = *PlotScan(ScanOf(values, {3000}), WholeArray{});
  ASSERT_THAT(Paths(svg), SizeIs(1));
  const std::string path = Paths(svg)[0];
  // 5 and 9; then 2 and 7, at 4 and 5 of 2,999; then 1 and 4; and none of the fourth stretch.
  EXPECT_THAT(path, StartsWith("M82.0 112.8L82.2 15.0L82.6 186.1L82.8 63.9L82.9 210.6L83.1 137.2"
                               "L83.8 235.0"));
  EXPECT_THAT(path, EndsWith("L531.2 235.0L531.7 63.9L531.8 161.7L532.0 112.8"));
  EXPECT_EQ(CountOf("L", path) + 1, 2u + 2 + 2 + 995 + 3);
  EXPECT_THAT(Titles(svg), IsEmpty());
}

TEST(PlotTest, AShortScanHasAllItsResults) {
  const std::string svg = *PlotScan(ScanOf({4, 4, 4, NAN, 6}, {5}), WholeArray{});
  EXPECT_THAT(Titles(svg), ElementsAre("0: 4", "1: 4", "2: 4", "4: 6"));
  EXPECT_THAT(Paths(svg), ElementsAre("M82.0 235.0L194.5 235.0L307.0 235.0L532.0 15.0"));
  EXPECT_THAT(svg, HasSubstr(">index<"));
  EXPECT_THAT(svg, HasSubstr(">result<"));
}

TEST(PlotTest, ScansOfAllTypesAreDrawn) {
  ScanResult scan;
  scan.element_type = ElementType::kInt16;
  scan.shape = {2};
  scan.data = std::string("\x05\x00\xff\xff", 4);
  EXPECT_THAT(Titles(*PlotScan(scan, WholeArray{})), ElementsAre("0: 5", "1: -1"));
  scan.element_type = ElementType::kFloat16;
  scan.data = std::string("\x00\x3e\x00\xc0", 4);
  EXPECT_THAT(Titles(*PlotScan(scan, WholeArray{})), ElementsAre("0: 1.5", "1: -2"));
}

TEST(PlotTest, WhatIsNotScannedAlongOneAxisIsOneLine) {
  const ScanResult matrix = ScanOf({1, 2, 3, 4, 5, 6}, {2, 3});
  const ScanResult vector = ScanOf({1, 2, 3, 4, 5, 6}, {6});
  for (const std::string& svg : {*PlotScan(matrix, WholeArray{}), *PlotScan(matrix, Axes{{0, 1}}),
                                 *PlotScan(vector, Axis{0}), *PlotScan(vector, Axes{{0}})}) {
    EXPECT_THAT(Titles(svg), ElementsAre("0: 1", "1: 2", "2: 3", "3: 4", "4: 5", "5: 6"));
    EXPECT_EQ(CountOf("<path", svg), 1u);
    EXPECT_THAT(svg, Not(HasSubstr("row")));
  }
}

TEST(PlotTest, AxesCountFromTheEndWhereTheyAreNegative) {
  const ScanResult scan = ScanOf({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(*PlotScan(scan, Axes{{-1}}), *PlotScan(scan, Axis{1}));
  EXPECT_EQ(*PlotScan(scan, Axes{{0}}), *PlotScan(scan, Axis{0}));
  EXPECT_EQ(*PlotScan(scan, Axes{{-2}}), *PlotScan(scan, Axis{0}));
}

TEST(PlotTest, EightLinesAreDrawn) {
  const auto plot = [](uint64_t rows, uint64_t columns, uint32_t axis) {
    return PlotScan(ScanOf(std::vector<double>(rows * columns, 1), {rows, columns}), Axis{axis});
  };
  EXPECT_EQ(CountOf("<path", *plot(8, 2, 1)), 8u);
  EXPECT_EQ(CountOf("<path", *plot(2, 8, 0)), 8u);
  const absl::Status too_many =
      absl::InvalidArgumentError("--plot: draws the lines of a matrix, at most 8 of them");
  EXPECT_EQ(plot(9, 2, 1).status(), too_many);
  EXPECT_EQ(plot(2, 9, 0).status(), too_many);
  EXPECT_EQ(PlotScan(ScanOf({1, 2}, {1, 1, 2}), Axis{2}).status(), too_many);
}

TEST(PlotTest, ResultsOnTheServerAreNotDrawn) {
  ScanResult scan = ScanOf({1}, {1});
  scan.resident_array.emplace();
  EXPECT_EQ(PlotScan(scan, WholeArray{}).status(),
            absl::InvalidArgumentError("--plot: the results are on the server"));
}

}  // namespace
}  // namespace gridfold::client
