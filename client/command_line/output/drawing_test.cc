// Tables, bars, maps and the progress line.
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "client/command_line/output/bar_chart.h"
#include "client/command_line/output/heat_map.h"
#include "client/command_line/output/progress.h"
#include "client/command_line/output/table.h"
#include "client/command_line/output/terminal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

const TextStyle kUnicode = {.width = 40, .unicode = true, .colour = false};
const TextStyle kAscii = {.width = 40, .unicode = false, .colour = false};
const TextStyle kColour = {.width = 40, .unicode = true, .colour = true};

TEST(TerminalTest, WidthCountsCharacters) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("µs"), 2);
  EXPECT_EQ(DisplayWidth("██▌"), 3);
}

TEST(TerminalTest, ColoursAreAnOption) {
  EXPECT_EQ(kUnicode.Bold("x"), "x");
  EXPECT_EQ(kColour.Bold("x"), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(kColour.Bar(""), "");
}

TEST(TableTest, ColumnsAreAligned) {
  Table table({Alignment::kLeft, Alignment::kRight, Alignment::kLeft});
  table.SetHeading({"name", "n", "unit"});
  table.AddRow({"a", "1", "µs"});
  table.AddRow({"longer", "1,000", "m"});
  std::ostringstream out;
  table.Print(kUnicode, out);
  EXPECT_EQ(out.str(),
            "name        n  unit\n"
            "a           1  µs\n"
            "longer  1,000  m\n");
}

TEST(BarTest, FractionsAreEighths) {
  EXPECT_EQ(DrawBar(0, true), "");
  EXPECT_EQ(DrawBar(-1, true), "");
  EXPECT_EQ(DrawBar(0.001, true), "▏");
  EXPECT_EQ(DrawBar(0.5, true), "▌");
  EXPECT_EQ(DrawBar(2.25, true), "██▎");
  EXPECT_EQ(DrawBar(3, true), "███");
  EXPECT_EQ(DrawBar(0.001, false), "#");
  EXPECT_EQ(DrawBar(2.6, false), "###");
}

TEST(BarTest, LongestFillsTheWidth) {
  const std::vector<Bar> bars = {{"[0, 1)", "5", 5}, {"[1, 2]", "100", 100}, {"none", "0", 0}};
  std::ostringstream out;
  PrintBars(bars, kAscii, out);
  EXPECT_EQ(out.str(),
            "[0, 1)    5  #\n"
            "[1, 2]  100  ###########################\n"
            "  none    0\n");
  std::ostringstream coloured;
  PrintBars(bars, kColour, coloured);
  EXPECT_THAT(coloured.str(), HasSubstr("\x1b[36m█▍\x1b[0m"));
}

TEST(BarTest, NothingAtAllDrawsNothing) {
  std::ostringstream out;
  PrintBars({{"a", "0", 0}, {"b", "-3", -3}}, kUnicode, out);
  EXPECT_EQ(out.str(), "a   0\nb  -3\n");
  std::ostringstream none;
  PrintBars({}, kUnicode, none);
  EXPECT_EQ(none.str(), "");
}

TEST(HeatMapTest, ShadesGrowWithValuesAndYGrowsUpwards) {
  const HeatMap map = {.x_count = 3,
                       .y_count = 2,
                       .values = {0, 1, 50, 100, 25, 75},
                       .y_labels = {"0", "10"},
                       .x_first_label = "0",
                       .x_last_label = "3"};
  std::ostringstream out;
  PrintHeatMap(map, kAscii, out);
  EXPECT_EQ(out.str(),
            "10 |....####++++|\n"
            " 0 |    ::::....|\n"
            "   0            3\n");
}

TEST(ProgressTest, QuickStepsShowNothing) {
  std::string shown;
  {
    Progress progress(kUnicode, [&](const std::string& text) { shown += text; });
    progress.Begin("reading");
  }
  EXPECT_EQ(shown, "");
}

TEST(ProgressTest, LongStepsShowHowFarTheyAreAndLeaveNothingBehind) {
  std::string shown;
  {
    Progress progress(kAscii, [&](const std::string& text) { shown += text; });
    progress.Begin("reading x");
    progress.Update(500, 1000);
    absl::SleepFor(absl::Milliseconds(800));
    progress.Update(1000, 1000);
    absl::SleepFor(absl::Milliseconds(300));
    progress.Begin("waiting");
    absl::SleepFor(absl::Milliseconds(300));
  }
  EXPECT_THAT(shown, HasSubstr("reading x  [##########          ]  50%  500 bytes of 1.00 kB"));
  EXPECT_THAT(shown,
              testing::ContainsRegex("1.00 kB  [0-9.]+ k?B?(bytes)?/s  0.[0-9] s, 1 s left"));
  EXPECT_THAT(shown, HasSubstr(", waiting for the answer"));
  EXPECT_THAT(shown, HasSubstr("waiting  0."));
  EXPECT_TRUE(absl::EndsWith(shown, "\r\x1b[K"));
}

TEST(ProgressTest, WithoutATerminalNothingIsShown) {
  Progress progress(kAscii, nullptr);
  progress.Begin("reading");
  progress.Update(1, 2);
}

}  // namespace
}  // namespace gridfold::client
