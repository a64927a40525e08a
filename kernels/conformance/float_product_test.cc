// Products of floating-point numbers of all exponents, reduced and scanned, in every grouping:
// parts of them leave the range of float64, and what comes out does so only where the product does.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/scan_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr ElementType kFloatTypes[] = {ElementType::kFloat16, ElementType::kBfloat16,
                                       ElementType::kFloat32, ElementType::kFloat64};

// Numbers of the type's whole range, subnormal ones among them. Stretches of large ones and of
// small ones follow one another so that the running product of a row, or of a column where there
// are `columns`, comes back to what float64 holds again and again.
class FullRange {
 public:
  FullRange(ElementType type, uint64_t columns, uint64_t seed)
      : format_(FloatFormatOf(type)), random_(seed), exponents_(columns) {}

  long double Next(uint64_t i) {
    int64_t& running = exponents_[i % exponents_.size()];
    const int lowest = format_.min_exponent() - format_.significand_bits;
    const int highest = format_.max_exponent();
    int exponent = static_cast<int>(random_() % static_cast<uint64_t>(highest + 1));
    // Back towards 1 where the product is far away, in a few elements; else on in one direction.
    const bool down = std::abs(running) > 4000 ? running > 0 : i / (7 * exponents_.size()) % 2 == 0;
    if (down) exponent = -static_cast<int>(random_() % static_cast<uint64_t>(1 - lowest));
    if (random_() % 4 == 0) exponent = static_cast<int>(-running % 100);
    exponent = std::clamp(exponent, lowest, highest);
    running += exponent;
    const long double fraction =
        exponent == lowest || exponent == highest
            ? 1.0L
            : 1 + std::ldexp(static_cast<long double>(random_() >> 12), -52);
    return std::ldexp(random_() % 2 == 0 ? fraction : -fraction, exponent);
  }

 private:
  const FloatFormat format_;
  std::mt19937_64 random_;
  std::vector<int64_t> exponents_;
};

TestArray MakeFullRange(const ArrayDescription& description, uint64_t seed, bool down_columns) {
  TestArray array(description);
  FullRange numbers(array.type(), down_columns ? description.columns : 1, seed);
  for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, numbers.Next(i));
  return array;
}

class FloatProductTest : public EngineTest {
 protected:
  void Reduce(const TestArray& array, const GroupingSpec& grouping = {},
              NanPolicy policy = NanPolicy::kPropagate) {
    ReductionSpec spec = SpecOf({Statistic::kProduct});
    spec.grouping = grouping;
    spec.nan_policy = policy;
    CheckReduction(array, spec, engine().Reduce(array, spec));
  }

  void ScanAll(const TestArray& array, const GroupingSpec& grouping = {},
               NanPolicy policy = NanPolicy::kPropagate) {
    for (ScanSpec spec : ScansOf(array.type())) {
      if (spec.operation != ScanOperation::kProduct) continue;
      spec.grouping = grouping;
      spec.nan_policy = policy;
      CheckScan(array, spec, engine().Scan(array, spec));
    }
  }

  double ProductOf(ElementType type, const std::vector<long double>& elements) {
    const auto result =
        engine().Reduce(TestArray::Vector(type, elements), SpecOf({Statistic::kProduct}));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? std::bit_cast<double>(result->columns[0].slots[0]) : NAN;
  }
};

TEST_P(FloatProductTest, PartsThatLeaveTheRangeDoNotMatter) {
  const ElementType type = ElementType::kFloat64;
  EXPECT_DOUBLE_EQ(ProductOf(type, {1e200, 1e200, 1e-200, 1e-200}), 1);
  EXPECT_DOUBLE_EQ(ProductOf(type, {1e-300, 1e200, 1e200, 1e200}), 1e300);
  EXPECT_EQ(ProductOf(type, {0, 1e200, 1e200, 1e200}), 0);
  EXPECT_EQ(ProductOf(type, {0x1p-1000, 0x1p700, 0x1p600, 0x1p700}), 0x1p1000);
  EXPECT_EQ(ProductOf(type, {0x1p-1074, 0x1p1000, 0x1p1000}), 0x1p926);
  EXPECT_EQ(ProductOf(type, {-0x1p-1074, 0x1p-1074}), 0);
  EXPECT_EQ(ProductOf(type, {-0x1p1000, 0x1p1000}), -HUGE_VAL);
  EXPECT_EQ(ProductOf(type, {0x1p-1000, 0x1p-74}), 0x1p-1074);
  EXPECT_TRUE(std::isnan(ProductOf(type, {HUGE_VALL, 1e200, 0})));
  EXPECT_EQ(ProductOf(type, {HUGE_VALL, -1e-200, 1e-200, 1e-200}), -HUGE_VAL);
  for (const ElementType each : kFloatTypes) {
    std::vector<long double> elements(4000, 1.5);
    elements.insert(elements.begin() + 1234, -0.0);
    EXPECT_EQ(ProductOf(each, elements), 0);
    EXPECT_TRUE(std::signbit(ProductOf(each, elements)));
    elements[1234] = 1;
    EXPECT_EQ(ProductOf(each, elements), HUGE_VAL);  // 1.5^4000 is past float64.
  }
}

TEST_P(FloatProductTest, ReductionsOfEverySize) {
  for (const ElementType type : kFloatTypes) {
    for (const uint64_t size : SizesAtEdges()) {
      if (size > 10'000 && size % 2 == 0) continue;
      Reduce(MakeFullRange(ArrayDescription::Vector(type, size), size + 701, false));
      Reduce(MakeVector(type, size, DataKind::kWide, size + 702));
    }
  }
}

TEST_P(FloatProductTest, ReductionsOfGroups) {
  for (const ElementType type : kFloatTypes) {
    for (const Shape& shape :
         std::vector<Shape>{{1000, 3}, {3, 1000}, {70, 65}, {513, 129}, {20'000, 2}, {2, 20'000}}) {
      const auto description = ArrayDescription::Matrix(type, shape.rows, shape.columns);
      Reduce(MakeFullRange(description, 711, true), Axis(0));
      Reduce(MakeFullRange(description, 712, false), Axis(1));
    }
    const std::vector<uint64_t> offsets = OffsetsOf({0, 5, 512, 0, 1025, 1, 1, 30'000, 33, 700});
    Reduce(MakeFullRange(ArrayDescription::Vector(type, offsets.back()), 713, false),
           Segments(offsets));
  }
}

TEST_P(FloatProductTest, ScansOfEverySize) {
  for (const ElementType type : kFloatTypes) {
    for (const uint64_t size : {1, 2, 17, 513, 4095, 4096, 4097, 12'288, 33'001}) {
      ScanAll(MakeFullRange(ArrayDescription::Vector(type, size), size + 721, false));
    }
  }
}

// Factors near 1 that grow or shrink past the range and stay there, for several pieces of work.
TEST_P(FloatProductTest, ScansThatDriftOutOfTheRangeAndBack) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    TestArray array(ArrayDescription::Vector(type, 200'000));
    std::mt19937_64 random(722);
    for (uint64_t i = 0; i < array.size(); ++i) {
      const long double fraction = 1 + std::ldexp(static_cast<long double>(random() % 1024), -12);
      array.Set(i, i / 30'000 % 2 == 0 ? 1 / fraction : fraction);
    }
    ScanSpec spec;
    spec.operation = ScanOperation::kProduct;
    spec.output_type = ElementType::kFloat64;
    CheckScan(array, spec, engine().Scan(array, spec));
  }
}

TEST_P(FloatProductTest, ScansOfGroups) {
  for (const ElementType type : kFloatTypes) {
    for (const Shape& shape :
         std::vector<Shape>{{1000, 1}, {300, 3}, {3, 5000}, {70, 65}, {600, 33}, {9000, 2}}) {
      const auto description = ArrayDescription::Matrix(type, shape.rows, shape.columns);
      ScanAll(MakeFullRange(description, 731, true), Axis(0));
      ScanAll(MakeFullRange(description, 732, false), Axis(1));
    }
    const std::vector<uint64_t> offsets = OffsetsOf({0, 5, 512, 0, 1025, 1, 1, 9000, 33, 700});
    ScanAll(MakeFullRange(ArrayDescription::Vector(type, offsets.back()), 733, false),
            Segments(offsets));
  }
}

// Few columns that are longer than a block of tiles, and enough columns for a thread each.
TEST_P(FloatProductTest, ScansOfLongColumns) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    for (const Shape& shape : std::vector<Shape>{{270'000, 2}, {33'000, 17}, {64, 9000}}) {
      const TestArray array =
          MakeFullRange(ArrayDescription::Matrix(type, shape.rows, shape.columns), 734, true);
      ScanSpec spec;
      spec.operation = ScanOperation::kProduct;
      spec.grouping = Axis(0);
      CheckScan(array, spec, engine().Scan(array, spec));
    }
  }
}

TEST_P(FloatProductTest, ZerosInfinitiesAndNansAmongThem) {
  for (const ElementType type : kFloatTypes) {
    for (const uint64_t size : {40, 5000}) {
      for (const std::vector<long double>& specials : std::vector<std::vector<long double>>{
               {0}, {-0.0L}, {HUGE_VALL}, {-HUGE_VALL}, {NAN}, {0, HUGE_VALL}, {NAN, 0, NAN}}) {
        TestArray array = MakeFullRange(ArrayDescription::Vector(type, size), size + 741, false);
        for (size_t i = 0; i < specials.size(); ++i) array.Set(size / 3 + 11 * i, specials[i]);
        for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
          Reduce(array, {}, policy);
          ScanAll(array, {}, policy);
        }
      }
    }
    const TestArray matrix =
        MakeData(ArrayDescription::Matrix(type, 700, 40), DataKind::kSpecial, 742);
    for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
      for (const int axis : {0, 1}) {
        Reduce(matrix, Axis(axis), policy);
        ScanAll(matrix, Axis(axis), policy);
      }
    }
  }
}

// The exact product, of integers without bounds, is no further away than a rounding of each
// multiplication, and half a unit of subnormal numbers.
TEST_P(FloatProductTest, ProductsAreNearTheExactOnes) {
  for (const ElementType type : kFloatTypes) {
    for (uint64_t run = 0; run < 40; ++run) {
      const uint64_t size = 1 + run * 7 % 120;
      const TestArray array = MakeFullRange(ArrayDescription::Vector(type, size), run + 751, false);
      Dyadic exact = Dyadic::FromInteger(1);
      std::vector<long double> elements;
      for (uint64_t i = 0; i < size; ++i) {
        exact = exact.Times(Dyadic::FromDouble(static_cast<double>(array[i])));
        elements.push_back(array[i]);
      }
      const double product = ProductOf(type, elements);
      if (!std::isfinite(product)) {
        EXPECT_GE(std::fabs(exact.ToDouble()), std::ldexp(1 - 0x1p-40, 1023) * 2);
        continue;
      }
      const double error = std::fabs(Dyadic::FromDouble(product).Minus(exact).ToDouble());
      EXPECT_LE(error, std::fabs(product) * static_cast<double>(size) * 0x1p-53 + 0x1p-1074)
          << size << " of " << ElementTypeName(type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, FloatProductTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, FloatProductTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
