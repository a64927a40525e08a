// Reductions of whole arrays: every statistic of every type at every size that matters.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class ReductionTest : public EngineTest {
 protected:
  void Check(const TestArray& array, const ReductionSpec& spec) {
    CheckReduction(array, spec, engine().Reduce(array, spec));
  }
};

TEST_P(ReductionTest, EveryStatisticOfEveryTypeAndSize) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : SizesAtEdges()) {
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide, DataKind::kSpecial}) {
        const TestArray array = MakeVector(type, size, kind, size + 1);
        for (const NanPolicy policy : NanPoliciesFor(type)) {
          ReductionSpec spec = SpecOfAll(array.description());
          spec.nan_policy = policy;
          spec.overflow_policy = OverflowPolicy::kWrap;
          // An array of one or two special numbers may hold nothing but NaNs.
          if (size <= 2 && policy == NanPolicy::kIgnore) RemoveIndices(spec);
          Check(array, spec);
        }
      }
    }
  }
}

TEST_P(ReductionTest, SeveralMillionElements) {
  for (const ElementType type : kAllTypes) {
    const TestArray array = MakeVector(type, 3'000'017, DataKind::kWide, 31);
    ReductionSpec spec = SpecOfAll(array.description());
    spec.overflow_policy = OverflowPolicy::kWrap;
    Check(array, spec);
  }
}

TEST_P(ReductionTest, MisalignedStarts) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : {1, 17, 33, 4099, 70'001}) {
      for (size_t misalignment = 1; misalignment < 8; misalignment += 2) {
        const TestArray array = MakeVector(type, size, DataKind::kWide, size, misalignment);
        ReductionSpec spec = SpecOfAll(array.description());
        spec.overflow_policy = OverflowPolicy::kWrap;
        Check(array, spec);
      }
    }
  }
}

TEST_P(ReductionTest, OneAtATimeIsTheSameAsAllAtOnce) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : {777, 50'001}) {
      const TestArray array = MakeVector(type, size, DataKind::kSpecial, size);
      for (const NanPolicy policy : NanPoliciesFor(type)) {
        ReductionSpec all = SpecOfAll(array.description());
        all.nan_policy = policy;
        all.overflow_policy = OverflowPolicy::kWrap;
        const auto together = engine().Reduce(array, all);
        ASSERT_TRUE(together.ok()) << together.status();
        for (const StatisticColumn& column : together->columns) {
          ReductionSpec one = all;
          one.statistics = {column.statistic};
          const auto alone = engine().Reduce(array, one);
          ASSERT_TRUE(alone.ok()) << alone.status();
          EXPECT_TRUE(SameSlots(alone->columns[0], column))
              << StatisticName(column.statistic) << " of " << Describe(array.description());
        }
      }
    }
  }
}

TEST_P(ReductionTest, AnySubsetInAnyOrder) {
  std::mt19937_64 random(41);
  for (const ElementType type : kAllTypes) {
    const TestArray array = MakeVector(type, 5003, DataKind::kWide, 42);
    for (int round = 0; round < 12; ++round) {
      ReductionSpec spec = SpecOfAll(array.description());
      std::shuffle(spec.statistics.begin(), spec.statistics.end(), random);
      spec.statistics.resize(1 + random() % 5);
      spec.overflow_policy = OverflowPolicy::kWrap;
      Check(array, spec);
    }
  }
}

TEST_P(ReductionTest, SumsOfExactDataAreExact) {
  for (const ElementType type : kAllTypes) {
    const TestArray array = MakeVector(type, 262'147, DataKind::kSmall, 43);
    const GroupFacts facts = ExamineGroup(array, {0, 1, array.size()}, false);
    const auto result = engine().Reduce(array, SpecOf({Statistic::kSum}));
    ASSERT_TRUE(result.ok()) << result.status();
    const uint64_t slot = result->columns[0].slots[0];
    const double sum = IsFloatingPoint(type) ? std::bit_cast<double>(slot)
                                             : static_cast<double>(static_cast<int64_t>(slot));
    EXPECT_EQ(sum, facts.sum.ToDouble()) << ElementTypeName(type);
  }
}

TEST_P(ReductionTest, DegreesOfFreedom) {
  for (const ElementType type : kAllTypes) {
    for (const uint32_t ddof : {0, 1, 2, 5, 32}) {
      const TestArray array = MakeVector(type, 33, DataKind::kSmall, 44);
      ReductionSpec spec = SpecOf({Statistic::kStandardDeviation, Statistic::kVariance});
      spec.delta_degrees_of_freedom = ddof;
      Check(array, spec);
    }
  }
}

TEST_P(ReductionTest, EqualElements) {
  for (const ElementType type : kAllTypes) {
    for (const long double value : {0.0L, 1.0L, 77.0L}) {
      TestArray array(ArrayDescription::Vector(type, 10'007));
      for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, value);
      ReductionSpec spec = SpecOfAll(array.description());
      spec.overflow_policy = OverflowPolicy::kWrap;
      Check(array, spec);
    }
  }
}

TEST_P(ReductionTest, FirstOfEqualExtremesWhereverTheyStand) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t first : {0, 1, 500, 4096, 99'999}) {
      TestArray array(ArrayDescription::Vector(type, 200'000));
      for (const uint64_t i : {first, first + 1, uint64_t{131'072}, uint64_t{199'999}}) {
        array.Set(i, 100);
      }
      Check(array, SpecOf({Statistic::kArgmax, Statistic::kArgmin, Statistic::kMax}));
    }
  }
}

TEST_P(ReductionTest, VarianceFarFromZero) {
  for (const ElementType type : {ElementType::kInt32, ElementType::kInt64, ElementType::kUint64,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    std::mt19937_64 random(45);
    TestArray array(ArrayDescription::Vector(type, 40'001));
    // As far out as the type still tells neighbouring integers apart; for float64, as far as 106
    // bits of the second moment leave the variance its 53.
    const long double base = type == ElementType::kFloat32   ? 1e6L
                             : type == ElementType::kFloat64 ? 1e7L
                                                             : LargestElement(type) - 20;
    for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, base + random() % 16);
    Check(array, SpecOf({Statistic::kMean, Statistic::kVariance, Statistic::kStandardDeviation}));
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ReductionTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ReductionTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
