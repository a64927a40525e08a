#include "client/command_line/input/csv_column.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "client/command_line/input/element_dispatch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename T>
std::vector<T> Elements(const HostArray& array) {
  EXPECT_EQ(array.element_type, ElementTypeOf<T>());
  EXPECT_THAT(array.shape, ElementsAre(array.element_count()));
  std::vector<T> elements;
  for (uint64_t i = 0; i < array.element_count(); ++i) {
    elements.push_back(ElementAt<T>(array.view(), i));
  }
  return elements;
}

template <typename T>
std::vector<T> Read(const std::string& text, const CsvOptions& options = {}) {
  const auto array = ParseCsvColumn(text, options);
  EXPECT_TRUE(array.ok()) << array.status();
  return array.ok() ? Elements<T>(*array) : std::vector<T>();
}

void ExpectError(const std::string& text, const CsvOptions& options, const std::string& message) {
  const auto array = ParseCsvColumn(text, options);
  ASSERT_FALSE(array.ok());
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(message));
}

TEST(CsvColumnTest, TypeFollowsTheValues) {
  EXPECT_THAT(Read<int64_t>("1\n-2\n+3\n"), ElementsAre(1, -2, 3));
  EXPECT_THAT(Read<double>("1\n2.5\n"), ElementsAre(1, 2.5));
  EXPECT_THAT(Read<double>("1\n9223372036854775808\n"), ElementsAre(1, 9223372036854775808.0));
  EXPECT_THAT(Read<int64_t>("9223372036854775807"), ElementsAre(INT64_MAX));
  EXPECT_THAT(Read<int64_t>(""), IsEmpty());
}

TEST(CsvColumnTest, TypeCanBeGiven) {
  EXPECT_THAT(Read<float>("1\n0.1\n", {.element_type = ElementType::kFloat32}),
              ElementsAre(1, 0.1f));
  EXPECT_THAT(Read<uint8_t>("0\n255\n", {.element_type = ElementType::kUint8}),
              ElementsAre(0, 255));
  ExpectError("0\n256\n", {.element_type = ElementType::kUint8}, "line 2: '256'");
  ExpectError("0\n1.5\n", {.element_type = ElementType::kInt32}, "line 2: '1.5'");
  ExpectError("0\n", {.element_type = ElementType::kFloat16}, "float16");
}

TEST(CsvColumnTest, ColumnsAreFoundByNumberAndName) {
  const std::string text = "hour,delay minutes, miles\n1,2,3\n4,5,6\n";
  EXPECT_THAT(Read<int64_t>(text), ElementsAre(1, 4));
  EXPECT_THAT(Read<int64_t>(text, {.column = "3"}), ElementsAre(3, 6));
  EXPECT_THAT(Read<int64_t>(text, {.column = "delay minutes"}), ElementsAre(2, 5));
  EXPECT_THAT(Read<int64_t>(text, {.column = "miles"}), ElementsAre(3, 6));
  EXPECT_THAT(Read<int64_t>("7,1\n8,2\n", {.column = "2"}), ElementsAre(1, 2));
  ExpectError(text, {.column = "speed"}, "no column is named 'speed'");
  ExpectError(text, {.column = "0"}, "counted from 1");
  ExpectError(text, {.column = "4"}, "line 1 has 3 columns, not 4");
}

TEST(CsvColumnTest, MissingValuesAreNan) {
  const std::vector<double> values = Read<double>("a,b\n1,\n2,3\n4, \n", {.column = "b"});
  ASSERT_EQ(values.size(), 3u);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], 3);
  EXPECT_TRUE(std::isnan(values[2]));
  ExpectError("1,\n", {.column = "2", .element_type = ElementType::kInt64}, "line 1: ''");
}

TEST(CsvColumnTest, SpecialFloatsAreRead) {
  const std::vector<double> values = Read<double>("x\nnan\ninf\n-inf\n5e-324\n-0.0\n");
  ASSERT_EQ(values.size(), 5u);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], HUGE_VAL);
  EXPECT_EQ(values[2], -HUGE_VAL);
  EXPECT_EQ(values[3], std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(values[4]));
  ExpectError("1\n1e400\n", {}, "line 2: '1e400'");
}

TEST(CsvColumnTest, LineEndsQuotesAndSpacesAreUnderstood) {
  EXPECT_THAT(Read<int64_t>("\xEF\xBB\xBFx\r\n1\r\n\r\n2"), ElementsAre(1, 2));
  EXPECT_THAT(Read<int64_t>("name,n\n\"a,\"\"b\"\"\nc\",7\n\"d\", 8 \n", {.column = "n"}),
              ElementsAre(7, 8));
  EXPECT_THAT(Read<int64_t>("1;2\n3;4\n", {.column = "2", .delimiter = ';'}), ElementsAre(2, 4));
  EXPECT_THAT(Read<int64_t>("1\t2\n", {.column = "2", .delimiter = '\t'}), ElementsAre(2));
}

TEST(CsvColumnTest, MalformedTextNamesItsLine) {
  ExpectError("1\n2\nthree\n", {}, "line 3: 'three'");
  ExpectError("1,2\n3\n", {.column = "2"}, "line 2 has 1 columns, not 2");
  ExpectError("1\n\"2\n", {}, "line 2: a quoted field does not end");
  ExpectError("1\n\"2\"x\n", {}, "line 2: more follows a quoted field");
  ExpectError("a,n\n\"b\nc\",1\nd,e\n", {.column = "n"}, "line 4: 'e'");
  ExpectError("1\n2 3\n", {}, "line 2: '2 3'");
}

}  // namespace
}  // namespace gridfold::client
