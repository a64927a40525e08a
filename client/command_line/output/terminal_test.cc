// What is known of an output: of a pseudo-terminal, and of a pipe.
#include "client/command_line/output/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

class DetectedStyleTest : public testing::Test {
 protected:
  DetectedStyleTest() {
    for (const char* const name : {"COLUMNS", "NO_COLOR"}) unsetenv(name);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    controller_ = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_EQ(grantpt(controller_), 0);
    EXPECT_EQ(unlockpt(controller_), 0);
    terminal_ = open(ptsname(controller_), O_RDWR | O_NOCTTY);
    EXPECT_GE(terminal_, 0);
    EXPECT_EQ(pipe(pipe_), 0);
  }
  ~DetectedStyleTest() override {
    for (const int descriptor : {controller_, terminal_, pipe_[0], pipe_[1]}) close(descriptor);
    for (const char* const name : {"COLUMNS", "NO_COLOR", "TERM", "LC_ALL"}) unsetenv(name);
    std::setlocale(LC_CTYPE, "C");
  }

  int WidthOf(unsigned short columns) const {
    winsize size = {};
    size.ws_col = columns;
    EXPECT_EQ(ioctl(controller_, TIOCSWINSZ, &size), 0);
    return DetectStyle(terminal_).width;
  }

  int controller_ = -1;
  int terminal_ = -1;
  int pipe_[2] = {-1, -1};
};

TEST_F(DetectedStyleTest, OnlyATerminalHasColours) {
  EXPECT_TRUE(IsTerminal(terminal_));
  EXPECT_FALSE(IsTerminal(pipe_[1]));
  EXPECT_TRUE(DetectStyle(terminal_).colour);
  EXPECT_FALSE(DetectStyle(pipe_[1]).colour);
  unsetenv("TERM");
  EXPECT_TRUE(DetectStyle(terminal_).colour);
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(DetectStyle(terminal_).colour);
  setenv("TERM", "xterm", 1);
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(DetectStyle(terminal_).colour) << "an empty one is none";
  setenv("NO_COLOR", "0", 1);
  EXPECT_FALSE(DetectStyle(terminal_).colour);
  EXPECT_FALSE(DetectStyle(pipe_[1]).colour);
}

TEST_F(DetectedStyleTest, TheWidthIsTheTerminalsElseThatOfTheEnvironment) {
  EXPECT_EQ(WidthOf(100), 100);
  EXPECT_EQ(WidthOf(41), 41);
  EXPECT_EQ(WidthOf(39), 40);
  EXPECT_EQ(WidthOf(1), 40);
  EXPECT_EQ(WidthOf(159), 159);
  EXPECT_EQ(WidthOf(161), 160);
  EXPECT_EQ(WidthOf(0), 80);
  EXPECT_EQ(DetectStyle(pipe_[1]).width, 80);
  setenv("COLUMNS", "120", 1);
  EXPECT_EQ(DetectStyle(pipe_[1]).width, 120);
  EXPECT_EQ(WidthOf(100), 100);
  EXPECT_EQ(WidthOf(0), 120);
  setenv("COLUMNS", "1x", 1);
  EXPECT_EQ(DetectStyle(pipe_[1]).width, 80);
}

TEST_F(DetectedStyleTest, TheLocaleSaysWhetherThereIsUnicode) {
  EXPECT_TRUE(DetectStyle(pipe_[1]).unicode);
  EXPECT_EQ(DetectStyle(pipe_[1]).separator(), " · ");
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(DetectStyle(pipe_[1]).unicode);
  EXPECT_EQ(DetectStyle(pipe_[1]).separator(), " | ");
}

TEST_F(DetectedStyleTest, ColoursStandAroundText) {
  const TextStyle plain = {.colour = false};
  const TextStyle coloured = {.colour = true};
  EXPECT_EQ(coloured.Bold("x"), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(coloured.Dim("x"), "\x1b[2mx\x1b[0m");
  EXPECT_EQ(coloured.Bar("x"), "\x1b[36mx\x1b[0m");
  EXPECT_EQ(coloured.Error("x"), "\x1b[1;31mx\x1b[0m");
  EXPECT_EQ(coloured.Bold(""), "");
  EXPECT_EQ(plain.Bold("x"), "x");
  EXPECT_EQ(TextStyle().Error("x"), "x");
  EXPECT_EQ(TextStyle().width, 80);
  EXPECT_TRUE(TextStyle().unicode);
}

}  // namespace
}  // namespace gridfold::client
