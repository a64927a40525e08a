// Which arrays a file is said to hold, of CSV above all: its columns, their names and which are
// text.
#include "client/command_line/input/array_list.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/npy_format.h"
#include "client/command_line/output/output_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ArrayListTest : public testing::Test {
 protected:
  ~ArrayListTest() override { std::remove(path_.c_str()); }

  // Lists the arrays of a file with this content.
  absl::StatusOr<std::vector<ListedArray>> List(const std::string& content,
                                                const std::vector<std::string>& columns = {},
                                                InputOptions options = {}) {
    EXPECT_TRUE(WriteFile(path_, {content}).ok());
    options.path = path_;
    return ListArrays(options, columns);
  }

  // The names of columns, with "(text)" behind those that are text.
  std::vector<std::string> Names(const std::string& content,
                                 const std::vector<std::string>& columns = {},
                                 const CsvOptions& csv = {}) {
    const auto arrays = List(content, columns, {.csv = csv});
    if (!arrays.ok()) return {std::string(arrays.status().message())};
    std::vector<std::string> names;
    for (const ListedArray& array : *arrays) {
      names.push_back(array.name + (array.is_text ? "(text)" : ""));
    }
    return names;
  }

  const std::string path_ = absl::StrCat(testing::TempDir(), "/", getpid(), "_list.csv");
};

TEST_F(ArrayListTest, AHeadingHasNoNumberAnywhere) {
  EXPECT_THAT(Names("a, b ,c\n1,2,3\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Names("a,1,c\n1,2,3\n"), ElementsAre("1(text)", "2", "3(text)"));
  EXPECT_THAT(Names("a,b,3\n1,2,3\n"), ElementsAre("1(text)", "2(text)", "3"));
  EXPECT_THAT(Names("a,,c\n1,2,3\n"), ElementsAre("a", "", "c"));
  EXPECT_THAT(Names("4,5\n", {}, {.heading = Heading::kYes}), ElementsAre("4", "5"));
  EXPECT_THAT(Names("a,b\n1,2\n", {}, {.heading = Heading::kNo}),
              ElementsAre("1(text)", "2(text)"));
  EXPECT_THAT(Names("x,y\n1,2\n", {}, {.missing = {"x", "y"}}), ElementsAre("x", "y"));
}

TEST_F(ArrayListTest, AColumnIsReadByItsNumberWithOrWithoutAHeading) {
  for (const bool has_heading : {false, true}) {
    const auto arrays = List(has_heading ? "a,b\n1,2\n" : "1,2\n");
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    ASSERT_EQ(arrays->size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const InputOptions& input = (*arrays)[i].input;
      EXPECT_EQ(input.path, path_);
      EXPECT_EQ(input.format, FileFormat::kCsv);
      EXPECT_EQ(input.csv.column, absl::StrCat(i + 1));
      EXPECT_EQ(input.csv.heading, has_heading ? Heading::kYes : Heading::kNo);
    }
  }
}

TEST_F(ArrayListTest, ColumnsAreTakenByNameOrNumber) {
  const std::string text = "a,b,c\n1,2,3\n";
  EXPECT_THAT(Names(text, {"b"}), ElementsAre("b"));
  EXPECT_THAT(Names(text, {" c ", "1"}), ElementsAre("a", "c"));
  EXPECT_THAT(Names("1,2\n", {"2"}), ElementsAre("2"));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"d"}, {"0"}, {"4"}, {"a", "d"}}) {
    EXPECT_THAT(Names(text, wrong), ElementsAre(HasSubstr("there is no column of one of these")));
  }
}

// The heading is one of the rows that are looked at.
TEST_F(ArrayListTest, TextIsFoundInTheFirstThousandRows) {
  for (const int numbers : {998, 999}) {
    std::string rows = "a\n";
    for (int i = 0; i < numbers; ++i) rows += "1\n";
    EXPECT_THAT(Names(rows + "x\n"), ElementsAre(numbers == 998 ? "a(text)" : "a"));
  }
  EXPECT_THAT(Names("a,b\n1\n1,x\n"), ElementsAre("a", "b(text)")) << "a row may be short";
  EXPECT_THAT(Names("a,b\n1,NA\n", {}, {.missing = {"NA"}}), ElementsAre("a", "b"));
}

TEST_F(ArrayListTest, WhatIsNoCsv) {
  EXPECT_THAT(Names("#\n", {}, {.comment = '#'}), ElementsAre("there is no row in it"));
  EXPECT_THAT(Names("\"a\n"), ElementsAre(HasSubstr("a quoted field does not end")));
  const std::string npy = *NpyHeader(ElementType::kUint8, std::vector<uint64_t>{3}) + "abc";
  EXPECT_THAT(Names(npy), ElementsAre(""));
  EXPECT_THAT(Names(npy, {"1"}), ElementsAre(HasSubstr("--column is for CSV")));
}

// Whoever computes on it has to have all of it.
TEST_F(ArrayListTest, WhatCanBeReadOnceIsNotRead) {
  for (const std::string path : {"-", "/dev/null"}) {
    const auto arrays = ListArrays({.path = path, .element_type = ElementType::kFloat32}, {});
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    ASSERT_EQ(arrays->size(), 1u);
    EXPECT_EQ(arrays->front().name, "");
    EXPECT_EQ(arrays->front().input.path, path);
    EXPECT_EQ(arrays->front().input.element_type, ElementType::kFloat32);
  }
}

}  // namespace
}  // namespace gridfold::client
