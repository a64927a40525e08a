// Quantiles, and the largest or smallest elements.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/axes_runner.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/order_oracle.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr QuantileMethod kMethods[] = {QuantileMethod::kLinear,   QuantileMethod::kLower,
                                       QuantileMethod::kHigher,   QuantileMethod::kNearest,
                                       QuantileMethod::kMidpoint, QuantileMethod::kMean};
const std::vector<double> kQuantiles = {0.5, 0, 1, 0.25, 0.999, 0.5, 1e-9};

class OrderTest : public EngineTest {
 protected:
  void Check(const TestArray& array, const QuantileSpec& spec) {
    CheckQuantiles(array, spec, engine().Quantiles(array, spec));
  }
  void Check(const TestArray& array, const TopSpec& spec) {
    CheckTop(array, spec, engine().Top(array, spec));
  }
};

// Of groups of so many elements, with one that is longer.
GroupingSpec UnevenSegments(uint64_t element_count, uint64_t size) {
  GroupingSpec grouping{GroupingKind::kSegments, {0}};
  for (uint64_t end = size; end + 3 * size < element_count; end += size + end % 3) {
    grouping.offsets.push_back(end);
  }
  grouping.offsets.push_back(element_count);
  return grouping;
}

TEST_P(OrderTest, QuantilesOfEveryTypeAndSize) {
  size_t turn = 0;
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : SizesAtEdges()) {
      if (size == 0) continue;
      // The longer ones of one kind each, or the test would take minutes.
      for (const DataKind kind : {DataKind::kSmall, DataKind::kWide}) {
        if (size > 10'000 && (kind == DataKind::kSmall) != (size % 2 == 0)) continue;
        const TestArray array = MakeVector(type, size, kind, size + 71, turn % 3 == 0 ? 1 : 0);
        Check(array, {.quantiles = kQuantiles,
                      .ranks = {size / 2, 0, size - 1},
                      .method = kMethods[turn++ % std::size(kMethods)]});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(OrderTest, EveryMethod) {
  for (const ElementType type : kAllTypes) {
    for (const QuantileMethod method : kMethods) {
      for (const uint64_t size : {2, 3, 10, 1001}) {
        Check(MakeVector(type, size, DataKind::kWide, 72),
              {.quantiles = kQuantiles, .method = method});
      }
    }
  }
}

TEST_P(OrderTest, QuantilesOfSpecialNumbersUnderBothPolicies) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : {1, 3, 40, 5000, 80'000}) {
      const TestArray array = MakeVector(type, size, DataKind::kSpecial, size + 73);
      for (const NanPolicy policy : {NanPolicy::kIgnore, NanPolicy::kPropagate}) {
        for (const QuantileMethod method : {QuantileMethod::kLinear, QuantileMethod::kMean}) {
          Check(array, {.quantiles = kQuantiles,
                        .ranks = {size - 1},
                        .method = method,
                        .nan_policy = policy});
        }
      }
    }
  }
}

TEST_P(OrderTest, NothingButIgnoredNans) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat64}) {
    for (const uint64_t size : {1, 40, 100'000}) {
      const TestArray array = TestArray::Vector(type, std::vector<long double>(size, NAN));
      Check(array,
            QuantileSpec{.quantiles = {0.5}, .ranks = {0}, .nan_policy = NanPolicy::kIgnore});
      Check(array, TopSpec{.count = 1});
      const auto top = engine().Top(array, {.count = 1, .nan_policy = NanPolicy::kIgnore});
      EXPECT_EQ(FieldOf(top.status()), "count") << top.status();
    }
  }
}

// All keys share their digits, or all but a few: no digit tells them apart.
TEST_P(OrderTest, EqualAndAlmostEqualElements) {
  for (const ElementType type : {ElementType::kUint8, ElementType::kInt32, ElementType::kFloat32,
                                 ElementType::kInt64, ElementType::kFloat64}) {
    for (const uint64_t size : {5000, 90'000}) {
      TestArray array = TestArray::Vector(type, std::vector<long double>(size, 7));
      Check(array, QuantileSpec{.quantiles = kQuantiles});
      Check(array, TopSpec{.count = 100, .smallest = true});
      array.Set(size / 3, 6);
      array.Set(size / 2, 8);
      array.Set(size - 1, 6);
      Check(array, QuantileSpec{.quantiles = {0, 0.5, 1}, .ranks = {1, 2}});
      Check(array, TopSpec{.count = 100});
      Check(array, TopSpec{.count = 3, .smallest = true});
    }
  }
}

// More than are collected once their first digits are known: all digits are counted.
TEST_P(OrderTest, ManyElementsThatShareDigits) {
  for (const ElementType type : {ElementType::kInt64, ElementType::kFloat64}) {
    TestArray array = TestArray::Vector(type, std::vector<long double>(300'000, 7));
    array.Set(10, 6);
    array.Set(299'999, 8);
    Check(array, QuantileSpec{.quantiles = {0, 0.5, 1}});
  }
}

TEST_P(OrderTest, RowsOfEverySize) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t columns :
         {uint64_t{1}, uint64_t{2}, uint64_t{31}, uint64_t{33}, uint64_t{256}, uint64_t{1000},
          uint64_t{2049}, uint64_t{20'000}, uint64_t{70'000}}) {
      const uint64_t rows = std::clamp<uint64_t>(30'000 / columns, 2, 60);
      const TestArray array =
          MakeData(ArrayDescription::Matrix(type, rows, columns), DataKind::kSpecial, columns + 74);
      const GroupingSpec by_rows{GroupingKind::kAxis1, {}};
      Check(array, QuantileSpec{.quantiles = {0.5, 0.1}, .grouping = by_rows});
      Check(array, QuantileSpec{.quantiles = {0.9},
                                .ranks = {columns - 1},
                                .grouping = by_rows,
                                .nan_policy = NanPolicy::kIgnore});
      Check(array, TopSpec{.count = std::min<uint64_t>(columns, 7), .grouping = by_rows});
      if (HasFailure()) return;
    }
  }
}

TEST_P(OrderTest, SegmentsOfEverySize) {
  for (const ElementType type : {ElementType::kInt8, ElementType::kFloat16, ElementType::kUint32,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const uint64_t size : {1, 5, 100, 3000}) {
      const TestArray array = MakeVector(type, 60'000, DataKind::kWide, size + 75);
      const GroupingSpec segments = UnevenSegments(array.size(), size);
      Check(array, QuantileSpec{.quantiles = {0.5, 0.75}, .grouping = segments});
      Check(array, TopSpec{.count = 1, .smallest = true, .grouping = segments});
    }
    // One that is long among many that are not.
    const TestArray array = MakeVector(type, 200'000, DataKind::kWide, 76);
    const GroupingSpec segments{GroupingKind::kSegments, {0, 3, 7, 190'000, 190'002, 200'000}};
    Check(array, QuantileSpec{.quantiles = {0.5, 0.01}, .grouping = segments});
    Check(array, TopSpec{.count = 2, .grouping = segments});
  }
}

TEST_P(OrderTest, TopsOfEveryTypeSizeAndCount) {
  for (const ElementType type : kAllTypes) {
    for (const uint64_t size : SizesAtEdges()) {
      if (size == 0) continue;
      const TestArray array = MakeVector(type, size, DataKind::kSpecial, size + 77);
      for (const uint64_t count : {uint64_t{1}, uint64_t{10}, uint64_t{1000}, size / 2, size}) {
        if (count == 0 || count > size || (size > 10'000 && size % 2 == 0)) continue;
        Check(array, TopSpec{.count = count, .smallest = count % 2 == 0});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(OrderTest, IgnoredNansAreNotSelected) {
  for (const ElementType type : {ElementType::kBfloat16, ElementType::kFloat32}) {
    TestArray array = MakeVector(type, 100'000, DataKind::kWide, 78);
    for (uint64_t i = 0; i < array.size(); i += 2) array.Set(i, NAN);
    for (const bool smallest : {false, true}) {
      for (const uint64_t count : {10, 50'000}) {
        Check(array,
              TopSpec{.count = count, .smallest = smallest, .nan_policy = NanPolicy::kIgnore});
      }
      const auto top = engine().Top(
          array, {.count = 50'001, .smallest = smallest, .nan_policy = NanPolicy::kIgnore});
      EXPECT_EQ(FieldOf(top.status()), "count") << top.status();
    }
  }
}

TEST_P(OrderTest, ManyQuantiles) {
  QuantileSpec spec;
  for (size_t i = 0; i < kQuantilesMax; ++i) {
    spec.quantiles.push_back(static_cast<double>(i) / (kQuantilesMax - 1));
  }
  for (const ElementType type :
       {ElementType::kInt16, ElementType::kFloat32, ElementType::kUint64}) {
    Check(MakeVector(type, 400'003, DataKind::kWide, 79), spec);
    Check(MakeVector(type, 3000, DataKind::kWide, 80), spec);
  }
}

TEST_P(OrderTest, AlongAxes) {
  const kernels::Shape shape{3, 50, 7, 11};
  const TestArray array =
      MakeVector(ElementType::kFloat32, shape.element_count(), DataKind::kSmall, 81);
  AxesRunner runner(engine());
  for (AxisSet axes = 1; axes < 16; ++axes) {
    SCOPED_TRACE(axes);
    ReductionSpec extremes;
    extremes.statistics = {Statistic::kMin, Statistic::kMax};
    const auto smallest = runner.Reduce(shape, array, axes, extremes);
    const auto result = runner.Quantiles(shape, array, axes, {.quantiles = {0, 1}});
    ASSERT_TRUE(smallest.ok() && result.ok()) << result.status();
    std::vector<uint64_t> expected = smallest->columns[0].slots;
    const std::vector<uint64_t>& largest = smallest->columns[1].slots;
    expected.insert(expected.end(), largest.begin(), largest.end());
    EXPECT_EQ(result->slots, expected);
  }
}

TEST_P(OrderTest, ResidentInputAndWhatDoesNotFit) {
  const auto pool = engine().engine().CreateResidentPool(1 << 20);
  ASSERT_TRUE(pool.ok()) << pool.status();
  const auto memory = (*pool)->Allocate(60'000);
  ASSERT_TRUE(memory.ok()) << memory.status();
  const TestArray array = MakeVector(ElementType::kFloat32, 15'000, DataKind::kWide, 82);
  ASSERT_TRUE(engine().lane().Copy(array.span(), (*memory)->span(), std::stop_token()).ok());
  const QuantileSpec spec{.quantiles = kQuantiles};
  const auto plan = PlanQuantiles(array.description(), spec);
  ASSERT_TRUE(plan.ok());
  RunStatistics statistics;
  CheckQuantiles(array, spec,
                 engine().lane().RunQuantiles(*plan, ResidentSpan((*memory)->span()),
                                              std::stop_token(), statistics));
  EXPECT_EQ(statistics.bytes_read, 60'000u);
  EXPECT_FALSE(engine().lane().RunQuantiles(*plan, HostSpan{}, std::stop_token(), statistics).ok());
  std::stop_source stopped;
  stopped.request_stop();
  const auto cancelled =
      engine().lane().RunQuantiles(*plan, array.span(), stopped.get_token(), statistics);
  EXPECT_TRUE(absl::IsCancelled(cancelled.status())) << cancelled.status();
}

INSTANTIATE_TEST_SUITE_P(Cpu, OrderTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, OrderTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
