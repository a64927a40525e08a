#include "client/command_line/input/npy_format.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file of version `version` with this header dictionary and these elements' bytes.
std::string File(int version, const std::string& dictionary, const std::string& data) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(dictionary.size() >> (8 * i));
  }
  return file + dictionary + data;
}

std::string Dictionary(const std::string& descr, const std::string& order,
                       const std::string& shape) {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", order, ", 'shape': ", shape,
                      ", }          \n");
}

void ExpectError(const std::string& file, const std::string& message) {
  const auto array = ParseNpy(file);
  ASSERT_FALSE(array.ok()) << message;
  EXPECT_TRUE(absl::IsInvalidArgument(array.status()));
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(message));
}

TEST(NpyFormatTest, EveryVersionIsRead) {
  for (int version : {1, 2, 3}) {
    const auto array = ParseNpy(File(version, Dictionary("<i2", "False", "(3,)"), "aabbcc"));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->element_type, ElementType::kInt16);
    EXPECT_THAT(array->shape, ElementsAre(3));
    EXPECT_EQ(array->element_count(), 3u);
    EXPECT_EQ(array->bytes.substr(array->offset), "aabbcc");
    EXPECT_TRUE(array->view().shape().empty());
  }
}

TEST(NpyFormatTest, EveryElementTypeIsRead) {
  const std::vector<std::pair<std::string, ElementType>> types = {
      {"|i1", ElementType::kInt8},    {"<i2", ElementType::kInt16},  {"<i4", ElementType::kInt32},
      {"<i8", ElementType::kInt64},   {"|u1", ElementType::kUint8},  {"<u2", ElementType::kUint16},
      {"<u4", ElementType::kUint32},  {"<u8", ElementType::kUint64}, {"<f2", ElementType::kFloat16},
      {"<f4", ElementType::kFloat32}, {"<f8", ElementType::kFloat64}};
  for (const auto& [descr, type] : types) {
    const std::string data(2 * ElementSizeBytes(type), 'x');
    const auto array = ParseNpy(File(1, Dictionary(descr, "False", "(2,)"), data));
    ASSERT_TRUE(array.ok()) << descr << array.status();
    EXPECT_EQ(array->element_type, type);
  }
}

TEST(NpyFormatTest, ShapesOfNoneToTwoDimensionsAreRead) {
  EXPECT_THAT(ParseNpy(File(1, Dictionary("|u1", "False", "()"), "a"))->shape, ElementsAre(1));
  EXPECT_THAT(ParseNpy(File(1, Dictionary("|u1", "False", "(0,)"), ""))->shape, ElementsAre(0));
  const auto matrix = ParseNpy(File(1, Dictionary("|u1", "False", "(2, 3)"), "abcdef"));
  EXPECT_THAT(matrix->shape, ElementsAre(2, 3));
  EXPECT_THAT(matrix->view().shape(), ElementsAre(2, 3));
  EXPECT_THAT(ParseNpy(File(1, Dictionary("|u1", "False", "(2L, 1L)"), "ab"))->shape,
              ElementsAre(2, 1));
  // One dimension has one order.
  EXPECT_TRUE(ParseNpy(File(1, Dictionary("|u1", "True", "(2,)"), "ab")).ok());
}

TEST(NpyFormatTest, WhatGridfoldDoesNotHaveIsRefusedWithAHint) {
  ExpectError(File(1, Dictionary("|b1", "False", "(1,)"), "a"), "bool arrays are not supported");
  ExpectError(File(1, Dictionary(">i4", "False", "(1,)"), "aaaa"), "big-endian");
  ExpectError(File(1, Dictionary("<c8", "False", "(1,)"), "aaaaaaaa"), "'<c8' is not supported");
  ExpectError(File(1, Dictionary("|O", "False", "(1,)"), "a"), "'|O' is not supported");
  ExpectError(File(1, Dictionary("", "False", "(1,)"), "a"), "'' is not supported");
  ExpectError(File(1, Dictionary("<i4", "True", "(1, 1)"), "aaaa"), "Fortran order");
  ExpectError(File(1, Dictionary("|u1", "False", "(1, 1, 1)"), "a"), "3 dimensions");
  ExpectError(File(1, "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", "aaaa"),
              "structured");
}

TEST(NpyFormatTest, MalformedFilesAreRefused) {
  const std::string whole = File(1, Dictionary("<i2", "False", "(3,)"), "aabbcc");
  ASSERT_TRUE(ParseNpy(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseNpy(whole.substr(0, size)).status())) << size;
  }
  ExpectError(whole + "d", "7 bytes follow");
  ExpectError(File(0, Dictionary("|u1", "False", "(1,)"), "a"), "version 0");
  ExpectError(File(4, Dictionary("|u1", "False", "(1,)"), "a"), "version 4");
  ExpectError("not numpy", "does not begin");
}

TEST(NpyFormatTest, MalformedHeadersAreRefused) {
  const std::vector<std::string> dictionaries = {
      "",
      "{",
      "{}",
      "{'descr': '<i2'}",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1,)} x",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1,)",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1)}",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1,,)}",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,)}",
      "{'descr': '<i2', 'fortran_order': Maybe, 'shape': (1,)}",
      "{'descr': '<i2, 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (1,), 'more': 1}",
      "{'descr' '<i2'}",
  };
  for (const std::string& dictionary : dictionaries) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseNpy(File(1, dictionary, "aa")).status()))
        << dictionary;
  }
}

TEST(NpyFormatTest, SizesThatOverflowAreRefused) {
  ExpectError(File(1, Dictionary("<i8", "False", "(2305843009213693952,)"), ""), "bytes follow");
  ExpectError(File(1, Dictionary("|u1", "False", "(4294967296, 4294967296)"), ""), "bytes follow");
}

TEST(NpyFormatTest, HeadersAreNumPysOwn) {
  const std::vector<uint64_t> vector_shape = {3};
  const std::string header = *NpyHeader(ElementType::kFloat32, vector_shape);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(10, 57), "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_EQ(header.back(), '\n');
  const auto array = ParseNpy(header + std::string(12, 'x'));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->element_type, ElementType::kFloat32);
  EXPECT_THAT(array->shape, ElementsAre(3));

  const std::vector<uint64_t> matrix_shape = {2, 3};
  const auto matrix = ParseNpy(*NpyHeader(ElementType::kUint8, matrix_shape) + "abcdef");
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_THAT(matrix->shape, ElementsAre(2, 3));
  EXPECT_TRUE(absl::IsInvalidArgument(NpyHeader(ElementType::kBfloat16, matrix_shape).status()));
}

}  // namespace
}  // namespace gridfold::client
