// Times come out in seconds and nanoseconds.
#include "server/wire/description_conversion.h"

#include <gtest/gtest.h>

#include <chrono>

namespace gridfold::server {
namespace {

TEST(ProtoConversionTest, Durations) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(ToWire(nanoseconds(0)).ShortDebugString(), "");
  EXPECT_EQ(ToWire(nanoseconds(999'999'999)).ShortDebugString(), "nanos: 999999999");
  EXPECT_EQ(ToWire(nanoseconds(3'000'000'001)).ShortDebugString(), "seconds: 3 nanos: 1");
}

}  // namespace
}  // namespace gridfold::server
