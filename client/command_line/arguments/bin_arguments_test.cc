#include "client/command_line/arguments/bin_arguments.h"

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Bins>
Bins OnlyBins(const BinArguments& arguments) {
  const auto bins = ToBins(arguments);
  EXPECT_TRUE(bins.ok()) << bins.status();
  EXPECT_EQ(bins->size(), 1u);
  return std::get<Bins>(bins->front());
}

void ExpectError(const BinArguments& arguments, const std::string& message) {
  const auto bins = ToBins(arguments);
  ASSERT_FALSE(bins.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(bins.status()));
  EXPECT_THAT(std::string(bins.status().message()), HasSubstr(message));
}

TEST(BinArgumentsTest, DefaultIsTenBinsOverTheData) {
  const EvenBins bins = OnlyBins<EvenBins>({});
  EXPECT_EQ(bins.bin_count, 10u);
  EXPECT_EQ(bins.lower_bound, std::nullopt);
  EXPECT_EQ(bins.upper_bound, std::nullopt);
}

TEST(BinArgumentsTest, ARuleIsInPlaceOfANumber) {
  const EvenBins bins =
      OnlyBins<EvenBins>({.rule = BinRule::kFreedmanDiaconis, .range = "-60,140"});
  EXPECT_EQ(bins.bin_count, 0u);
  EXPECT_EQ(bins.rule, BinRule::kFreedmanDiaconis);
  EXPECT_EQ(bins.upper_bound, 140);
  EXPECT_EQ(OnlyBins<EvenBins>({.rule = BinRule::kAuto}).lower_bound, std::nullopt);
  ExpectError({.rule = BinRule::kAuto, .range = "1,2", .logarithmic = true}, "--bins");
  ExpectError({.rule = BinRule::kAuto, .edges = "1,2"}, "--edges");
  ExpectError({.rule = BinRule::kAuto, .layouts = {"even:3"}}, "--layout");
  ExpectError({.rule = BinRule::kAuto, .first_value = "1"}, "--integer");
}

TEST(BinArgumentsTest, EveryKindHasItsFlags) {
  const EvenBins even = OnlyBins<EvenBins>({.bin_count = 5, .range = "-60,140"});
  EXPECT_EQ(even.bin_count, 5u);
  EXPECT_EQ(even.lower_bound, -60);
  EXPECT_EQ(even.upper_bound, 140);
  EXPECT_THAT(OnlyBins<EdgeBins>({.edges = "-inf, 0.5,inf"}).edges,
              ElementsAre(-std::numeric_limits<double>::infinity(), 0.5,
                          std::numeric_limits<double>::infinity()));
  const LogarithmicBins log =
      OnlyBins<LogarithmicBins>({.bin_count = 3, .range = "1,1e3", .logarithmic = true});
  EXPECT_EQ(log.bin_count, 3u);
  EXPECT_EQ(log.lower_bound, 1);
  EXPECT_EQ(log.upper_bound, 1000);
  const IntegerBins integer = OnlyBins<IntegerBins>({.bin_count = 256, .first_value = "-128"});
  EXPECT_EQ(integer.first_value, -128);
  EXPECT_EQ(integer.bin_count, 256u);
  const IntegerBins large =
      OnlyBins<IntegerBins>({.bin_count = 2, .first_value = "18446744073709551614"});
  EXPECT_EQ(large.first_unsigned_value, ~uint64_t{0} - 1);
  EXPECT_EQ(large.first_value, 0);
}

TEST(BinArgumentsTest, LayoutsAreOneForEach) {
  const auto bins = ToBins(
      {.layouts = {"even:10", "even:5:-1:1", "edges:0:1:4", "log:3:1:1000", "integer:-128:256"}});
  ASSERT_TRUE(bins.ok()) << bins.status();
  ASSERT_EQ(bins->size(), 5u);
  EXPECT_EQ(std::get<EvenBins>((*bins)[0]).bin_count, 10u);
  EXPECT_EQ(std::get<EvenBins>((*bins)[1]).lower_bound, -1);
  EXPECT_THAT(std::get<EdgeBins>((*bins)[2]).edges, ElementsAre(0, 1, 4));
  EXPECT_EQ(std::get<LogarithmicBins>((*bins)[3]).upper_bound, 1000);
  EXPECT_EQ(std::get<IntegerBins>((*bins)[4]).first_value, -128);
  EXPECT_EQ(std::get<IntegerBins>((*bins)[4]).bin_count, 256u);
  const auto large = ToBins({.layouts = {"integer:9223372036854775808:3"}});
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ(std::get<IntegerBins>((*large)[0]).first_unsigned_value, uint64_t{1} << 63);
}

TEST(BinArgumentsTest, LayoutsThatMakeNoSenseAreNamed) {
  for (const char* layout : {"", "even", "even:", "even:x", "even:1:2", "even:1:2:3:4", "even:1.5",
                             "log:3", "round:3", "integer:1", "integer:1:-1", "integer:1:2:3",
                             "integer:18446744073709551616:1", "edges:a"}) {
    ExpectError({.layouts = {layout}}, "--layout: '" + std::string(layout) + "'");
  }
}

// Each pair of the flags that say what kind of bins there are.
TEST(BinArgumentsTest, OneKindExcludesEachOther) {
  const auto give = [](int kind, BinArguments& arguments) {
    switch (kind) {
      case 0: arguments.edges = "0,1"; break;
      case 1: arguments.logarithmic = true; break;
      case 2: arguments.first_value = "1"; break;
      default: arguments.layouts = {"even:1"};
    }
  };
  for (int one = 0; one < 4; ++one) {
    for (int other = one + 1; other < 4; ++other) {
      BinArguments arguments;
      give(one, arguments);
      give(other, arguments);
      ExpectError(arguments, "--edges, --log, --integer and --layout do not go together");
    }
  }
}

// Each kind with each option of a number of bins and their range.
TEST(BinArgumentsTest, KindsRefuseOptionsThatTheyHaveNoUseFor) {
  ExpectError({.bin_count = 1, .edges = "0,1"}, "--edges goes without --bins and --range");
  ExpectError({.rule = BinRule::kAuto, .edges = "0,1"}, "--edges goes without --bins and --range");
  ExpectError({.range = "1,2", .edges = "0,1"}, "--edges goes without --bins and --range");
  ExpectError({.bin_count = 1, .layouts = {"even:1"}}, "--layout goes without --bins and --range");
  ExpectError({.rule = BinRule::kAuto, .layouts = {"even:1"}},
              "--layout goes without --bins and --range");
  ExpectError({.range = "1,2", .layouts = {"even:1"}}, "--layout goes without --bins and --range");
  ExpectError({.bin_count = 2, .range = "1,2", .first_value = "1"},
              "--integer needs --bins and goes without --range");
  ExpectError({.rule = BinRule::kAuto, .range = "1,2", .logarithmic = true},
              "--bins: --log needs a number, no rule says how many");
}

TEST(BinArgumentsTest, EveryNumberOfALayoutIsRead) {
  const auto bins = ToBins({.layouts = {"even:3", "even:4:-1.5:2.5", "edges:-inf:0:7",
                                        "log:5:0.1:1000", "integer:-7:6"}});
  ASSERT_TRUE(bins.ok()) << bins.status();
  const auto& whole = std::get<EvenBins>((*bins)[0]);
  EXPECT_EQ(whole.bin_count, 3u);
  EXPECT_EQ(whole.lower_bound, std::nullopt);
  EXPECT_EQ(whole.upper_bound, std::nullopt);
  const auto& even = std::get<EvenBins>((*bins)[1]);
  EXPECT_EQ(even.bin_count, 4u);
  EXPECT_EQ(even.lower_bound, -1.5);
  EXPECT_EQ(even.upper_bound, 2.5);
  EXPECT_THAT(std::get<EdgeBins>((*bins)[2]).edges,
              ElementsAre(-std::numeric_limits<double>::infinity(), 0, 7));
  const auto& logarithmic = std::get<LogarithmicBins>((*bins)[3]);
  EXPECT_EQ(logarithmic.bin_count, 5u);
  EXPECT_EQ(logarithmic.lower_bound, 0.1);
  EXPECT_EQ(logarithmic.upper_bound, 1000);
  const auto& integer = std::get<IntegerBins>((*bins)[4]);
  EXPECT_EQ(integer.first_value, -7);
  EXPECT_EQ(integer.bin_count, 6u);
  EXPECT_EQ(integer.first_unsigned_value, 0u);
}

TEST(BinArgumentsTest, FlagsThatDoNotGoTogetherAreRefused) {
  ExpectError({.edges = "0,1", .logarithmic = true}, "do not go together");
  ExpectError({.edges = "0,1", .first_value = "1"}, "do not go together");
  ExpectError({.logarithmic = true, .layouts = {"even:1"}}, "do not go together");
  ExpectError({.bin_count = 1, .edges = "0,1"}, "--edges goes without");
  ExpectError({.bin_count = 1, .layouts = {"even:1"}}, "--layout goes without");
  ExpectError({.first_value = "1"}, "--integer needs --bins");
  ExpectError({.bin_count = 2, .first_value = "1.5"}, "--integer: '1.5' is not a whole number");
  ExpectError({.logarithmic = true}, "--log needs --range");
  ExpectError({.range = "1"}, "two numbers");
  ExpectError({.range = "1,2,3"}, "two numbers");
  ExpectError({.range = "1,x"}, "'x' is not a number");
  ExpectError({.edges = "1,,2"}, "'' is not a number");
}

}  // namespace
}  // namespace gridfold::client
