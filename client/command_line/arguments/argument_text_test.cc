// What single arguments mean, and the message for each that means nothing.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/command_line/arguments/array_reference.h"
#include "client/command_line/arguments/number_list.h"
#include "client/command_line/arguments/scalar_text.h"
#include "client/command_line/arguments/statistic_argument.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(NumberTextTest, BlanksAndAPlusSignMayStandBeforeNumbers) {
  EXPECT_EQ(ParseNumber<int64_t>(" +12\t"), 12);
  EXPECT_EQ(ParseNumber<int8_t>("-128"), -128);
  EXPECT_EQ(ParseNumber<double>("+1e3"), 1000);
  EXPECT_EQ(ParseNumber<double>("-inf"), -HUGE_VAL);
  for (const char* const text : {"", " ", "+", "+-1", "++1", "1 2", "0x10", "1x", "128"}) {
    EXPECT_EQ(ParseNumber<int8_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseNumber<double>("1e999"), std::nullopt) << "out of range";
}

TEST(NumberTextTest, StrictNumbersAreDigits) {
  EXPECT_EQ(ParseStrictly<uint8_t>("255"), 255);
  EXPECT_EQ(ParseStrictly<int8_t>("-1"), -1);
  for (const char* const text : {"", "256", "-1", "+1", " 1", "1 ", "1.0"}) {
    EXPECT_EQ(ParseStrictly<uint8_t>(text), std::nullopt) << text;
  }
}

TEST(NumberTextTest, DecimalsBeyondATypeAreInfiniteOrZero) {
  EXPECT_EQ(ParseRounded<double>("1e999"), HUGE_VAL);
  EXPECT_EQ(ParseRounded<double>("-1e999"), -HUGE_VAL);
  EXPECT_EQ(ParseRounded<double>("1e-999"), 0);
  EXPECT_EQ(ParseRounded<float>("+1e39"), HUGE_VALF);
  EXPECT_EQ(ParseRounded<float>(" 0.1 "), 0.1f);
  for (const char* const text : {"", "x", "1e999x", "+-1", "1 2"}) {
    EXPECT_EQ(ParseRounded<double>(text), std::nullopt) << text;
    EXPECT_EQ(ParseRounded<float>(text), std::nullopt) << text;
  }
}

TEST(NumberTextTest, ListsNameTheirFlagAndTheWrongPart) {
  EXPECT_THAT(*ParseNumberList<int32_t>("--f", "1, -2,+3"), ElementsAre(1, -2, 3));
  EXPECT_THAT(*ParseNumberList<uint64_t>("--f", "4:5", ':'), ElementsAre(4, 5));
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"1,", ""}, {"1,x,3", "x"}, {"300", "300"}, {"-1", "-1"}}) {
    EXPECT_EQ(ParseNumberList<uint8_t>("--f", text).status().message(),
              "--f: '" + part + "' is not a number that fits");
  }
}

TEST(ScalarTextTest, TheFirstTypeThatFitsIsTaken) {
  EXPECT_EQ(ParseScalar("true"), Scalar(true));
  EXPECT_EQ(ParseScalar("false"), Scalar(false));
  EXPECT_EQ(ParseScalar("-5"), Scalar(int64_t{-5}));
  EXPECT_EQ(ParseScalar("9223372036854775807"), Scalar(INT64_MAX));
  EXPECT_EQ(ParseScalar("9223372036854775808"), Scalar(uint64_t{1} << 63));
  EXPECT_EQ(ParseScalar("18446744073709551616"), Scalar(0x1p64));
  EXPECT_EQ(ParseScalar("0.5"), Scalar(0.5));
  EXPECT_EQ(ParseScalar("True"), std::nullopt);
  EXPECT_EQ(ParseScalar(""), std::nullopt);
}

TEST(ScalarTextTest, EmptyGroupsHaveARule) {
  EXPECT_EQ(ParseEmptyGroup("error")->policy, EmptyGroupPolicy::kError);
  EXPECT_EQ(ParseEmptyGroup("nan")->policy, EmptyGroupPolicy::kNan);
  EXPECT_EQ(ParseEmptyGroup("null")->policy, EmptyGroupPolicy::kNull);
  EXPECT_EQ(ParseEmptyGroup("-1.5")->policy, EmptyGroupPolicy::kValue);
  EXPECT_EQ(ParseEmptyGroup("-1.5")->value, Scalar(-1.5));
  EXPECT_FALSE(ParseEmptyGroup("none").has_value());
}

TEST(ArrayReferenceTest, BracketsAreASlice) {
  EXPECT_EQ(ParseReference("--array", "a/b")->name, "a/b");
  EXPECT_FALSE(ParseReference("--array", "a/b")->slice.has_value());
  const auto slice = ParseReference("--array", "x[3:40]");
  ASSERT_TRUE(slice.ok() && slice->slice.has_value());
  EXPECT_EQ(slice->name, "x");
  EXPECT_EQ(slice->slice->first, 3u);
  EXPECT_EQ(slice->slice->count, 40u);
  EXPECT_EQ(FormatReference(*slice), "x[3:40]");
  EXPECT_EQ(FormatReference(*ParseReference("--array", "x")), "x");
}

TEST(ArrayReferenceTest, BracketsThatMakeNoSenseAreNamed) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "--a: no name"},
           {"[1:2]", "--a: no name"},
           {"x[", "--a: 'x[' does not end with ]"},
           {"x[1:2", "--a: 'x[1:2' does not end with ]"},
           {"x[1:2]y", "--a: 'x[1:2]y' does not end with ]"},
           {"x[1]", "--a: two numbers are needed in brackets, [FIRST:COUNT]"},
           {"x[1:2:3]", "--a: two numbers are needed in brackets, [FIRST:COUNT]"},
           {"x[1:-2]", "--a: '-2' is not a number that fits"},
           {"x[]", "--a: '' is not a number that fits"}}) {
    EXPECT_EQ(ParseReference("--a", text).status().message(), message) << text;
  }
}

TEST(StatisticArgumentTest, NamesOfNumPyAreTaken) {
  using enum Statistic;
  for (const auto& [name, statistic] :
       std::vector<std::pair<std::string, Statistic>>{{"average", kMean},
                                                      {"avg", kMean},
                                                      {"maximum", kMax},
                                                      {"minimum", kMin},
                                                      {"prod", kProduct},
                                                      {"ptp", kRange},
                                                      {"rms", kRootMeanSquare},
                                                      {"sem", kStandardError},
                                                      {"std", kStandardDeviation},
                                                      {"stddev", kStandardDeviation},
                                                      {"var", kVariance},
                                                      {"sum", kSum}}) {
    EXPECT_THAT(*ParseStatistics("--stat", {name}), ElementsAre(statistic)) << name;
  }
  const absl::Status wrong = ParseStatistics("--stat", {"sum", "mena"}).status();
  EXPECT_THAT(std::string(wrong.message()), StartsWith("--stat: "));
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("mean"));
}

}  // namespace
}  // namespace gridfold::client
