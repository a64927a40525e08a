#include "client/command_line/input/element_conversion.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

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
