// Exact running sums: every result is the exact sum rounded once, whatever is summed and however it
// is grouped.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/hard_numbers.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr ElementType kFloatTypes[] = {ElementType::kFloat16, ElementType::kBfloat16,
                                       ElementType::kFloat32, ElementType::kFloat64};

// Engines take tiles of 4096 elements and chunks of 512 rows.
constexpr uint64_t kSizes[] = {0, 1, 2, 3, 15, 16, 17, 33, 511, 513, 4095, 4096, 4097, 9001};

// Every mode, direction and output type.
std::vector<ScanSpec> ExactScansOf(ElementType type) {
  std::vector<ScanSpec> specs;
  for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
    for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
      for (const ElementType output : {type, ElementType::kFloat64}) {
        ScanSpec spec;
        spec.mode = mode;
        spec.direction = direction;
        spec.output_type = output;
        spec.exact = true;
        specs.push_back(spec);
        if (type == ElementType::kFloat64) break;
      }
    }
  }
  return specs;
}

class ScanExactTest : public EngineTest {
 protected:
  void Check(const TestArray& array, const ScanSpec& spec) {
    CheckScan(array, spec, engine().Scan(array, spec));
  }

  // Some of the scans of the array, others from call to call, so that all are seen in the end.
  void CheckSomeScans(const TestArray& array, const GroupingSpec& grouping, size_t how_many) {
    std::vector<ScanSpec> specs = ExactScansOf(array.type());
    for (size_t i = 0; i < how_many; ++i) {
      ScanSpec& spec = specs[turn_ * 3 % specs.size()];
      spec.grouping = grouping;
      spec.nan_policy = turn_++ % 2 == 0 ? NanPolicy::kPropagate : NanPolicy::kIgnore;
      Check(array, spec);
    }
  }

 private:
  size_t turn_ = 0;
};

TEST_P(ScanExactTest, HardDataOfEverySize) {
  for (const ElementType type : kFloatTypes) {
    for (const Hard kind : kAllHard) {
      for (const uint64_t size : kSizes) {
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
        const TestArray array = MakeHard(ArrayDescription::Vector(type, size), kind, size + 400);
        CheckSomeScans(array, {}, size < 1000 ? 8 : 2);
      }
    }
  }
}

TEST_P(ScanExactTest, OrdinaryDataOfEverySize) {
  for (const ElementType type : kFloatTypes) {
    for (const uint64_t size : kSizes) {
      CheckSomeScans(MakeVector(type, size, DataKind::kWide, size + 401), {}, 2);
      CheckSomeScans(MakeUniform(type, size, -1, 1, size + 402), {}, 2);
    }
  }
}

TEST_P(ScanExactTest, BothAxes) {
  for (const ElementType type : kFloatTypes) {
    for (const Shape& shape : std::vector<Shape>{{1, 1},
                                                 {0, 5},
                                                 {5, 0},
                                                 {3, 7},
                                                 {511, 3},
                                                 {512, 9},
                                                 {513, 4},
                                                 {1100, 33},
                                                 {33, 300},
                                                 {2, 4097},
                                                 {4097, 1}}) {
      for (const Hard kind : {Hard::kAnyNumbers, Hard::kCancelling, Hard::kSpecial}) {
        const ArrayDescription matrix = ArrayDescription::Matrix(type, shape.rows, shape.columns);
        for (const int axis : {0, 1}) CheckSomeScans(MakeHard(matrix, kind, 403), Axis(axis), 1);
      }
      const TestArray wide =
          MakeData(ArrayDescription::Matrix(type, shape.rows, shape.columns), DataKind::kWide, 404);
      for (const int axis : {0, 1}) CheckSomeScans(wide, Axis(axis), 2);
    }
  }
}

TEST_P(ScanExactTest, SegmentsShortLongAndEmpty) {
  const std::vector<std::vector<uint64_t>> offsets = {
      OffsetsOf({}),
      OffsetsOf({0, 0}),
      OffsetsOf({0, 5, 0, 0, 33, 0}),
      OffsetsOf({4096, 4096, 1}),
      OffsetsOf({4095, 2, 4095, 0, 1}),
      OffsetsOf({1, 5, 9000, 2, 40, 700}),
      OffsetsOf(std::vector<uint64_t>(900, 1)),
      OffsetsOf(std::vector<uint64_t>(300, 17)),
  };
  for (const ElementType type : kFloatTypes) {
    for (const std::vector<uint64_t>& o : offsets) {
      const ArrayDescription vector = ArrayDescription::Vector(type, o.back());
      for (const Hard kind : {Hard::kAnyNumbers, Hard::kZeros, Hard::kSpecial}) {
        CheckSomeScans(MakeHard(vector, kind, 405), conformance::Segments(o), 1);
      }
      CheckSomeScans(MakeVector(type, o.back(), DataKind::kSmall, 406), conformance::Segments(o),
                     2);
    }
  }
}

// The sum of what is left of earlier tiles shows only once the later ones have cancelled: it lies
// far below everything that these tiles hold.
TEST_P(ScanExactTest, CancellationUncoversEarlierTiles) {
  for (const ElementType type :
       {ElementType::kBfloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    TestArray array(ArrayDescription::Vector(type, 13'000));
    array.Set(0, SmallestNumber(type));
    array.Set(1, 1024);
    array.Set(5000, -1023);
    array.Set(5001, -1);
    array.Set(5002, -3 * SmallestNumber(type));
    array.Set(9000, std::ldexp(1.0L, 100));
    array.Set(12'500, -std::ldexp(1.0L, 100));
    for (const ScanSpec& spec : ExactScansOf(type)) Check(array, spec);
  }
}

// Half of a last bit, and the smallest number, which is more than 128 bits away: it decides, tiles
// later, whether the tie goes up or down.
TEST_P(ScanExactTest, WhatLiesFarBelowDecidesTies) {
  for (const ElementType type :
       {ElementType::kBfloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const long double ulp = std::ldexp(1.0L, -FloatFormatOf(type).significand_bits);
    for (const int sign : {1, -1}) {
      for (const int least_sign : {1, 0, -1}) {
        TestArray array(ArrayDescription::Vector(type, 9000));
        array.Set(0, SmallestNumber(type) * least_sign);
        array.Set(1, sign);
        array.Set(2, sign * ulp / 2);
        array.Set(5000, sign * ulp);
        array.Set(8999, -sign * ulp);
        ScanSpec spec;
        spec.exact = true;
        Check(array, spec);
        const auto result = engine().Scan(array, spec);
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ((*result)[4500], sign * (least_sign == sign ? 1 + ulp : 1));
        EXPECT_EQ((*result)[8000], sign * (least_sign == -sign ? 1 + ulp : 1 + 2 * ulp));
      }
    }
  }
}

TEST_P(ScanExactTest, SumsPastTheLargestNumberComeBack) {
  for (const ElementType type : kFloatTypes) {
    const long double largest = LargestElement(type);
    const TestArray array =
        TestArray::Vector(type, {largest, largest, -largest, -largest, 1, -largest, -largest, 2});
    ScanSpec spec;
    spec.exact = true;
    const auto result = engine().Scan(array, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    const std::vector<long double> expected = {largest, HUGE_VALL, largest,    0,
                                               1,       -largest,  -HUGE_VALL, -HUGE_VALL};
    for (const size_t i : {0, 1, 2, 3, 4, 5, 6, 7}) EXPECT_EQ((*result)[i], expected[i]) << i;
    Check(array, spec);
  }
}

TEST_P(ScanExactTest, EmptyPrefixesAndNegativeZeros) {
  for (const ElementType type : kFloatTypes) {
    TestArray array = TestArray::Vector(type, {-0.0L, -0.0L, 0.0L, -0.0L});
    ScanSpec spec;
    spec.exact = true;
    auto result = engine().Scan(array, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    for (const size_t i : {0, 1, 2, 3}) EXPECT_EQ(std::signbit((*result)[i]), i < 2) << i;
    spec.mode = ScanMode::kExclusive;
    result = engine().Scan(array, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    for (const size_t i : {0, 1, 2, 3}) EXPECT_EQ(std::signbit((*result)[i]), i == 1 || i == 2);
  }
}

// The bits are the same on every engine where there is no number either.
TEST_P(ScanExactTest, NansHaveOneForm) {
  for (const ElementType type : kFloatTypes) {
    const TestArray array = TestArray::Vector(type, {1, HUGE_VALL, -HUGE_VALL, 2, -NAN, 3});
    ScanSpec spec;
    spec.exact = true;
    const auto result = engine().Scan(array, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    // All bits of the exponent and the first of the significand.
    const FloatFormat format = FloatFormatOf(type);
    const uint64_t expected = ((uint64_t{2} << format.exponent_bits) - 1)
                              << (format.significand_bits - 1);
    for (const size_t i : {2, 3, 4, 5}) {
      uint64_t bits = 0;
      std::memcpy(&bits, result->data() + i * ElementSize(type), ElementSize(type));
      EXPECT_EQ(bits, expected) << i;
    }
  }
}

// More tiles than an engine carries sums over in one go. The oracle rounds some of the sums only.
TEST_P(ScanExactTest, LongArrays) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat64}) {
    const TestArray array = MakeVector(type, 2'500'000, DataKind::kWide, 407);
    ScanSpec spec;
    spec.exact = true;
    spec.output_type = ElementType::kFloat64;
    const auto result = engine().Scan(array, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(engine().last_run().strategy, "scan/exact");
    ExactSum sum;
    for (uint64_t i = 0; i < array.size(); ++i) {
      sum.Add(static_cast<double>(array[i]));
      if (i % 997 == 0 || i % 4096 < 2) {
        ASSERT_EQ((*result)[i], sum.Value().ToDouble()) << i;
      }
    }
  }
}

TEST_P(ScanExactTest, IntegersIgnoreIt) {
  for (const ElementType type : {ElementType::kInt8, ElementType::kUint64}) {
    ScanSpec spec;
    spec.exact = true;
    spec.overflow_policy = OverflowPolicy::kWrap;
    Check(MakeVector(type, 5000, DataKind::kWide, 408), spec);
    EXPECT_NE(engine().last_run().strategy, "scan/exact");
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ScanExactTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ScanExactTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
