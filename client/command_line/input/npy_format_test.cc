#include "client/command_line/input/npy_format.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/binary_elements.h"
#include "client/command_line/input/string_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A file of version `version` with this header dictionary and these elements' bytes.
std::string NpyFile(int version, const std::string& dictionary, const std::string& data) {
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

// The elements of a whole file.
absl::StatusOr<HostArray> ParseNpy(const std::string& file,
                                   std::optional<ElementType> wanted_type = std::nullopt,
                                   uint64_t held_bytes_max = 1000) {
  const auto elements =
      ReadNpy(std::make_unique<PeekedSource>(std::make_unique<StringSource>(file)), wanted_type,
              held_bytes_max);
  if (!elements.ok()) return elements.status();
  return ReadElements(**elements);
}

void ExpectError(const std::string& file, const std::string& message) {
  const auto array = ParseNpy(file);
  ASSERT_FALSE(array.ok()) << message;
  EXPECT_TRUE(absl::IsInvalidArgument(array.status()));
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(message));
}

TEST(NpyFormatTest, EveryVersionIsRead) {
  for (int version : {1, 2, 3}) {
    const auto array = ParseNpy(NpyFile(version, Dictionary("<i2", "False", "(3,)"), "aabbcc"));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->element_type, ElementType::kInt16);
    EXPECT_THAT(array->shape, ElementsAre(3));
    EXPECT_EQ(array->element_count(), 3u);
    EXPECT_EQ(array->bytes, "aabbcc");
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
    const auto array = ParseNpy(NpyFile(1, Dictionary(descr, "False", "(2,)"), data));
    ASSERT_TRUE(array.ok()) << descr << array.status();
    EXPECT_EQ(array->element_type, type);
  }
}

TEST(NpyFormatTest, ShapesOfNoneToTwoDimensionsAreRead) {
  EXPECT_THAT(ParseNpy(NpyFile(1, Dictionary("|u1", "False", "()"), "a"))->shape, IsEmpty());
  EXPECT_THAT(ParseNpy(NpyFile(1, Dictionary("|u1", "False", "(0,)"), ""))->shape, ElementsAre(0));
  const auto matrix = ParseNpy(NpyFile(1, Dictionary("|u1", "False", "(2, 3)"), "abcdef"));
  EXPECT_THAT(matrix->shape, ElementsAre(2, 3));
  EXPECT_THAT(matrix->view().shape(), ElementsAre(2, 3));
  EXPECT_THAT(ParseNpy(NpyFile(1, Dictionary("|u1", "False", "(2L, 1L)"), "ab"))->shape,
              ElementsAre(2, 1));
  // One dimension has one order.
  EXPECT_TRUE(ParseNpy(NpyFile(1, Dictionary("|u1", "True", "(2,)"), "ab")).ok());
}

TEST(NpyFormatTest, EveryLayoutBecomesRowsOfLittleEndianElements) {
  EXPECT_EQ(ParseNpy(NpyFile(1, Dictionary("|b1", "False", "(2,)"), std::string("\0\1", 2)))->bytes,
            std::string("\0\1", 2));
  EXPECT_EQ(ParseNpy(NpyFile(1, Dictionary(">i4", "False", "(2,)"), "abcdefgh"))->bytes,
            "dcbahgfe");
  EXPECT_EQ(ParseNpy(NpyFile(1, Dictionary("<i2", "True", "(2, 3)"), "aabbccddeeff"))->bytes,
            "aacceebbddff");
  EXPECT_EQ(ParseNpy(NpyFile(1, Dictionary(">i2", "True", "(2, 2)"), "abcdefgh"))->bytes,
            "bafedchg");
  EXPECT_EQ(ParseNpy(NpyFile(1, Dictionary("|u1", "True", "(3, 1)"), "abc"))->bytes, "abc");
  EXPECT_EQ(ParseNpy(NpyFile(1, Dictionary("|u1", "True", "(0, 3)"), ""))->bytes, "");
  EXPECT_THAT(ParseNpy(NpyFile(1, Dictionary("|u1", "False", "(1, 2, 1)"), "ab"))->shape,
              ElementsAre(1, 2, 1));
  std::string many;
  for (int i = 0; i < 999; ++i) many += static_cast<char>(i % 3);
  const auto turned = ParseNpy(NpyFile(1, Dictionary("|u1", "True", "(3, 333)"), many));
  EXPECT_EQ(turned->bytes, std::string(333, 0) + std::string(333, 1) + std::string(333, 2));
  EXPECT_TRUE(absl::IsResourceExhausted(
      ParseNpy(NpyFile(1, Dictionary("|u1", "True", "(3, 333)"), many), std::nullopt, 998)
          .status()));
}

// ml_dtypes saves bfloat16 as elements of two bytes without a type.
TEST(NpyFormatTest, Bfloat16IsReadWhereItIsAskedFor) {
  const std::string file = NpyFile(1, Dictionary("<V2", "False", "(2,)"), "abcd");
  const auto array = ParseNpy(file, ElementType::kBfloat16);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->element_type, ElementType::kBfloat16);
  EXPECT_EQ(array->bytes, "abcd");
  ExpectError(file, "give --type bfloat16");
  EXPECT_FALSE(ParseNpy(file, ElementType::kFloat16).ok());
}

TEST(NpyFormatTest, WhatGridfoldDoesNotHaveIsRefusedWithAHint) {
  ExpectError(NpyFile(1, Dictionary("<c8", "False", "(1,)"), "aaaaaaaa"),
              "'<c8': complex elements");
  ExpectError(NpyFile(1, Dictionary("|O", "False", "(1,)"), "a"), "'|O': Python objects");
  ExpectError(NpyFile(1, Dictionary("<M8[ns]", "False", "(1,)"), "aaaaaaaa"), "dates");
  ExpectError(NpyFile(1, Dictionary("<U3", "False", "(1,)"), "a"), "text");
  ExpectError(NpyFile(1, Dictionary("<f16", "False", "(1,)"), "a"), ".astype('f8')");
  ExpectError(NpyFile(1, Dictionary("|V8", "False", "(1,)"), "a"), "'|V8' is not supported");
  ExpectError(NpyFile(1, Dictionary("", "False", "(1,)"), "a"), "'' is not supported");
  ExpectError(NpyFile(1, Dictionary("|u1", "True", "(2, 2, 2)"), "abcdefgh"), "Fortran order");
  ExpectError(
      NpyFile(1, "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", "aaaa"),
      "structured");
}

TEST(NpyFormatTest, MalformedFilesAreRefused) {
  const std::string whole = NpyFile(1, Dictionary("<i2", "False", "(3,)"), "aabbcc");
  ASSERT_TRUE(ParseNpy(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseNpy(whole.substr(0, size)).status())) << size;
  }
  ExpectError(whole + "d", "more bytes follow");
  ExpectError(whole.substr(0, whole.size() - 1), "5 bytes follow");
  ExpectError(NpyFile(0, Dictionary("|u1", "False", "(1,)"), "a"), "version 0");
  ExpectError(NpyFile(4, Dictionary("|u1", "False", "(1,)"), "a"), "version 4");
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
    EXPECT_TRUE(absl::IsInvalidArgument(ParseNpy(NpyFile(1, dictionary, "aa")).status()))
        << dictionary;
  }
}

TEST(NpyFormatTest, SizesThatOverflowAreRefused) {
  ExpectError(NpyFile(1, Dictionary("<i8", "False", "(2305843009213693952,)"), ""),
              "no file has so many");
  ExpectError(NpyFile(1, Dictionary("|u1", "False", "(4294967296, 4294967296)"), ""),
              "no file has so many");
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
