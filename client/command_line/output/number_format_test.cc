#include "client/command_line/output/number_format.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberFormatTest, IntegersHaveCommas) {
  EXPECT_EQ(FormatInteger(int64_t{0}), "0");
  EXPECT_EQ(FormatInteger(int64_t{-999}), "-999");
  EXPECT_EQ(FormatInteger(int64_t{1000}), "1,000");
  EXPECT_EQ(FormatInteger(int64_t{-1500159}), "-1,500,159");
  EXPECT_EQ(FormatInteger(INT64_MIN), "-9,223,372,036,854,775,808");
  EXPECT_EQ(FormatInteger(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(NumberFormatTest, RealsReadBackAsThemselves) {
  EXPECT_EQ(FormatReal(0.1), "0.1");
  EXPECT_EQ(FormatReal(0.1f), "0.1");
  EXPECT_EQ(FormatReal(1500000.0), "1500000");
  EXPECT_EQ(FormatReal(2755170.1662385147), "2755170.1662385147");
  EXPECT_EQ(FormatReal(-0.0), "-0");
  EXPECT_EQ(FormatReal(1e300), "1e+300");
  EXPECT_EQ(FormatReal(1e-7), "1e-07");
  EXPECT_EQ(FormatReal(std::nan("")), "NaN");
  EXPECT_EQ(FormatReal(kInfinity), "inf");
  EXPECT_EQ(FormatReal(-kInfinity), "-inf");
}

TEST(NumberFormatTest, UnitsKeepThreeDigits) {
  EXPECT_EQ(FormatDuration(absl::ZeroDuration(), true), "0.00 ns");
  EXPECT_EQ(FormatDuration(absl::Nanoseconds(999), true), "999 ns");
  EXPECT_EQ(FormatDuration(absl::Microseconds(12.34), true), "12.3 µs");
  EXPECT_EQ(FormatDuration(absl::Microseconds(12.34), false), "12.3 us");
  EXPECT_EQ(FormatDuration(absl::Microseconds(999.9), true), "1.00 ms");
  EXPECT_EQ(FormatDuration(absl::Seconds(90), true), "90.0 s");
  EXPECT_EQ(FormatDuration(absl::Seconds(3600), true), "3600 s");
  EXPECT_EQ(FormatBytes(0), "0 bytes");
  EXPECT_EQ(FormatBytes(1), "1 byte");
  EXPECT_EQ(FormatBytes(999), "999 bytes");
  EXPECT_EQ(FormatBytes(1000), "1.00 kB");
  EXPECT_EQ(FormatBytes(1'234'567'890), "1.23 GB");
  EXPECT_EQ(FormatRate(4'500'000'000, absl::Milliseconds(1)), "4500 GB/s");
}

TEST(NumberFormatTest, EdgesHaveTheDigitsThatTellThemApart) {
  EXPECT_THAT(FormatEdges(std::vector<double>{-60, -40, -20}), ElementsAre("-60", "-40", "-20"));
  EXPECT_THAT(FormatEdges(std::vector<double>{0, 1.0 / 3, 2.0 / 3, 1}),
              ElementsAre("0", "0.333", "0.667", "1"));
  EXPECT_THAT(FormatEdges(std::vector<double>{1000000, 1000000.5, 1000001}),
              ElementsAre("1000000", "1000000.5", "1000001"));
  EXPECT_THAT(FormatEdges(std::vector<double>{0, 42.520000000000003, 42.520000000000003, 86}),
              ElementsAre("0", "42.5", "42.5", "86"));
  EXPECT_THAT(FormatEdges(std::vector<double>{-kInfinity, 0.1, kInfinity}),
              ElementsAre("-inf", "0.1", "inf"));
  EXPECT_THAT(FormatEdges(std::vector<double>{1, std::nextafter(1.0, 2.0)}),
              ElementsAre("1", "1.0000000000000002"));
}

TEST(NumberFormatTest, ElementsOfEveryTypeAreWritten) {
  EXPECT_EQ(FormatElement(std::vector<int8_t>{-128}, 0), "-128");
  EXPECT_EQ(FormatElement(std::vector<uint8_t>{255}, 0), "255");
  EXPECT_EQ(FormatElement(std::vector<int64_t>{1, -2000}, 1), "-2,000");
  EXPECT_EQ(FormatElement(std::vector<float>{0.1f}, 0), "0.1");
  EXPECT_EQ(FormatElement(std::vector<double>{0.1}, 0), "0.1");
  EXPECT_EQ(FormatElement(std::vector<Float16>{{0x3C00}}, 0), "1");
  EXPECT_EQ(FormatElement(std::vector<Bfloat16>{{0xC000}}, 0), "-2");
}

TEST(NumberFormatTest, ShapesAreWritten) {
  EXPECT_EQ(FormatShape(std::vector<uint64_t>{200000}, true), "200,000");
  EXPECT_EQ(FormatShape(std::vector<uint64_t>{1000, 200}, true), "1,000 × 200");
  EXPECT_EQ(FormatShape(std::vector<uint64_t>{1000, 200}, false), "1,000 x 200");
}

}  // namespace
}  // namespace gridfold::client
