// Reductions of numbers that are not like the others: NaN, infinities, zeros of both signs,
// denormals, and integers at the ends of their ranges.
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr ElementType kFloatTypes[] = {ElementType::kFloat16, ElementType::kBfloat16,
                                       ElementType::kFloat32, ElementType::kFloat64};

class ReductionSpecialTest : public EngineTest {
 protected:
  void Check(const TestArray& array, const ReductionSpec& spec) {
    CheckReduction(array, spec, engine().Reduce(array, spec));
  }

  // Every statistic under every policy, at both ends and in the middle of arrays of several sizes.
  void CheckAmongOthers(ElementType type, const std::vector<long double>& numbers) {
    for (const uint64_t size : {uint64_t{numbers.size()}, uint64_t{40}, uint64_t{5000}}) {
      for (const uint64_t start :
           {uint64_t{0}, (size - numbers.size()) / 2, size - numbers.size()}) {
        TestArray array = MakeVector(type, size, DataKind::kSmall, 81);
        for (size_t i = 0; i < numbers.size(); ++i) array.Set(start + i, numbers[i]);
        for (const NanPolicy policy : NanPoliciesFor(type)) {
          ReductionSpec spec = SpecOfAll(array.description());
          spec.overflow_policy = OverflowPolicy::kWrap;
          spec.nan_policy = policy;
          Check(array, spec);
        }
      }
    }
  }
};

TEST_P(ReductionSpecialTest, NanAndInfinities) {
  for (const ElementType type : kFloatTypes) {
    CheckAmongOthers(type, {NAN});
    CheckAmongOthers(type, {1, NAN, NAN});
    CheckAmongOthers(type, {HUGE_VALL});
    CheckAmongOthers(type, {-HUGE_VALL, -HUGE_VALL});
    CheckAmongOthers(type, {HUGE_VALL, -HUGE_VALL});
    CheckAmongOthers(type, {HUGE_VALL, NAN, -HUGE_VALL});
  }
}

// NumPy's rule: what has no NaN of its own, an index, is an error; all else is NaN or of no
// elements.
TEST_P(ReductionSpecialTest, NothingButIgnoredNans) {
  for (const ElementType type : kFloatTypes) {
    const TestArray nans = TestArray::Vector(type, {NAN, NAN});
    ReductionSpec spec;
    spec.nan_policy = NanPolicy::kIgnore;
    const auto value_of = [&](Statistic statistic) {
      spec.statistics = {statistic};
      const auto result = engine().Reduce(nans, spec);
      EXPECT_TRUE(result.ok()) << result.status();
      return result.ok() ? result->columns[0].slots[0] : 0;
    };
    for (const Statistic statistic : {Statistic::kMin, Statistic::kMax, Statistic::kMean,
                                      Statistic::kVariance, Statistic::kStandardDeviation}) {
      EXPECT_TRUE(std::isnan(std::bit_cast<double>(value_of(statistic))));
    }
    for (const Statistic statistic : {Statistic::kCount, Statistic::kSum, Statistic::kL1Norm,
                                      Statistic::kL2Norm, Statistic::kNonzeroCount}) {
      EXPECT_EQ(value_of(statistic), 0u);
    }
    EXPECT_EQ(std::bit_cast<double>(value_of(Statistic::kProduct)), 1);
    for (const Statistic statistic : {Statistic::kArgmin, Statistic::kArgmax}) {
      spec.statistics = {statistic};
      ExpectInvalid(engine().Reduce(nans, spec).status(), "statistics[0]");
    }
    // No more numbers than degrees of freedom, although there are enough elements.
    const TestArray one = TestArray::Vector(type, {NAN, 3});
    spec.statistics = {Statistic::kVariance};
    spec.delta_degrees_of_freedom = 1;
    const auto result = engine().Reduce(one, spec);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(std::isnan(std::bit_cast<double>(result->columns[0].slots[0])));
  }
}

TEST_P(ReductionSpecialTest, ZerosOfBothSigns) {
  for (const ElementType type : kFloatTypes) {
    for (const std::vector<long double>& zeros :
         {std::vector<long double>{-0.0L}, {0.0L, -0.0L}, {-0.0L, 0.0L}}) {
      for (const size_t repeats : {1, 20, 3000}) {
        std::vector<long double> numbers;
        for (size_t i = 0; i < repeats; ++i) {
          numbers.insert(numbers.end(), zeros.begin(), zeros.end());
        }
        const TestArray array = TestArray::Vector(type, numbers);
        Check(array, SpecOfAll(array.description()));
      }
    }
  }
}

TEST_P(ReductionSpecialTest, Denormals) {
  for (const ElementType type : kFloatTypes) {
    const FloatFormat format = FloatFormatOf(type);
    const long double smallest = std::ldexp(1.0L, format.min_exponent() - format.significand_bits);
    CheckAmongOthers(type, {smallest});
    for (const uint64_t size : {1, 2, 100, 10'000}) {
      TestArray array(ArrayDescription::Vector(type, size));
      for (uint64_t i = 0; i < size; ++i)
        array.Set(i, smallest * static_cast<long double>(1 + i % 3));
      // The squares of float64's denormals are below its range, and with them the second moment.
      ReductionSpec spec =
          SpecOf({Statistic::kSum, Statistic::kMean, Statistic::kL1Norm, Statistic::kMin,
                  Statistic::kMax, Statistic::kArgmin, Statistic::kNonzeroCount, Statistic::kAll});
      if (type != ElementType::kFloat64) spec.statistics.push_back(Statistic::kVariance);
      Check(array, spec);
    }
  }
}

TEST_P(ReductionSpecialTest, LargestNumbersOfTheType) {
  for (const ElementType type : kFloatTypes) {
    if (type == ElementType::kFloat64) continue;  // Their squares and sums leave float64.
    const long double largest = LargestElement(type);
    CheckAmongOthers(type, {largest, largest, -largest});
    CheckAmongOthers(type, {-largest, -largest});
  }
}

TEST_P(ReductionSpecialTest, CancellationLeavesWhatIsSmall) {
  for (const double large : {1e10, 1e17, 1e25}) {
    CheckAmongOthers(ElementType::kFloat64, {large, 0.125L, -large});
    CheckAmongOthers(ElementType::kFloat64, {0.125L, large, 1, -large, 3});
    CheckAmongOthers(ElementType::kFloat32, {large, 0.125L, -static_cast<float>(large)});
  }
}

TEST_P(ReductionSpecialTest, EndsOfTheIntegersRange) {
  for (const ElementType type : kAllTypes) {
    if (IsFloatingPoint(type)) continue;
    const long double least = SmallestElement(type);
    const long double most = LargestElement(type);
    CheckAmongOthers(type, {least});
    CheckAmongOthers(type, {most});
    CheckAmongOthers(type, {least, most, least, most});
    CheckAmongOthers(type, {most, most, 1, 1});
  }
}

TEST_P(ReductionSpecialTest, SumsAreErrorsExactlyWhereTheyDoNotFit) {
  for (const ElementType type : {ElementType::kInt64, ElementType::kUint64}) {
    const long double least = SmallestElement(type);
    const long double most = LargestElement(type);
    std::vector<std::vector<long double>> cases = {
        {most}, {most, 1}, {1, most}, {most, most}, {most - 1, 1}, {least}, {least, most}};
    if (type == ElementType::kInt64) {
      // The running sum leaves the range; the sum does not.
      cases.insert(cases.end(),
                   {{most, 1, -1}, {least, -1}, {least, -1, 1}, {most, most, least, least}});
    }
    for (const std::vector<long double>& elements : cases) {
      for (const uint64_t zeros : {0, 1000, 100'000}) {
        std::vector<long double> padded(zeros, 0);
        padded.insert(padded.end(), elements.begin(), elements.end());
        padded.insert(padded.end(), zeros, 0);
        Check(TestArray::Vector(type, padded), SpecOf({Statistic::kSum, Statistic::kMax}));
      }
    }
  }
}

TEST_P(ReductionSpecialTest, ProductsAreErrorsExactlyWhereTheyDoNotFit) {
  for (const ElementType type : kAllTypes) {
    if (IsFloatingPoint(type)) continue;
    for (const int twos : {1, 7, 61, 62, 63, 64, 65, 128}) {
      for (const int sign : {1, -1}) {
        if (sign < 0 && IsUnsigned(type)) continue;
        for (const bool zero : {false, true}) {
          TestArray array(ArrayDescription::Vector(type, 6000));
          for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, 1);
          for (int i = 0; i < twos; ++i) array.Set(static_cast<uint64_t>(i) * 41 + 7, 2);
          array.Set(3000, sign);
          if (zero) array.Set(5999, 0);
          ReductionSpec spec = SpecOf({Statistic::kProduct});
          Check(array, spec);
          spec.overflow_policy = OverflowPolicy::kWrap;
          Check(array, spec);
        }
      }
    }
  }
}

TEST_P(ReductionSpecialTest, FloatProductsHaveTheBitsOfTheTree) {
  for (const ElementType type : kFloatTypes) {
    for (const uint64_t size : SizesAtEdges()) {
      TestArray array = MakeVector(type, size, DataKind::kWide, 82);
      // Factors near 1, so that the product of many does not leave the range.
      for (uint64_t i = 0; i < size; ++i) {
        array.Set(i, std::ldexp(array[i], -std::ilogb(array[i]) - (i % 2 == 0 ? 0 : 1)));
      }
      Check(array, SpecOf({Statistic::kProduct}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ReductionSpecialTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ReductionSpecialTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
