// What single arguments mean, and the message for each that means nothing.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
using testing::IsEmpty;
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
  const auto whole = ParseReference("--array", "a/b");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->name, "a/b");
  EXPECT_FALSE(whole->slice.has_value());
  EXPECT_THAT(whole->indices, IsEmpty());
  const auto slice = ParseReference("--array", "x[3:40]");
  ASSERT_TRUE(slice.ok() && slice->slice.has_value());
  EXPECT_EQ(slice->name, "x");
  EXPECT_EQ(slice->text, "x[3:40]");
  const auto resolved = Resolve(*slice, {});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->name, "x");
  EXPECT_EQ(resolved->slice->first, 3u);
  EXPECT_EQ(resolved->slice->count, 40u);
  EXPECT_FALSE(resolved->view.has_value());
}

TEST(ArrayReferenceTest, BracketsThatMakeNoSenseAreNamed) {
  const std::string two_numbers =
      "--a: two numbers are needed in brackets, [FIRST:COUNT]; NumPy's indices stand in braces";
  const auto no_index = [](const std::string& text) {
    return "--a: '" + text + "' is no index, such as 3, 10:20, ::-1 or ...; steps are not 0";
  };
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "--a: no name"},
           {"[1:2]", "--a: no name"},
           {"{1}", "--a: no name"},
           {"x[", "--a: 'x[' does not end with ]"},
           {"x[1:2", "--a: 'x[1:2' does not end with ]"},
           {"x[1:2]y", "--a: 'x[1:2]y' does not end with ]"},
           {"x[1:2}", "--a: 'x[1:2}' does not end with ]"},
           {"x{1]", "--a: 'x{1]' does not end with }"},
           {"x[1]", two_numbers},
           {"x[1:2:3]", two_numbers},
           {"x[1:-2]", "--a: '-2' is not a number that fits"},
           {"x[]", "--a: '' is not a number that fits"},
           {"x{}", no_index("")},
           {"x{1,}", no_index("")},
           {"x{1, y}", no_index("y")},
           {"x{::0}", no_index("::0")},
           {"x{1:2:3:4}", no_index("1:2:3:4")},
           {"x{1:a}", no_index("1:a")},
           {"x{a:}", no_index("a:")},
           {"x{::a}", no_index("::a")},
           {"x{9223372036854775808}", no_index("9223372036854775808")},
           {"x{.., 1}", no_index("..")},
           {"x{..., 1, ...}", "--a: ... stands once at most"}}) {
    EXPECT_EQ(ParseReference("--a", text).status().message(), message) << text;
  }
}

absl::StatusOr<ResidentArray> ResolveText(const std::string& text,
                                          const std::vector<uint64_t>& shape) {
  const absl::StatusOr<ArrayReference> reference = ParseReference("--a", text);
  if (!reference.ok()) return reference.status();
  return Resolve(*reference, shape);
}

// A view as text: "first | axis count step | ...".
std::string ViewText(const std::string& text, const std::vector<uint64_t>& shape) {
  const absl::StatusOr<ResidentArray> array = ResolveText(text, shape);
  if (!array.ok()) return std::string(array.status().message());
  if (array->slice) return absl::StrCat("rows ", array->slice->first, " ", array->slice->count);
  std::string view = absl::StrJoin(array->view->first, " ");
  for (const ViewDimension& dimension : array->view->dimensions) {
    absl::StrAppend(&view, " | ", dimension.axis, " ", dimension.count, " ", dimension.step);
  }
  return view;
}

// What Python's slice.indices says of each.
TEST(ArrayReferenceTest, BracesAreNumPysIndices) {
  for (const auto& [text, view] : std::vector<std::pair<std::string, std::string>>{
           {"x{::2, 3, 1:4}", "0 3 1 | 0 3 2 | 2 3 1"},
           {"x{-1, ::-1}", "5 4 0 | 1 5 -1 | 2 4 1"},
           {"x{..., ::-2}", "0 0 3 | 0 6 1 | 1 5 1 | 2 2 -2"},
           {"x{ 2 , ... , -4 }", "2 0 0 | 1 5 1"},
           {"x{0, ..., 0, 0}", "0 0 0"},
           {"x{5:0:-2, 1, 1}", "5 1 1 | 0 3 -2"},
           {"x{-2:-9:-3, 0, 0}", "4 0 0 | 0 2 -3"},
           {"x{:: 5, 0, 0}", "0 0 0 | 0 2 5"},
           {"x{::6, 0, 0}", "0 0 0 | 0 1 1"},
           {"x{::-9223372036854775808, 0, 0}", "5 0 0 | 0 1 1"},
           {"x{4:99:9223372036854775807, 0, 0}", "4 0 0 | 0 1 1"},
           {"x{-9223372036854775808:, 0, 0}", "0 0 0 | 0 6 1"},
           {"x{:, 3:3}", "0 0 0 | 0 6 1 | 1 0 1 | 2 4 1"},
           {"x{:, 3:1, 0}", "0 0 0 | 0 6 1 | 1 0 1"},
           {"x{9:, 0, 0}", "0 0 0 | 0 0 1"},
           {"x{:-9:-1, 1, 0}", "5 1 0 | 0 6 -1"},
           {"x{1:3}", "rows 1 2"},
           {"x{-2:}", "rows 4 2"},
           {"x{...}", "rows 0 6"},
           {"x{2:1}", "rows 0 0"},
           {"x{3:4:7, :, 0:4}", "rows 3 1"},
           {"x{0, 0, 0, 0}", "--a: 4 indices are more than the array's 3 dimensions"},
           {"x{0, ..., 0, 0, 0}", "--a: 4 indices are more than the array's 3 dimensions"},
           {"x{0, 5}", "--a: index 5 is outside axis 1 of 5 elements"},
           {"x{-7}", "--a: index -7 is outside axis 0 of 6 elements"}}) {
    EXPECT_EQ(ViewText(text, {6, 5, 4}), view) << text;
  }
  EXPECT_EQ(ViewText("x{0}", {0}), "--a: index 0 is outside axis 0 of 0 elements");
  EXPECT_EQ(ViewText("x{::-1}", {0}), "rows 0 0");
  EXPECT_EQ(ViewText("x{...}", {}), "") << "an array without dimensions";
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
