// Where charts put what they show, in the units of their view box: a drawing area from (82, 15) to
// (532, 235) in one of 560 by 280.

#include "client/command_line/plot/svg_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Plain(double value) { return absl::StrCat(value); }

ChartAxis Linear() { return {.title = "a < b", .format = Plain}; }
ChartAxis Logarithmic() { return {.title = "log", .is_logarithmic = true, .format = Plain}; }

// What `pattern` captures, wherever it matches.
std::vector<std::string> AllMatches(const std::string& svg, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(svg.begin(), svg.end(), regex), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

// The texts of the ticks along an axis.
std::vector<std::string> XTicks(const std::string& svg) {
  return AllMatches(svg, R"(y="251\.0" text-anchor="middle">([^<]*))");
}
std::vector<std::string> YTicks(const std::string& svg) {
  return AllMatches(svg, R"(x="76\.0" y="[0-9.]*" text-anchor="end">([^<]*))");
}

std::string DrawLine(const ChartAxis& x, const ChartAxis& y,
                     std::vector<std::pair<double, double>> points) {
  return DrawLines(x, y, {{.name = "one", .points = std::move(points)}});
}

TEST(SvgChartTest, LinearAxesBeginWithZero) {
  const std::string svg = DrawLine(Linear(), Linear(), {{2, 50}, {10, 100}});
  EXPECT_THAT(svg, HasSubstr(R"(<svg viewBox="0 0 560 280" role="img">)"));
  EXPECT_THAT(svg, HasSubstr(R"(<path class="s0" d="M172.0 125.0L532.0 15.0"/>)"));
  EXPECT_THAT(svg, HasSubstr(R"(<circle class="s0" cx="172.0" cy="125.0" r="2.5"><title>2: 50)"));
  EXPECT_THAT(XTicks(svg), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(YTicks(svg), ElementsAre("0", "20", "40", "60", "80", "100"));
  EXPECT_THAT(svg, HasSubstr(R"(class="grid" x1="82.0" y1="191.0" x2="532.0" y2="191.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(class="grid" x1="172.0" y1="15.0" x2="172.0" y2="235.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(x="76.0" y="195.0" text-anchor="end">20<)"));
  EXPECT_THAT(svg, HasSubstr(R"(x="172.0" y="251.0" text-anchor="middle">2<)"));
  EXPECT_THAT(svg, HasSubstr(R"(class="axis" x1="82.0" y1="235.0" x2="532.0" y2="235.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(class="axis" x1="82.0" y1="15.0" x2="82.0" y2="235.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(x="307.0" y="272.0" text-anchor="middle">a &lt; b<)"));
  EXPECT_THAT(svg, HasSubstr(R"x(transform="rotate(-90 14 125.0)">a &lt; b<)x"));
}

TEST(SvgChartTest, StepsAreOneTwoOrFiveOfAPowerOfTen) {
  const auto ticks_to = [](double high) {
    return XTicks(DrawLine(Linear(), Linear(), {{0, 0}, {high, 1}}));
  };
  EXPECT_THAT(ticks_to(6), ElementsAre("0", "1", "2", "3", "4", "5", "6"));
  EXPECT_THAT(ticks_to(6.1), ElementsAre("0", "2", "4", "6"));
  EXPECT_THAT(ticks_to(12.1), ElementsAre("0", "5", "10"));
  EXPECT_THAT(ticks_to(30.1), ElementsAre("0", "10", "20", "30"));
  EXPECT_THAT(XTicks(DrawLine(Linear(), Linear(), {{-3, 0}, {3, 1}})),
              ElementsAre("-3", "-2", "-1", "0", "1", "2", "3"));
}

TEST(SvgChartTest, LogarithmicAxesEndWithTicks) {
  const std::string svg = DrawLine(Logarithmic(), Logarithmic(), {{1, 30}, {100, 45}});
  EXPECT_THAT(XTicks(svg), ElementsAre("1", "2", "5", "10", "20", "50", "100"));
  EXPECT_THAT(YTicks(svg), ElementsAre("20", "50"));
  EXPECT_THAT(svg, HasSubstr(R"(x="307.0" y="251.0" text-anchor="middle">10<)"));
  // 30 is at log(1.5) / log(2.5) of the way from 20 to 50, 45 at log(2.25) / log(2.5).
  EXPECT_THAT(svg, HasSubstr("M82.0 137.6L532.0 40.3"));
  // Of many decades only the powers.
  EXPECT_THAT(XTicks(DrawLine(Logarithmic(), Linear(), {{0.6, 1}, {700, 1}})),
              ElementsAre("1", "10", "100", "1000"));
  EXPECT_THAT(XTicks(DrawLine(Logarithmic(), Linear(), {{6, 1}, {15, 1}})),
              ElementsAre("5", "10", "20"));
  EXPECT_THAT(XTicks(DrawLine(Logarithmic(), Linear(), {{2, 1}, {5, 1}})), ElementsAre("2", "5"));
  EXPECT_THAT(XTicks(DrawLine(Logarithmic(), Linear(), {{4, 1}, {60, 1}})),
              ElementsAre("2", "5", "10", "20", "50", "100"));
}

TEST(SvgChartTest, WhatALogarithmHasNotIsAtTheEdge) {
  const std::string svg = DrawLine(Linear(), Logarithmic(), {{0, 0}, {1, 10}, {2, 100}});
  EXPECT_THAT(svg, HasSubstr("M82.0 235.0L307.0 235.0L532.0 15.0"));
}

TEST(SvgChartTest, OneValueHasAnAxisToo) {
  EXPECT_THAT(DrawLine(Linear(), Linear(), {{0, 0}}), HasSubstr("M82.0 235.0"));
  EXPECT_THAT(DrawLine(Logarithmic(), Linear(), {{1, 7}}), HasSubstr("M82.0 15.0"));
  EXPECT_THAT(XTicks(DrawLine(Logarithmic(), Linear(), {{1, 7}})),
              ElementsAre("1", "2", "5", "10"));
  EXPECT_THAT(DrawLine(Linear(), Linear(), {}), IsEmpty());
  EXPECT_THAT(DrawLine(Logarithmic(), Linear(), {{0, 1}}), IsEmpty());
  EXPECT_THAT(DrawBars(Linear(), Linear(), {}), IsEmpty());
}

TEST(SvgChartTest, TicksOfTheAxisItself) {
  ChartAxis axis = Linear();
  axis.ticks = {-1, 0, 3, 10, 11};
  EXPECT_THAT(XTicks(DrawLine(axis, Linear(), {{0, 0}, {10, 1}})), ElementsAre("0", "3", "10"));
}

TEST(SvgChartTest, SeveralLinesHaveALegend) {
  std::vector<ChartSeries> series;
  for (int i = 0; i < 10; ++i) {
    series.push_back({.name = std::string(10, 'a'), .points = {{0, 0}, {1, i}}});
  }
  const std::string svg = DrawLines(Linear(), Linear(), series);
  // 100 wide each: five to a line, and as many colours as there are.
  EXPECT_THAT(AllMatches(svg, R"x(<rect class="s(\d)")x"),
              ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "0", "1"));
  EXPECT_THAT(AllMatches(svg, R"x(<path class="s(\d)")x"),
              ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "0", "1"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="s4" x="400.0" y="280.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="s5" x="0.0" y="298.0")"));
  EXPECT_THAT(svg, HasSubstr(R"(x="15.0" y="289.0" text-anchor="start">aaaaaaaaaa<)"));
  EXPECT_THAT(svg, HasSubstr(R"(viewBox="0 0 560 316")"));
  EXPECT_THAT(DrawLines(Linear(), Linear(), {series[0]}), Not(HasSubstr("<rect")));
}

TEST(SvgChartTest, BarsStandOnTheAxis) {
  const std::string svg = DrawBars(Linear(), Linear(), {{0, 2, 11}, {2, 10, 22}, {10, 10, 5}});
  EXPECT_THAT(svg, HasSubstr(R"(x="82.0" y="125.0" width="89.5" height="110.0"><title>0: 11<)"));
  EXPECT_THAT(svg, HasSubstr(R"(x="172.0" y="15.0" width="359.5" height="220.0"><title>2: 22<)"));
  EXPECT_THAT(svg, HasSubstr(R"(x="532.0" y="185.0" width="1.0" height="50.0")"));
}

TEST(SvgChartTest, PartsMakeTheWhole) {
  const std::string svg = DrawParts({{"a&b", 1, "1 s"}, {"c", 3, "3 s"}});
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="s0" x="0.0" y="0" width="140.0" height="30">)"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect class="s1" x="140.0" y="0" width="420.0" height="30">)"));
  EXPECT_THAT(svg, HasSubstr("<title>a&amp;b: 1 s</title>"));
  EXPECT_THAT(svg, HasSubstr(">c 3 s<"));
  EXPECT_THAT(svg, HasSubstr(R"(viewBox="0 0 560 58")"));
  EXPECT_THAT(DrawParts({}), IsEmpty());
}

TEST(SvgChartTest, TextIsEscaped) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
}

}  // namespace
}  // namespace gridfold::client
