// Where maps put their cells and the shades below: the area is as in svg_chart_test.cc.
#include "client/command_line/plot/svg_heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Shortest(double value) { return absl::StrCat(value); }

std::string Draw(const ChartCells& cells) {
  return DrawHeatMap({.title = "x", .format = Shortest}, {.title = "y", .format = Shortest}, cells,
                     Shortest);
}

// Rectangles as "x y width height opacity: title".
std::vector<std::string> Rectangles(const std::string& svg) {
  static const std::regex pattern(
      "<rect class=\"s0\" x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\" "
      "fill-opacity=\"([^\"]*)\"><title>([^<]*)</title></rect>\n");
  std::vector<std::string> found;
  for (std::sregex_iterator match(svg.begin(), svg.end(), pattern), end; match != end; ++match) {
    found.push_back(absl::StrCat((*match)[1].str(), " ", (*match)[2].str(), " ", (*match)[3].str(),
                                 " ", (*match)[4].str(), " ", (*match)[5].str(), ": ",
                                 (*match)[6].str()));
  }
  return found;
}

TEST(SvgHeatMapTest, CellsFillTheAreaAndShadesTheLineBelow) {
  // Two columns of three cells, 450 by 220 units in all; one cell is empty.
  const std::string svg =
      Draw({.x_edges = {0, 1, 3}, .y_edges = {0, 1, 2, 4}, .values = {1, 2, 4, 8, 0, 6}});
  EXPECT_THAT(Rectangles(svg),
              ElementsAre("82.0 180.0 150.0 55.0 0.20: 0, 0: 1",   // 0.08 + 0.92 / 8
                          "82.0 125.0 150.0 55.0 0.31: 0, 1: 2",   //
                          "82.0 15.0 150.0 110.0 0.54: 0, 2: 4",   //
                          "232.0 180.0 300.0 55.0 1.00: 1, 0: 8",  //
                          "232.0 15.0 300.0 110.0 0.77: 1, 2: 6",  //
                          // Eighths of the largest value.
                          "82.0 286.0 56.2 10.0 0.20: 1", "138.2 286.0 56.2 10.0 0.31: 2",
                          "194.5 286.0 56.2 10.0 0.43: 3", "250.8 286.0 56.2 10.0 0.54: 4",
                          "307.0 286.0 56.2 10.0 0.66: 5", "363.2 286.0 56.2 10.0 0.77: 6",
                          "419.5 286.0 56.2 10.0 0.89: 7", "475.8 286.0 56.2 10.0 1.00: 8"));
  EXPECT_THAT(svg, HasSubstr("<svg viewBox=\"0 0 560 316\" role=\"img\">\n"));
  EXPECT_THAT(svg, HasSubstr("x=\"76.0\" y=\"296.0\" text-anchor=\"end\">0</text>"));
  EXPECT_THAT(svg, HasSubstr("x=\"532.0\" y=\"310.0\" text-anchor=\"end\">8</text>"));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

TEST(SvgHeatMapTest, WithoutCountsThereAreAxesOnly) {
  const std::string svg = Draw({.x_edges = {0, 1}, .y_edges = {0, 1}, .values = {0}});
  EXPECT_THAT(Rectangles(svg), IsEmpty());
  EXPECT_THAT(svg, HasSubstr("class=\"axis\""));
  EXPECT_THAT(svg, Not(HasSubstr("y=\"310.0\"")));
}

TEST(SvgHeatMapTest, WithoutCellsThereIsNoMap) {
  EXPECT_EQ(Draw({.x_edges = {0, 1}, .y_edges = {0}, .values = {}}), "");
  EXPECT_EQ(Draw({.x_edges = {}, .y_edges = {0, 1}, .values = {1}}), "");
  EXPECT_EQ(Draw({.x_edges = {0, 1}, .y_edges = {}, .values = {1}}), "");
}

}  // namespace
}  // namespace gridfold::client
