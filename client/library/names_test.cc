// Names and numbers of the library's enums are those of the wire.
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gridfold/array_view.h"
#include "gridfold/element_type.h"
#include "gridfold/quantiles.h"
#include "gridfold/statistic.h"
#include "gridfold/v1/array.pb.h"
#include "gridfold/v1/compute_service.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

std::string Upper(absl::string_view prefix, absl::string_view name) {
  return absl::StrCat(prefix, absl::AsciiStrToUpper(name));
}

TEST(StatisticTest, NamesAreTheWires) {
  EXPECT_EQ(AllStatistics().size(), v1::Statistic_ARRAYSIZE - 1);
  for (Statistic statistic : AllStatistics()) {
    const auto wire = static_cast<v1::Statistic>(statistic);
    EXPECT_EQ(Upper("STATISTIC_", StatisticName(statistic)), v1::Statistic_Name(wire));
    EXPECT_EQ(ParseStatistic(StatisticName(statistic)), statistic);
  }
  EXPECT_EQ(StatisticName(static_cast<Statistic>(0)), "unknown");
  EXPECT_EQ(StatisticName(static_cast<Statistic>(v1::Statistic_ARRAYSIZE)), "unknown");
  EXPECT_EQ(ParseStatistic("unknown"), std::nullopt);
  EXPECT_EQ(ParseStatistic("median"), std::nullopt);
}

TEST(QuantileMethodTest, NamesAreTheWires) {
  EXPECT_EQ(AllQuantileMethods().size(), v1::QuantileMethod_ARRAYSIZE - 1);
  int number = 0;
  for (const QuantileMethod method : AllQuantileMethods()) {
    EXPECT_EQ(static_cast<int>(method), ++number);
    const auto wire = static_cast<v1::QuantileMethod>(method);
    EXPECT_EQ(Upper("QUANTILE_METHOD_", QuantileMethodName(method)), v1::QuantileMethod_Name(wire));
    EXPECT_EQ(ParseQuantileMethod(QuantileMethodName(method)), method);
  }
  EXPECT_EQ(QuantileMethodName(static_cast<QuantileMethod>(0)), "unknown");
  EXPECT_EQ(QuantileMethodName(static_cast<QuantileMethod>(number + 1)), "unknown");
  EXPECT_EQ(ParseQuantileMethod("unknown"), std::nullopt);
  EXPECT_EQ(ParseQuantileMethod("median"), std::nullopt);
  // Only weights take the one that is left out.
  EXPECT_EQ(UnweightedQuantileMethods().size() + 1, AllQuantileMethods().size());
  EXPECT_THAT(UnweightedQuantileMethods(),
              testing::Not(testing::Contains(QuantileMethod::kInvertedCdf)));
}

TEST(ElementTypeTest, NamesAreTheWires) {
  for (int number = 1; number < v1::ElementType_ARRAYSIZE; ++number) {
    const auto type = static_cast<ElementType>(number);
    EXPECT_EQ(Upper("ELEMENT_TYPE_", ElementTypeName(type)),
              v1::ElementType_Name(static_cast<v1::ElementType>(number)));
    EXPECT_EQ(ParseElementType(ElementTypeName(type)), type);
    EXPECT_GT(ElementSizeBytes(type), 0u);
  }
  EXPECT_EQ(ElementTypeName(static_cast<ElementType>(0)), "unknown");
  EXPECT_EQ(ElementSizeBytes(static_cast<ElementType>(14)), 0u);
  EXPECT_EQ(ParseElementType("float128"), std::nullopt);
}

template <typename T>
void ExpectElementType(ElementType expected) {
  EXPECT_EQ(ElementTypeOf<T>(), expected);
  EXPECT_EQ(ElementSizeBytes(expected), sizeof(T));
  const std::vector<T> elements(3);
  const ArrayView view = elements;
  EXPECT_EQ(view.element_type(), expected);
  EXPECT_EQ(view.element_count(), 3u);
  EXPECT_EQ(view.bytes().size(), 3 * sizeof(T));
}

TEST(ElementTypeTest, EveryCxxTypeHasItsOwn) {
  ExpectElementType<int8_t>(ElementType::kInt8);
  ExpectElementType<int16_t>(ElementType::kInt16);
  ExpectElementType<int32_t>(ElementType::kInt32);
  ExpectElementType<int64_t>(ElementType::kInt64);
  ExpectElementType<long long>(ElementType::kInt64);
  ExpectElementType<uint8_t>(ElementType::kUint8);
  ExpectElementType<uint16_t>(ElementType::kUint16);
  ExpectElementType<uint32_t>(ElementType::kUint32);
  ExpectElementType<uint64_t>(ElementType::kUint64);
  ExpectElementType<unsigned long long>(ElementType::kUint64);
  ExpectElementType<Float16>(ElementType::kFloat16);
  ExpectElementType<Bfloat16>(ElementType::kBfloat16);
  ExpectElementType<float>(ElementType::kFloat32);
  ExpectElementType<double>(ElementType::kFloat64);
  static_assert(!Element<bool> && !Element<char> && !Element<long double>);
}

// The oracle is the definition: (-1)^sign * 2^exponent * significand.
double Float16ByDefinition(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1F) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Float16Test, EveryValueConverts) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double expected = Float16ByDefinition(static_cast<uint16_t>(bits));
    const double actual = ToFloat(Float16{static_cast<uint16_t>(bits)});
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << bits;
    } else {
      EXPECT_EQ(actual, expected) << bits;
      EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << bits;
    }
  }
}

TEST(Bfloat16Test, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(ToFloat(Bfloat16{0x3F80}), 1.0f);
  EXPECT_EQ(ToFloat(Bfloat16{0xC2F7}), -123.5f);
  EXPECT_EQ(ToFloat(Bfloat16{0x7F80}), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(ToFloat(Bfloat16{0x7FC0})));
}

TEST(ArrayViewTest, ShapeIsAnOption) {
  const std::vector<float> elements(6);
  const ArrayView view = elements;
  EXPECT_TRUE(view.shape().empty());
  EXPECT_THAT(view.WithShape(2, 3).shape(), testing::ElementsAre(2, 3));
  EXPECT_EQ(view.WithShape(2, 3).bytes().data(), view.bytes().data());
  EXPECT_THAT(view.WithShape({1, 2, 3}).shape(), testing::ElementsAre(1, 2, 3));
  EXPECT_FALSE(view.is_zero_dimensional());
  EXPECT_TRUE(view.WithShape({}).is_zero_dimensional());
  EXPECT_EQ(view.WithShape(std::vector<uint64_t>(12, 1)).shape().size(), kDimensionsMax + 1)
      << "for the server to refuse";
}

}  // namespace
}  // namespace gridfold::client
