// A test that does not end, for the test of the watchdog.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

TEST(Hanging, ForEver) {
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}
