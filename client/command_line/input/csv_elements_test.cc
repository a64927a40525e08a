#include "client/command_line/input/csv_elements.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/input/string_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Question {
  CsvOptions csv = {};
  std::optional<ElementType> type = std::nullopt;
};

absl::StatusOr<HostArray> Parse(const std::string& text, const Question& question) {
  auto column = CsvColumn::Open(std::make_unique<StringSource>(text), question.csv,
                                question.csv.delimiter.value_or(','));
  if (!column.ok()) return column.status();
  auto elements = question.type ? ReadCsvAs(*question.type, *std::move(column))
                                : ReadCsv(*std::move(column), nullptr, uint64_t{1} << 20);
  if (!elements.ok()) return elements.status();
  return ReadElements(**elements);
}

template <typename T>
std::vector<T> Read(const std::string& text, const Question& question = {}) {
  const auto array = Parse(text, question);
  EXPECT_TRUE(array.ok()) << array.status();
  std::vector<T> elements;
  if (!array.ok()) return elements;
  EXPECT_EQ(array->element_type, ElementTypeOf<T>()) << text;
  if (array->element_type != ElementTypeOf<T>()) return elements;
  for (uint64_t i = 0; i < array->element_count(); ++i) {
    elements.push_back(ElementAt<T>(array->view(), i));
  }
  return elements;
}

void ExpectError(const std::string& text, const Question& question, const std::string& message) {
  const auto array = Parse(text, question);
  ASSERT_FALSE(array.ok()) << text;
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(message));
}

Question Column(const std::string& column) { return {.csv = {.column = column}}; }

TEST(CsvElementsTest, TypeFollowsTheValues) {
  EXPECT_THAT(Read<int64_t>("1\n-2\n+3\n"), ElementsAre(1, -2, 3));
  EXPECT_THAT(Read<double>("1\n2.5\n"), ElementsAre(1, 2.5));
  EXPECT_THAT(Read<double>("1.5\n9007199254740993\n"), ElementsAre(1.5, 9007199254740992.0));
  EXPECT_THAT(Read<int64_t>("9223372036854775807"), ElementsAre(INT64_MAX));
  EXPECT_THAT(Read<int64_t>("-9223372036854775808"), ElementsAre(INT64_MIN));
  EXPECT_THAT(Read<uint64_t>("1\n18446744073709551615\n"), ElementsAre(1, UINT64_MAX));
  EXPECT_THAT(Read<double>("-1\n1e300\n"), ElementsAre(-1, 1e300));
  EXPECT_THAT(Read<double>("9223372036854775808\n-1\n0.5\n"),
              ElementsAre(9223372036854775808.0, -1, 0.5));
  EXPECT_THAT(Read<double>("-1\n9223372036854775808\n0.5\n"),
              ElementsAre(-1, 9223372036854775808.0, 0.5));
  EXPECT_THAT(Read<int64_t>("x\n"), IsEmpty());
}

TEST(CsvElementsTest, IntegersOfNoTypeAreErrors) {
  ExpectError("1\n18446744073709551616\n", {}, "line 2: no integer type holds 184467440737095516");
  ExpectError("1\n-9223372036854775809\n", {}, "line 2: no integer type holds -922337203685477580");
  ExpectError("-1\n9223372036854775808\n", {}, "holds 9223372036854775808 and negative numbers");
  ExpectError("9223372036854775808\n-1\n", {}, "holds 9223372036854775808 and negative numbers");
  ExpectError("18446744073709551616\n", {}, "--type float64");
  EXPECT_THAT(Read<double>("18446744073709551616\n", {.type = ElementType::kFloat64}),
              ElementsAre(18446744073709551616.0));
}

TEST(CsvElementsTest, TypeCanBeGiven) {
  EXPECT_THAT(Read<float>("1\n0.1\n", {.type = ElementType::kFloat32}), ElementsAre(1, 0.1f));
  EXPECT_THAT(Read<uint8_t>("0\n255\n", {.type = ElementType::kUint8}), ElementsAre(0, 255));
  ExpectError("0\n256\n", {.type = ElementType::kUint8},
              "line 2: '256' is no number of type uint8");
  ExpectError("0\n1.5\n", {.type = ElementType::kInt32}, "line 2: '1.5'");
  ExpectError("0\n", {.type = ElementType::kFloat16}, "float16");
}

TEST(CsvElementsTest, ColumnsAreFoundByNumberAndName) {
  const std::string text = "hour,delay minutes, miles\n1,2,3\n4,5,6\n";
  EXPECT_THAT(Read<int64_t>(text), ElementsAre(1, 4));
  EXPECT_THAT(Read<int64_t>(text, Column("3")), ElementsAre(3, 6));
  EXPECT_THAT(Read<int64_t>(text, Column("delay minutes")), ElementsAre(2, 5));
  EXPECT_THAT(Read<int64_t>(text, Column("miles")), ElementsAre(3, 6));
  EXPECT_THAT(Read<int64_t>("7,1\n8,2\n", Column("2")), ElementsAre(1, 2));
  ExpectError(text, Column("speed"), "no column is named 'speed'");
  ExpectError(text, Column("0"), "counted from 1");
  ExpectError(text, Column("4"), "there are 3 columns, and no 4");
  ExpectError("a,a\n1,2\n", Column("a"), "columns 1 and 2 are both named 'a'");
}

TEST(CsvElementsTest, AColumnThatIsGivenByNameMeansAHeading) {
  EXPECT_THAT(Read<int64_t>("0.5,0.9\n10,20\n30,40\n", Column("0.9")), ElementsAre(20, 40));
  EXPECT_THAT(Read<int64_t>("1999,2000\n10,20\n", Column("2000")), ElementsAre(20));
  EXPECT_THAT(Read<int64_t>(",v\n0,7\n1,8\n", Column("")), ElementsAre(0, 1));
  ExpectError("0.5,0.9\n", {.csv = {.column = "0.9", .heading = Heading::kNo}}, "--header no");
}

TEST(CsvElementsTest, WhetherThereIsAHeadingCanBeSaid) {
  EXPECT_THAT(Read<int64_t>("1999\n10\n", {.csv = {.heading = Heading::kYes}}), ElementsAre(10));
  EXPECT_THAT(Read<int64_t>("1999\n10\n", {.csv = {.heading = Heading::kNo}}),
              ElementsAre(1999, 10));
  EXPECT_THAT(Read<int64_t>("1999\n10\n"), ElementsAre(1999, 10));
  ExpectError("v\n10\n", {.csv = {.heading = Heading::kNo}}, "line 1: 'v' is not a number");
}

TEST(CsvElementsTest, HeadingsAreToldByTheOtherFields) {
  // The index column that pandas writes.
  EXPECT_THAT(Read<int64_t>(",v\n0,1\n1,2\n"), ElementsAre(0, 1));
  EXPECT_THAT(Read<double>("A,,5\nB,7,6\n", Column("2")), ElementsAre(testing::IsNan(), 7));
  EXPECT_THAT(Read<double>(",5\n7,6\n"), ElementsAre(testing::IsNan(), 7));
  for (const std::string text : {"id,2019\n7,8\n", "C,\nD,7\n", "n/a,,5\n3,4,5\n"}) {
    ExpectError(text, Column("2"), "--header");
  }
  ExpectError("n/a,5\n3,6\n", {}, "--header");
}

TEST(CsvElementsTest, MissingValuesAreNanAndCounted) {
  const Question question = {.csv = {.column = "b", .missing = {"NA", "null"}}};
  const auto array = Parse("a,b\n1,\n2,3\n4, \n5,NA\n6,\" null\"\n7,\"\"\n", question);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->missing_count, 5u);
  EXPECT_EQ(array->element_count(), 6u);
  EXPECT_EQ(ElementAt<double>(array->view(), 1), 3);
  EXPECT_TRUE(std::isnan(ElementAt<double>(array->view(), 3)));
  ExpectError("1,\n", {.csv = {.column = "2"}, .type = ElementType::kInt64},
              "line 1: a value is missing, and int64 has no NaN");
  ExpectError("a\n1\nNA\n", {}, "line 3: 'NA' is not a number; --missing");
}

TEST(CsvElementsTest, MissingValuesMakeIntegersFloatsWhereThatIsExact) {
  EXPECT_THAT(Read<double>("1\n9007199254740992\n\"\"\n4611686018427387904\n"),
              ElementsAre(1, 9007199254740992.0, testing::IsNan(), 4611686018427387904.0));
  ExpectError("1\n9007199254740993\n\"\"\n", {},
              "line 2: 9007199254740993 is not exact in float64");
  ExpectError("\"\"\n-9007199254740993\n", {}, "--missing");
  ExpectError("nan\n9007199254740993\n", {}, "--type float64");
  EXPECT_THAT(Read<double>("\"\"\n9007199254740993\n", {.type = ElementType::kFloat64}),
              ElementsAre(testing::IsNan(), 9007199254740992.0));
}

TEST(CsvElementsTest, DecimalsOutOfRangeRoundAsStrtodDoes) {
  const std::string text =
      "1e-400\n1e400\n-1e400\n-1e-400\n5e-324\n2e-324\n1.7976931348623159e308\n";
  const std::vector<double> values = Read<double>(text);
  ASSERT_EQ(values.size(), 7u);
  EXPECT_THAT(values, ElementsAre(0, HUGE_VAL, -HUGE_VAL, 0, 5e-324, 0, HUGE_VAL));
  EXPECT_TRUE(std::signbit(values[3]));
  EXPECT_THAT(Read<float>("1e-60\n1e60\n1e-45\n", {.type = ElementType::kFloat32}),
              ElementsAre(0, HUGE_VALF, std::numeric_limits<float>::denorm_min()));
}

TEST(CsvElementsTest, SpecialFloatsAreRead) {
  const std::vector<double> values = Read<double>("x\nnan\ninf\n-inf\n5e-324\n-0.0\n");
  ASSERT_EQ(values.size(), 5u);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], HUGE_VAL);
  EXPECT_EQ(values[2], -HUGE_VAL);
  EXPECT_TRUE(std::signbit(values[4]));
}

TEST(CsvElementsTest, LineEndsQuotesAndSpacesAreUnderstood) {
  EXPECT_THAT(Read<int64_t>("\xEF\xBB\xBFx\r\n1\r\n\r\n2"), ElementsAre(1, 2));
  EXPECT_THAT(Read<int64_t>("1\r2\r\r3\r"), ElementsAre(1, 2, 3));
  EXPECT_THAT(Read<int64_t>("name,n\n\"a,\"\"b\"\"\nc\",7\n\"d\", 8 \n", Column("n")),
              ElementsAre(7, 8));
  EXPECT_THAT(Read<int64_t>("1;2\n3;4\n", {.csv = {.column = "2", .delimiter = ';'}}),
              ElementsAre(2, 4));
  EXPECT_THAT(Read<int64_t>("1\t2\n", {.csv = {.column = "2", .delimiter = '\t'}}), ElementsAre(2));
}

TEST(CsvElementsTest, CommentsArePassedOver) {
  const Question question = {.csv = {.column = "v", .comment = '#'}};
  EXPECT_THAT(Read<int64_t>("# it's \"new\n#\nv\n1\n# 2\n3\n#end", question), ElementsAre(1, 3));
  ExpectError("v\n1\n#2\nx\n", question, "line 4: 'x'");
}

TEST(CsvElementsTest, MalformedTextNamesItsLine) {
  ExpectError("1\n2\nthree\n", {}, "line 3: 'three'");
  ExpectError("1,2\n3\n", Column("2"), "line 2 has 1 field, and line 1 2");
  ExpectError("v\n1,234\n", Column("v"), "line 2 has 2 fields, and line 1 1");
  ExpectError("v\n7\n\n1,234\n", Column("v"), "line 4 has 2 fields");
  ExpectError("1\n\"2\n", {}, "line 2: a quoted field does not end");
  ExpectError("1\n\"2\"x\n", {}, "line 2: more follows a quoted field");
  ExpectError("a,n\n\"b\nc\",1\nd,e\n", Column("n"), "line 4: 'e'");
  ExpectError("1\n2 3\n", {}, "line 2: '2 3'");
  ExpectError("a;b\n1;2\n", {}, "--delimiter");
  ExpectError(std::string("1\n2\0\n", 5), {}, "line 2: a NUL byte");
  ExpectError("\n\n", {}, "there is no row");
}

TEST(CsvElementsTest, LongTextIsReadInPieces) {
  std::string text = "note,v\r\n";
  std::vector<int64_t> expected;
  for (int i = 0; i < 50'000; ++i) {
    // Quotes, line ends and delimiters fall on every place of a window's end.
    absl::StrAppend(&text, "\"", std::string(static_cast<size_t>(i % 40), 'x'), "\"\",\r\n\",", i,
                    "\r\n");
    expected.push_back(i);
  }
  text += "\"" + std::string(2'000'000, 'x') + "\",-1";
  expected.push_back(-1);
  EXPECT_EQ(Read<int64_t>(text, Column("v")), expected);
}

TEST(CsvElementsTest, RowsWithoutEndAreRefused) {
  ExpectError("v\n\"" + std::string(40'000'000, 'x'), {}, "line 2: the row is longer than 16 MiB");
}

TEST(CsvElementsTest, ValuesBeyondTheBoundAreReadTwice) {
  std::string text = "v\n";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&text, i, "\n");
  text += "0.5\n\"\"\n";
  const auto open = [&] {
    return CsvColumn::Open(std::make_unique<StringSource>(text), CsvOptions(), ',');
  };
  auto twice = ReadCsv(*open(), open, 100);
  ASSERT_TRUE(twice.ok()) << twice.status();
  const auto array = ReadElements(**twice);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->element_type, ElementType::kFloat64);
  EXPECT_EQ(array->element_count(), 1002u);
  EXPECT_EQ(ElementAt<double>(array->view(), 1000), 0.5);
  EXPECT_EQ(array->missing_count, 1u);
  const auto refused = ReadCsv(*open(), nullptr, 100).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--type"));
}

}  // namespace
}  // namespace gridfold::client
