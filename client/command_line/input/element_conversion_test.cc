#include "client/command_line/input/element_conversion.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/binary_elements.h"
#include "client/command_line/input/element_dispatch.h"
#include "client/command_line/input/string_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

template <Element T>
HostArray ArrayOf(const std::vector<T>& values) {
  HostArray array{.element_type = ElementTypeOf<T>(),
                  .shape = {values.size()},
                  .bytes = std::string(values.size() * sizeof(T), '\0')};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

// The array's elements, read as those of `type`.
absl::StatusOr<HostArray> Convert(const HostArray& array, ElementType type) {
  const auto elements = ConvertedTo(
      type,
      ReadRaw(std::make_unique<PeekedSource>(std::make_unique<StringSource>(array.bytes)),
              array.element_type),
      "because");
  return ReadElements(*elements, 88);
}

TEST(ElementConversionTest, CommonTypeHoldsBoth) {
  using enum ElementType;
  const struct {
    ElementType first, second, common;
  } cases[] = {{kInt8, kInt8, kInt8},           {kInt8, kInt64, kInt64},
               {kUint8, kInt8, kInt16},         {kUint8, kInt16, kInt16},
               {kUint32, kInt8, kInt64},        {kUint16, kUint64, kUint64},
               {kUint64, kInt8, kInt64},        {kInt16, kFloat32, kFloat32},
               {kInt32, kFloat32, kFloat64},    {kUint8, kFloat16, kFloat32},
               {kFloat16, kBfloat16, kFloat32}, {kInt16, kFloat64, kFloat64},
               {kInt64, kFloat32, kFloat64},    {kFloat32, kFloat64, kFloat64},
               {kFloat16, kFloat16, kFloat16}};
  for (const auto& [first, second, common] : cases) {
    EXPECT_EQ(CommonType(first, second), common) << ElementTypeName(first);
    EXPECT_EQ(CommonType(second, first), common) << ElementTypeName(second);
  }
}

// Of every two types, in either order, one that has all numbers of both where there is one.
TEST(ElementConversionTest, CommonTypeOfAllPairs) {
  using enum ElementType;
  const struct {
    ElementType type;
    int value_bits;  // Of the integers from 0 on that it has, all of them.
    bool is_signed, is_float;
  } types[] = {
      {kBool, 1, false, false},    {kInt8, 7, true, false},     {kInt16, 15, true, false},
      {kInt32, 31, true, false},   {kInt64, 63, true, false},   {kUint8, 8, false, false},
      {kUint16, 16, false, false}, {kUint32, 32, false, false}, {kUint64, 64, false, false},
      {kFloat16, 11, true, true},  {kBfloat16, 8, true, true},  {kFloat32, 24, true, true},
      {kFloat64, 53, true, true}};
  const auto facts_of = [&](ElementType type) {
    return *std::find_if(std::begin(types), std::end(types),
                         [type](const auto& facts) { return facts.type == type; });
  };
  for (const auto& a : types) {
    for (const auto& b : types) {
      SCOPED_TRACE(absl::StrCat(ElementTypeName(a.type), " and ", ElementTypeName(b.type)));
      const auto common = facts_of(CommonType(a.type, b.type));
      EXPECT_EQ(common.type, CommonType(b.type, a.type));
      if (a.type == b.type) {
        EXPECT_EQ(common.type, a.type);
      }
      const bool is_float = a.is_float || b.is_float;
      const bool is_signed = a.is_signed || b.is_signed;
      const int bits = std::max(a.value_bits, b.value_bits);
      EXPECT_EQ(common.is_float, is_float);
      EXPECT_EQ(common.is_signed, is_signed);
      EXPECT_GE(common.value_bits, std::min(bits, is_float ? 53 : is_signed ? 63 : 64));
    }
  }
}

TEST(ElementConversionTest, BoolsAreZeroAndOne) {
  HostArray bools = ArrayOf<uint8_t>({0, 1, 1});
  bools.element_type = ElementType::kBool;
  EXPECT_EQ(Convert(bools, ElementType::kInt8)->bytes, ArrayOf<int8_t>({0, 1, 1}).bytes);
  EXPECT_EQ(Convert(bools, ElementType::kFloat32)->bytes, ArrayOf<float>({0, 1, 1}).bytes);
  EXPECT_EQ(Convert(ArrayOf<int16_t>({1, 0}), ElementType::kBool)->bytes, std::string("\1\0", 2));
}

TEST(ElementConversionTest, ExactNumbersStayTheSame) {
  const HostArray array = ArrayOf<int16_t>({-32768, 0, 7, 32767});
  EXPECT_EQ(Convert(array, ElementType::kFloat32)->bytes,
            ArrayOf<float>({-32768, 0, 7, 32767}).bytes);
  EXPECT_EQ(Convert(array, ElementType::kInt64)->bytes,
            ArrayOf<int64_t>({-32768, 0, 7, 32767}).bytes);
  const HostArray large = ArrayOf<uint64_t>({uint64_t{1} << 63, 0xFFFFFFFFFFFFF800});
  EXPECT_EQ(Convert(large, ElementType::kFloat64)->bytes,
            ArrayOf<double>({0x1p63, 0x1.fffffffffffffp63}).bytes);
  const auto special = Convert(ArrayOf<float>({NAN, -INFINITY, -0.0f}), ElementType::kFloat64);
  ASSERT_TRUE(special.ok()) << special.status();
  EXPECT_TRUE(std::isnan(ElementAt<double>(special->view(), 0)));
  EXPECT_TRUE(std::signbit(ElementAt<double>(special->view(), 2)));
}

template <Element T>
void ExpectNotExact(const std::vector<T>& values, ElementType type, const std::string& message) {
  const absl::Status status = Convert(ArrayOf(values), type).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  EXPECT_THAT(std::string(status.message()), EndsWith(", because"));
}

TEST(ElementConversionTest, OthersAreErrors) {
  ExpectNotExact<int64_t>({1, (int64_t{1} << 53) + 1}, ElementType::kFloat64, "element 1, ");
  ExpectNotExact<uint64_t>({UINT64_MAX}, ElementType::kFloat64, "not exact as float64");
  ExpectNotExact<uint64_t>({uint64_t{1} << 63}, ElementType::kInt64, "not exact as int64");
  ExpectNotExact<int8_t>({0, 1, -1}, ElementType::kUint64, "element 2, -1");
  ExpectNotExact<double>({0.5}, ElementType::kInt32, "not exact as int32");
  ExpectNotExact<double>({0x1p63}, ElementType::kInt64, "not exact");
  ExpectNotExact<double>({NAN}, ElementType::kInt64, "not exact");
  ExpectNotExact<double>({0.1}, ElementType::kFloat32, "not exact as float32");
  ExpectNotExact<uint8_t>({0, 1, 2}, ElementType::kBool, "element 2, 2, is not exact as bool");
  ExpectNotExact<int8_t>({-1}, ElementType::kBool, "element 0, -1, is not exact as bool");
  ExpectNotExact<double>({0.5}, ElementType::kBool, "not exact as bool");
  ExpectNotExact<float>({1}, ElementType::kFloat16, "float32 is not made float16");
  ExpectNotExact<float>({1}, ElementType::kBfloat16, "float32 is not made bfloat16");
}

TEST(ElementConversionTest, PiecesAreConvertedAsTheyAreRead) {
  std::vector<int16_t> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int16_t>(i);
  values.push_back(-5);
  const auto array = Convert(ArrayOf<int16_t>(values), ElementType::kFloat64);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->bytes, ArrayOf<double>({values.begin(), values.end()}).bytes);
}

}  // namespace
}  // namespace gridfold::client
