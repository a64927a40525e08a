// Output types: what is refused, and values rounded to float16, bfloat16 and float32. The values of
// a type are made from the definition of its bits.
#include "kernels/contract/output_type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/contract/invalid_field.h"
#include "kernels/contract/reduction.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A binary floating-point type of at most 32 bits.
struct Format {
  ElementType type;
  int significand_bits;  // Those that are stored.
  int exponent_bits;

  uint32_t infinity() const { return ((1u << exponent_bits) - 1) << significand_bits; }
  uint32_t sign() const { return 1u << (significand_bits + exponent_bits); }

  // The magnitude of these bits; of infinity the power of two that would follow the largest value.
  double ValueOf(uint32_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(bits >> significand_bits);
    const auto fraction = static_cast<double>(bits & ((1u << significand_bits) - 1));
    if (exponent == 0) return std::ldexp(fraction, 1 - bias - significand_bits);
    return std::ldexp(fraction + std::ldexp(1.0, significand_bits),
                      exponent - bias - significand_bits);
  }
};

const Format kFloat16Format{ElementType::kFloat16, 10, 5};
const Format kBfloat16Format{ElementType::kBfloat16, 7, 8};
const Format kFloat32Format{ElementType::kFloat32, 23, 8};
const Format kFormats[] = {kFloat16Format, kBfloat16Format, kFloat32Format};

uint32_t Rounded(double x, ElementType type) {
  const uint64_t slot = std::bit_cast<uint64_t>(x);
  const std::string bytes = RoundSlots({&slot, 1}, type);
  uint32_t bits = 0;
  EXPECT_EQ(bytes.size(), ElementSize(type));
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}

// That `magnitude` is rounded to these bits, and its negative to the same with a sign.
void ExpectRounded(double magnitude, const Format& format, uint32_t bits) {
  EXPECT_EQ(Rounded(magnitude, format.type), bits) << std::hexfloat << magnitude;
  EXPECT_EQ(Rounded(-magnitude, format.type), bits | format.sign()) << std::hexfloat << magnitude;
}

// Every value of the 16-bit types, and of float32 some of every exponent; what is halfway to the
// next, which float64 has, and what is as close to halfway as float64 comes.
TEST(RoundSlotsTest, IsTheNearestValueOfTheType) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(ElementTypeName(format.type));
    const uint32_t step = format.significand_bits > 10 ? 65'521 : 1;
    for (uint32_t bits = 0; bits < format.infinity(); bits += step) {
      const double value = format.ValueOf(bits);
      const double midpoint = (value + format.ValueOf(bits + 1)) / 2;
      ExpectRounded(value, format, bits);
      ExpectRounded(midpoint, format, bits + bits % 2);
      ExpectRounded(std::nextafter(midpoint, 0.0), format, bits);
      ExpectRounded(std::nextafter(midpoint, kInfinity), format, bits + 1);
    }
  }
}

TEST(RoundSlotsTest, AFiniteValuePastTheLargestBecomesInfinite) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(ElementTypeName(format.type));
    const double largest = format.ValueOf(format.infinity() - 1);
    const double midpoint = (largest + format.ValueOf(format.infinity())) / 2;
    EXPECT_EQ(Rounded(largest, format.type), format.infinity() - 1);
    EXPECT_EQ(Rounded(std::nextafter(midpoint, 0.0), format.type), format.infinity() - 1);
    for (const double x : {midpoint, std::numeric_limits<double>::max(), kInfinity}) {
      EXPECT_EQ(Rounded(x, format.type), format.infinity());
      EXPECT_EQ(Rounded(-x, format.type), format.infinity() | format.sign());
    }
  }
}

TEST(RoundSlotsTest, ZerosKeepTheirSignAndNansStay) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(ElementTypeName(format.type));
    for (const double x : {0.0, std::numeric_limits<double>::denorm_min(), 1e-300}) {
      EXPECT_EQ(Rounded(x, format.type), 0u);
      EXPECT_EQ(Rounded(-x, format.type), format.sign());
    }
    const uint32_t quiet = format.infinity() | (1u << (format.significand_bits - 1));
    EXPECT_EQ(Rounded(std::bit_cast<double>(0x7FF8'0000'0000'0000u), format.type), quiet);
  }
}

TEST(RoundSlotsTest, SeveralValuesStandOneBehindTheOther) {
  const std::vector<uint64_t> slots = {std::bit_cast<uint64_t>(1.0), std::bit_cast<uint64_t>(-2.0)};
  EXPECT_EQ(RoundSlots(slots, ElementType::kFloat16), std::string("\x00\x3C\x00\xC0", 4));
  EXPECT_EQ(RoundSlots(slots, ElementType::kFloat64),
            std::string(reinterpret_cast<const char*>(slots.data()), 16));
  EXPECT_EQ(RoundSlots({}, ElementType::kFloat32), "");
}

TEST(CheckOutputTypeTest, NeedsAFloatingPointTypeAndSuchValues) {
  const auto field = [](ElementType output, const std::vector<Statistic>& statistics,
                        ElementType elements) {
    return FieldOf(CheckOutputType(output, statistics, elements));
  };
  const ElementType f32 = ElementType::kFloat32;
  EXPECT_EQ(field(f32, {Statistic::kCount, Statistic::kSum}, f32), "");
  EXPECT_EQ(field(ElementType::kFloat64, {Statistic::kMax}, ElementType::kFloat16), "");
  EXPECT_EQ(field(f32, {Statistic::kSum, Statistic::kMean}, ElementType::kInt8), "");
  EXPECT_EQ(field(f32, {Statistic::kSum, Statistic::kRange}, ElementType::kInt8), "output_type");
  EXPECT_EQ(field(f32, {Statistic::kCount, Statistic::kAll}, f32), "output_type");
  EXPECT_EQ(field(ElementType::kInt32, {Statistic::kSum}, f32), "output_type");
}

TEST(CheckOutputTypeTest, ReductionsArePlannedWithOne) {
  const ArrayDescription array = ArrayDescription::Vector(ElementType::kFloat64, 10);
  ReductionSpec spec{.statistics = {Statistic::kSum}, .grouping = {}};
  EXPECT_EQ(PlanReduction(array, spec)->output_type, ElementType::kFloat64);
  spec.output_type = ElementType::kBfloat16;
  EXPECT_EQ(PlanReduction(array, spec)->output_type, ElementType::kBfloat16);
  spec.output_type = ElementType::kUint8;
  EXPECT_EQ(FieldOf(PlanReduction(array, spec).status()), "output_type");
}

}  // namespace
}  // namespace gridfold::kernels
