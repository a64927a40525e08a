// Scans of whole arrays.
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/scan_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class ScanTest : public EngineTest {
 protected:
  void Check(const TestArray& array, const ScanSpec& spec) {
    CheckScan(array, spec, engine().Scan(array, spec));
  }
};

TEST_P(ScanTest, EveryOperationOfEveryTypeAndSize) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : SizesAtEdges()) {
      const TestArray array = MakeVector(type, size, DataKind::kWide, size + 61);
      for (ScanSpec spec : ScansOf(type)) {
        // The longer ones in one direction and mode each, or the test would take minutes.
        if (size > 10'000 && (spec.mode == ScanMode::kExclusive) != (size % 2 == 0)) continue;
        spec.overflow_policy = OverflowPolicy::kWrap;
        Check(array, spec);
      }
    }
  }
}

TEST_P(ScanTest, SpecialNumbersUnderBothPolicies) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : {1, 2, 40, 5000, 20'000}) {
      const TestArray array = MakeVector(type, size, DataKind::kSpecial, size + 62);
      for (ScanSpec spec : ScansOf(type)) {
        spec.overflow_policy = OverflowPolicy::kWrap;
        spec.nan_policy = size % 2 == 0 ? NanPolicy::kIgnore : NanPolicy::kPropagate;
        Check(array, spec);
      }
    }
  }
}

TEST_P(ScanTest, NothingButIgnoredNans) {
  for (const ElementType type : kAllTypes) {
    if (!IsFloatingPoint(type)) continue;
    TestArray array = TestArray::Vector(type, std::vector<long double>(40, NAN));
    for (ScanSpec spec : ScansOf(type)) {
      spec.nan_policy = NanPolicy::kIgnore;
      Check(array, spec);
    }
  }
}

// NaN until the first number, as of a reduction; infinities are numbers.
TEST_P(ScanTest, ExtremesBeforeTheFirstNumber) {
  for (const ElementType type : kAllTypes) {
    if (!IsFloatingPoint(type)) continue;
    for (const uint64_t nans : {uint64_t{1}, uint64_t{15}, uint64_t{16}, uint64_t{700},
                                uint64_t{4096}, uint64_t{140'000}}) {
      for (const ScanOperation operation : {ScanOperation::kMin, ScanOperation::kMax}) {
        TestArray array = MakeVector(type, nans + 5000, DataKind::kWide, nans + 68);
        for (uint64_t i = 0; i < nans; ++i) {
          array.Set(i, NAN);
          array.Set(array.size() - 1 - i % 2000, NAN);
        }
        array.Set(nans, operation == ScanOperation::kMax ? -HUGE_VALL : HUGE_VALL);
        array.Set(nans + 3, NAN);
        ScanSpec spec;
        spec.operation = operation;
        spec.nan_policy = NanPolicy::kIgnore;
        for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
          for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
            spec.mode = mode;
            spec.direction = direction;
            Check(array, spec);
          }
        }
      }
    }
  }
}

TEST_P(ScanTest, LateNanInALongArray) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat32}) {
    TestArray array = MakeVector(type, 150'000, DataKind::kSmall, 63);
    array.Set(99'999, NAN);
    for (const ScanSpec& spec : ScansOf(type)) {
      if (spec.mode == ScanMode::kInclusive) Check(array, spec);
    }
  }
}

TEST_P(ScanTest, AllNegativeZerosStayNegative) {
  for (const ElementType type : kAllTypes) {
    if (!IsFloatingPoint(type)) continue;
    const TestArray array = TestArray::Vector(type, std::vector<long double>(5000, -0.0L));
    for (const ScanSpec& spec : ScansOf(type)) Check(array, spec);
  }
}

TEST_P(ScanTest, SeveralMillionElements) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kUint64, ElementType::kBfloat16, ElementType::kFloat32}) {
    const TestArray array = MakeVector(type, 2'000'003, DataKind::kWide, 64);
    for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kMax}) {
      ScanSpec spec;
      spec.operation = operation;
      spec.overflow_policy = OverflowPolicy::kWrap;
      Check(array, spec);
    }
  }
}

TEST_P(ScanTest, MisalignedStarts) {
  for (const ElementType type : kAllTypes) {
    for (const size_t misalignment : {1, 3, 6}) {
      const TestArray array = MakeVector(type, 8195, DataKind::kWide, 65, misalignment);
      for (ScanSpec spec : ScansOf(type)) {
        if (spec.direction == ScanDirection::kReverse) continue;
        spec.overflow_policy = OverflowPolicy::kWrap;
        Check(array, spec);
      }
    }
  }
}

TEST_P(ScanTest, FloatSumsKeepTheirErrorBound) {
  for (const ElementType type : kAllTypes) {
    if (!IsFloatingPoint(type)) continue;
    for (const GroupingKind kind : {GroupingKind::kWhole, GroupingKind::kAxis0}) {
      ScanSpec spec;
      spec.grouping.kind = kind;
      const auto check = [&](const TestArray& array) {
        const auto result = engine().Scan(array, spec);
        ASSERT_TRUE(result.ok()) << result.status();
        CheckSumsAgainstExactOnes(array, spec, *result);
      };
      check(MakeData(ArrayDescription::Matrix(type, 3001, 3), DataKind::kSmall, 66));
      spec.output_type = ElementType::kFloat64;
      spec.mode = ScanMode::kExclusive;
      check(MakeData(ArrayDescription::Matrix(type, 7001, 3), DataKind::kWide, 66));
    }
  }
}

// One, and numbers that each push the rounding of a sum near one up by half a unit: adding them one
// after the other would break the bound, along a row of elements or of chunks.
TEST_P(ScanTest, FloatSumsKeepTheirErrorBoundWhereAllErrorsHaveOneSign) {
  const auto check = [&](const ArrayDescription& description, GroupingKind kind) {
    TestArray array(description);
    for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, 0x1p-53L + 0x1p-80L);
    for (uint64_t i = 0; i < 3; ++i) array.Set(i, 1);
    ScanSpec spec;
    spec.grouping.kind = kind;
    const auto result = engine().Scan(array, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    CheckSumsAgainstExactOnes(array, spec, *result);
  };
  check(ArrayDescription::Vector(ElementType::kFloat64, 300'000), GroupingKind::kWhole);
  check(ArrayDescription::Matrix(ElementType::kFloat64, 20'000, 3), GroupingKind::kAxis0);
  check(ArrayDescription::Matrix(ElementType::kFloat64, 1, 5000), GroupingKind::kAxis1);
}

// Parts of the tree pass the largest float64, and no prefix does: results are as near as ever.
TEST_P(ScanTest, FloatSumsOfWhichPartsOverflow) {
  TestArray array(ArrayDescription::Vector(ElementType::kFloat64, 24));
  array.Set(8, -1.7e308L);
  array.Set(19, 1.7e308L);
  array.Set(22, 1.7e308L);
  for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
    ScanSpec spec;
    spec.mode = mode;
    const auto plain = engine().Scan(array, spec);
    spec.exact = true;
    const auto exact = engine().Scan(array, spec);
    ASSERT_TRUE(plain.ok() && exact.ok()) << plain.status() << exact.status();
    EXPECT_EQ(FirstDifference(*plain, *exact), array.size());
    EXPECT_TRUE(std::isfinite(static_cast<double>((*plain)[23])));
  }
}

// Numbers near the largest, of either sign, so that many prefixes are in range and some are not.
TEST_P(ScanTest, FloatSumsOfTheLargestNumbers) {
  const auto check = [&](const ArrayDescription& description, const GroupingSpec& grouping,
                         const std::vector<long double>& specials) {
    TestArray array = MakeData(description, DataKind::kWide, 69);
    for (uint64_t i = 0; i < array.size(); ++i) {
      if (i % 7 < 5) array.Set(i, std::ldexp(array[i], 1022 - std::ilogb(array[i])));
    }
    for (size_t i = 0; i < specials.size(); ++i) {
      array.Set((i + 1) * array.size() / 3, specials[i]);
    }
    for (ScanSpec spec : ScansOf(description.element_type)) {
      if (spec.operation != ScanOperation::kSum) continue;
      spec.grouping = grouping;
      Check(array, spec);
      spec.nan_policy = NanPolicy::kIgnore;
      Check(array, spec);
    }
  };
  const GroupingSpec columns{GroupingKind::kAxis0, {}};
  const GroupingSpec rows{GroupingKind::kAxis1, {}};
  for (const std::vector<long double>& specials :
       std::vector<std::vector<long double>>{{}, {NAN}, {HUGE_VALL, -HUGE_VALL}}) {
    for (const uint64_t size : {24, 5000, 140'000}) {
      check(ArrayDescription::Vector(ElementType::kFloat64, size), {}, specials);
    }
    check(ArrayDescription::Matrix(ElementType::kFloat64, 5000, 3), columns, specials);
    check(ArrayDescription::Matrix(ElementType::kFloat64, 300, 90), columns, specials);
    check(ArrayDescription::Matrix(ElementType::kFloat64, 90, 300), rows, specials);
  }
}

TEST_P(ScanTest, FloatSumsOfExactDataAreExact) {
  const TestArray array = MakeVector(ElementType::kFloat32, 70'001, DataKind::kSmall, 67);
  ScanSpec spec;
  spec.output_type = ElementType::kFloat64;
  const auto result = engine().Scan(array, spec);
  ASSERT_TRUE(result.ok()) << result.status();
  long double running = 0;
  for (uint64_t i = 0; i < array.size(); ++i) {
    running += array[i];
    ASSERT_EQ((*result)[i], running) << i;
  }
}

// An overflow is found wherever it happens, also where later elements bring the value back.
TEST_P(ScanTest, OverflowIsAnErrorUnlessItWraps) {
  for (const ElementType type : kAllTypes) {
    if (IsFloatingPoint(type)) continue;
    const auto largest = LargestElement(type);
    for (const uint64_t where : {uint64_t{1}, uint64_t{5000}, uint64_t{69'999}}) {
      TestArray array(ArrayDescription::Vector(type, 70'000));
      array.Set(where - 1, largest);
      array.Set(where, 1);
      if (where + 1 < array.size() && !IsUnsigned(type)) array.Set(where + 1, -1);
      for (const OverflowPolicy policy : {OverflowPolicy::kError, OverflowPolicy::kWrap}) {
        ScanSpec spec;
        spec.output_type = type;
        spec.overflow_policy = policy;
        Check(array, spec);
      }
    }
  }
}

TEST_P(ScanTest, ProductsThatFitAndThatDoNot) {
  for (const ElementType type : kAllTypes) {
    if (IsFloatingPoint(type)) continue;
    for (const int twos : {3, 6, 7, 8, 62, 63, 64, 70}) {
      for (const bool ends_in_zero : {false, true}) {
        TestArray array(ArrayDescription::Vector(type, 9000));
        for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, 1);
        for (int i = 0; i < twos; ++i) array.Set(static_cast<uint64_t>(i) * 120, 2);
        if (!IsUnsigned(type)) array.Set(5, -1);
        if (ends_in_zero) array.Set(8999, 0);
        for (const bool own_type : {false, true}) {
          ScanSpec spec;
          spec.operation = ScanOperation::kProduct;
          if (own_type) spec.output_type = type;
          Check(array, spec);
          spec.overflow_policy = OverflowPolicy::kWrap;
          Check(array, spec);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ScanTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ScanTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
