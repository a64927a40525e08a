// What the system says of this process, against other files of /proc and the test's own clock.
#include "server/process/process_statistics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace gridfold::server {
namespace {

// The program had started not long before its variables were made.
const auto kLoaded = std::chrono::system_clock::now();

// A line of /proc/self/status, in bytes.
double StatusBytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (file >> word && word != name) {
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  file >> kilobytes;
  return kilobytes * 1024;
}

// The kernel adds pages to its counts some at a time.
constexpr double kSlackBytes = 4 << 20;

TEST(ProcessStatisticsTest, MemoryIsWhatTheStatusSays) {
  // Touched, and more than what goes uncounted; no file's, unlike the program's own.
  const std::vector<char> touched(64 << 20, 1);
  EXPECT_NEAR(static_cast<double>(ProcessResidentBytes()), StatusBytes("VmRSS:"), kSlackBytes);
  EXPECT_NEAR(static_cast<double>(ProcessPrivateBytes()), StatusBytes("RssAnon:"), kSlackBytes);
  EXPECT_GE(ProcessPrivateBytes(), touched.size());
  EXPECT_LT(ProcessPrivateBytes(), ProcessResidentBytes());
}

TEST(ProcessStatisticsTest, TheStartIsWhenTheProgramWasLoaded) {
  const double loaded = std::chrono::duration<double>(kLoaded.time_since_epoch()).count();
  EXPECT_NEAR(ProcessStartTimeSeconds(), loaded, 10);
}

}  // namespace
}  // namespace gridfold::server
