// Scans of an array part by part: the same bits as one scan of it, however many parts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/scan_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class ScanCarryTest : public EngineTest {
 protected:
  // Scans the parts, of so many units of kScanCarryElements each and then the rest, in the scan's
  // direction, into one array.
  absl::StatusOr<TestArray> ScanParts(const TestArray& array, const ScanSpec& spec,
                                      const std::vector<uint64_t>& part_units) {
    const uint64_t element_count = array.description().element_count;
    const auto whole = PlanScan(array.description(), spec);
    if (!whole.ok()) return whole.status();
    TestArray results(ArrayDescription::Vector(whole->output_type, element_count));
    ScanCarry carry;
    uint64_t begin = 0;
    for (size_t i = 0; i <= part_units.size(); ++i) {
      const uint64_t left = element_count - begin;
      const uint64_t count =
          i < part_units.size() ? std::min(left, part_units[i] * kScanCarryElements) : left;
      const bool is_reverse = spec.direction == ScanDirection::kReverse;
      const absl::Status status =
          ScanPart(array, *whole, is_reverse ? left - count : begin, count, carry, results);
      if (!status.ok()) return status;
      begin += count;
    }
    EXPECT_EQ(carry.element_count, element_count);
    return results;
  }

  absl::Status ScanPart(const TestArray& array, const ScanPlan& whole, uint64_t begin,
                        uint64_t count, ScanCarry& carry, TestArray& results) {
    ScanPlan plan = whole;
    plan.array = ArrayDescription::Vector(whole.array.element_type, count);
    plan.grouping = GroupsOfPart(whole.grouping, begin, count);
    // Where a group starts with the part, nothing precedes it.
    const bool is_reverse = whole.direction == ScanDirection::kReverse;
    const std::vector<uint64_t>& offsets = whole.grouping.offsets;
    if (std::ranges::binary_search(offsets, is_reverse ? begin + count : begin)) {
      const uint64_t scanned = carry.element_count;
      carry = {};
      const absl::Status status = ScanPart(plan, array, begin, carry, results);
      carry.element_count += scanned;
      return status;
    }
    return ScanPart(plan, array, begin, carry, results);
  }

  static Grouping GroupsOfPart(const Grouping& whole, uint64_t begin, uint64_t count) {
    Grouping part{.kind = whole.kind, .group_size = count, .offsets = {}};
    if (whole.kind != GroupingKind::kSegments) return part;
    part.offsets = {0};
    for (const uint64_t offset : whole.offsets) {
      if (offset > begin && offset < begin + count) part.offsets.push_back(offset - begin);
    }
    part.offsets.push_back(count);
    part.group_count = part.offsets.size() - 1;
    return part;
  }

  // Scans the plan's elements, which begin at `begin`.
  absl::Status ScanPart(const ScanPlan& plan, const TestArray& array, uint64_t begin,
                        ScanCarry& carry, TestArray& results) {
    const uint64_t count = plan.array.element_count;
    const uint64_t in_bytes = ElementSize(plan.array.element_type);
    const uint64_t out_bytes = ElementSize(plan.output_type);
    const HostSpan input{array.span().data + begin * in_bytes, count * in_bytes};
    const MutableHostSpan output{results.mutable_span().data + begin * out_bytes,
                                 count * out_bytes};
    RunStatistics statistics;
    return engine().lane().ContinueScan(plan, input, output, carry, std::stop_token(), statistics);
  }

  void ExpectSameInParts(const TestArray& array, const ScanSpec& spec,
                         const std::vector<uint64_t>& part_units) {
    const auto expected = engine().Scan(array, spec);
    const auto results = ScanParts(array, spec, part_units);
    ASSERT_TRUE(expected.ok() && results.ok()) << expected.status() << results.status();
    EXPECT_TRUE(results->SurroundingsAreIntact());
    EXPECT_EQ(FirstDifference(*results, *expected), array.size())
        << ScanOperationName(spec.operation) << " of " << Describe(array.description());
  }
};

// Sizes that end within a block of tiles, with one, and in one of many.
constexpr uint64_t kUnit = kScanCarryElements;

TEST_P(ScanCarryTest, AllTypesOperationsAndModes) {
  uint64_t seed = 501;
  for (const ElementType type : kAllTypes) {
    for (const ScanOperation operation :
         {ScanOperation::kSum, ScanOperation::kProduct, ScanOperation::kMin, ScanOperation::kMax}) {
      for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
        ScanSpec spec;
        spec.operation = operation;
        spec.mode = mode;
        spec.overflow_policy = OverflowPolicy::kWrap;
        ExpectSameInParts(MakeVector(type, 3 * kUnit + 4097, DataKind::kWide, ++seed), spec,
                          {1, 2});
      }
    }
  }
}

// Products that have left the range of float64 where a part ends, and come back in the next one.
TEST_P(ScanCarryTest, ProductsOutOfRangeBetweenParts) {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
    TestArray array(ArrayDescription::Vector(type, 2 * kUnit + 5000));
    for (uint64_t i = 0; i < array.size(); ++i) {
      const long double factor = 1 + std::ldexp(static_cast<long double>(i % 1000), -10);
      // Growing up to the cut, and shrinking after it.
      array.Set(i, i < kUnit ? factor : 1 / array[2 * kUnit - 1 - i]);
      if (i >= 2 * kUnit) array.Set(i, factor - 0.25L);
    }
    for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
      ScanSpec spec;
      spec.operation = ScanOperation::kProduct;
      spec.mode = mode;
      spec.output_type = ElementType::kFloat64;
      ExpectSameInParts(array, spec, {1});
      const auto results = ScanParts(array, spec, {1});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[kUnit], HUGE_VALL);
      EXPECT_NEAR(static_cast<double>((*results)[2 * kUnit - 1]), 1, 1);
    }
  }
}

// Products that leave the window of plain multiplication (numerics/arithmetic/scaled_product.h)
// between parts or within one: of exclusive scans only what is carried is outside, or it is inside
// again.
TEST_P(ScanCarryTest, ProductsOutOfTheWindowAtCuts) {
  for (const int far : {505, 509, 511, 513, 1060, 1400, -505, -509, -511, -513, -1060, -1400}) {
    for (const int64_t place : {-3, -2, -1, 0}) {  // Of the two elements that lead away.
      TestArray array = MakeVector(ElementType::kFloat64, 4 * kUnit, DataKind::kSmall, 507);
      for (uint64_t i = 0; i < array.size(); ++i) {
        const long double fraction = 1 + std::ldexp(static_cast<long double>(i % 1009), -11);
        array.Set(i, i % 2 == 0 ? fraction : -1 / array[i - 1]);
      }
      const uint64_t begin = kUnit + static_cast<uint64_t>(place);
      for (const uint64_t i : {begin, begin + 1}) array.Set(i, std::ldexp(array[i], far / 2));
      for (const uint64_t i : {2 * kUnit + 8, 2 * kUnit + 9}) {
        array.Set(i, std::ldexp(array[i], -(far / 2)));
      }
      for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
        ScanSpec spec;
        spec.operation = ScanOperation::kProduct;
        spec.mode = mode;
        ExpectSameInParts(array, spec, {1, 1, 1});
        CheckScan(array, spec, engine().Scan(array, spec));
      }
    }
  }
}

// Sums that are past the largest number where a part ends, and come back, and parts of ordinary
// numbers between such parts and after an infinity.
TEST_P(ScanCarryTest, SumsPastTheLargestNumberBetweenParts) {
  for (const bool has_infinity : {false, true}) {
    TestArray array = MakeVector(ElementType::kFloat64, 4 * kUnit, DataKind::kWide, 506);
    for (uint64_t i = 0; i < 8; ++i) {
      array.Set(kUnit - 1 - i, 1.7e308L);
      array.Set(kUnit + 100 + i, -1.7e308L);
    }
    array.Set(2 * kUnit + 8, -1.7e308L);
    array.Set(2 * kUnit + 19, 1.7e308L);
    array.Set(2 * kUnit + 22, 1.7e308L);
    if (has_infinity) array.Set(2 * kUnit + 5000, -HUGE_VALL);
    for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
      ScanSpec spec;
      spec.mode = mode;
      ExpectSameInParts(array, spec, {1, 1, 1});
      ExpectSameInParts(array, spec, {2});
    }
  }
}

TEST_P(ScanCarryTest, NoNumberBeforeALaterPart) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat64}) {
    TestArray array = MakeVector(type, 3 * kUnit, DataKind::kSmall, 505);
    for (uint64_t i = 0; i < kUnit + 77; ++i) array.Set(i, NAN);
    for (const ScanOperation operation : {ScanOperation::kMin, ScanOperation::kMax}) {
      for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
        ScanSpec spec;
        spec.operation = operation;
        spec.mode = mode;
        spec.nan_policy = NanPolicy::kIgnore;
        ExpectSameInParts(array, spec, {1, 1});
      }
    }
  }
}

TEST_P(ScanCarryTest, ExactSums) {
  uint64_t seed = 502;
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
      ScanSpec spec;
      spec.mode = mode;
      spec.exact = true;
      ExpectSameInParts(MakeVector(type, 3 * kUnit + 17, DataKind::kWide, ++seed), spec, {1, 1});
      ExpectSameInParts(MakeVector(type, 2 * kUnit, DataKind::kSpecial, ++seed), spec, {0, 1, 0});
    }
  }
}

// Parts that follow each other from the end on, and groups that go on in the next part.
TEST_P(ScanCarryTest, ReverseScansAndSegments) {
  uint64_t seed = 508;
  const uint64_t count = 3 * kUnit + 4097;
  std::vector<uint64_t> lengths = {1, 777, kUnit - 777 - 1, 5, kUnit, kUnit + 4000, 16, 17};
  GroupingSpec segments{GroupingKind::kSegments, {0}};
  for (size_t i = 0; segments.offsets.back() < count; ++i) {
    segments.offsets.push_back(
        std::min(count, segments.offsets.back() + lengths[i % lengths.size()]));
  }
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kFloat16, ElementType::kFloat64}) {
    const TestArray array = MakeVector(type, count, DataKind::kWide, ++seed);
    for (const ScanOperation operation : {ScanOperation::kSum, ScanOperation::kProduct}) {
      for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
        for (const GroupingSpec& grouping : {GroupingSpec(), segments}) {
          ScanSpec spec;
          spec.operation = operation;
          spec.mode = ++seed % 2 == 0 ? ScanMode::kInclusive : ScanMode::kExclusive;
          spec.direction = direction;
          spec.grouping = grouping;
          spec.overflow_policy = OverflowPolicy::kWrap;
          ExpectSameInParts(array, spec, {1, 2});
          spec.exact = IsFloatingPoint(type) && operation == ScanOperation::kSum;
          if (spec.exact) ExpectSameInParts(array, spec, {2, 1});
        }
      }
    }
  }
}

// One part of them all, empty parts between others, nothing after the last whole block, and few
// elements.
TEST_P(ScanCarryTest, CutsOfAllKinds) {
  ScanSpec spec;
  for (const uint64_t count : {uint64_t{0}, uint64_t{1}, kUnit - 1, kUnit, kUnit + 1, 5 * kUnit}) {
    const TestArray array = MakeVector(ElementType::kFloat32, count, DataKind::kWide, 503 + count);
    for (const std::vector<uint64_t>& units :
         {std::vector<uint64_t>{}, {0}, {1}, {0, 1, 0, 0, 2}, {2, 0, 3}}) {
      for (const ScanMode mode : {ScanMode::kInclusive, ScanMode::kExclusive}) {
        spec.mode = mode;
        ExpectSameInParts(array, spec, units);
      }
    }
  }
}

TEST_P(ScanCarryTest, AnOverflowThatOnlyTheCarryMakes) {
  ScanSpec spec;
  spec.output_type = ElementType::kInt8;
  TestArray array(ArrayDescription::Vector(ElementType::kInt8, 2 * kUnit));
  array.mutable_span().data[0] = std::byte{100};
  array.mutable_span().data[kUnit] = std::byte{100};
  EXPECT_EQ(ScanParts(array, spec, {1}).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_P(ScanCarryTest, WhatCannotGoOn) {
  const TestArray array = MakeVector(ElementType::kInt32, kUnit, DataKind::kSmall, 504);
  TestArray results(ArrayDescription::Vector(ElementType::kInt64, kUnit));
  ScanPlan plan = PlanScan(array.description(), {}).value();
  ScanCarry carry{.element_count = kUnit + 1};
  EXPECT_EQ(ScanPart(array, plan, 0, kUnit, carry, results).code(), absl::StatusCode::kInternal);
  carry.element_count = kScanElementsMax;
  EXPECT_EQ(ScanPart(array, plan, 0, kUnit, carry, results).code(),
            absl::StatusCode::kInvalidArgument);
  carry.element_count = 0;
  plan.grouping.kind = GroupingKind::kAxis1;
  EXPECT_EQ(ScanPart(array, plan, 0, kUnit, carry, results).code(), absl::StatusCode::kInternal);
}

INSTANTIATE_TEST_SUITE_P(Cpu, ScanCarryTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ScanCarryTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
