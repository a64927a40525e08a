// Carries made of the totals of parts: those that scans of the parts leave, so that each part can
// be scanned before the ones in front of it have been.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <stop_token>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/scan_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr uint64_t kUnit = kScanCarryElements;

class ScanTotalsTest : public EngineTest {
 protected:
  // What follows the parts, of so many units each, once as their scans leave it and once as their
  // totals say. Checks that a scan goes on from either in the same way, and, where `bits_agree`,
  // that both are the same bytes.
  void ExpectCarriesOfScans(const TestArray& array, const ScanSpec& spec,
                            const std::vector<uint64_t>& part_units, bool bits_agree) {
    SCOPED_TRACE(testing::Message()
                 << ScanOperationName(spec.operation) << " of " << Describe(array.description()));
    const absl::StatusOr<ScanPlan> whole = PlanScan(array.description(), spec);
    ASSERT_TRUE(whole.ok()) << whole.status();
    ScanCarry scanned;
    ScanCarry told;
    uint64_t begin = 0;
    for (const uint64_t units : part_units) {
      const uint64_t count = units * kUnit;
      const ScanPlan plan = PartOf(*whole, count);
      RunStatistics run;
      const absl::StatusOr<ScanTotals> totals = engine().lane().FindScanTotals(
          plan, ElementsOf(array, begin, count), std::stop_token(), run);
      ASSERT_TRUE(totals.ok()) << totals.status();
      EXPECT_EQ(run.bytes_read, plan.array.size_bytes());
      engine().lane().CarryOver(plan, *totals, told);
      Scan(array, plan, begin, scanned);
      begin += count;
      EXPECT_EQ(told.element_count, begin);
      if (bits_agree) {
        EXPECT_TRUE(told.value == scanned.value) << "behind element " << begin;
      }
    }
    const ScanPlan rest = PartOf(*whole, array.size() - begin);
    const TestArray after_scan = Scan(array, rest, begin, scanned);
    const TestArray after_totals = Scan(array, rest, begin, told);
    EXPECT_EQ(FirstDifference(after_totals, after_scan), rest.array.element_count);
  }

  // One part or two, of one unit to three.
  std::vector<uint64_t> RandomUnits() {
    std::vector<uint64_t> units(1 + random_() % 2);
    for (uint64_t& part : units) part = 1 + random_() % 3;
    return units;
  }
  static uint64_t SizeWith(const std::vector<uint64_t>& units) {
    uint64_t size = 4097;  // Behind the last part.
    for (const uint64_t part : units) size += part * kUnit;
    return size;
  }

  uint64_t NextSeed() { return random_(); }

 private:
  static ScanPlan PartOf(ScanPlan plan, uint64_t count) {
    plan.array = ArrayDescription::Vector(plan.array.element_type, count);
    plan.grouping.group_size = count;
    return plan;
  }
  static HostSpan ElementsOf(const TestArray& array, uint64_t begin, uint64_t count) {
    const uint64_t bytes = ElementSize(array.type());
    return {array.data() + begin * bytes, count * bytes};
  }

  TestArray Scan(const TestArray& array, const ScanPlan& plan, uint64_t begin, ScanCarry& carry) {
    const uint64_t count = plan.array.element_count;
    TestArray results(ArrayDescription::Vector(plan.output_type, count));
    RunStatistics run;
    const absl::Status status =
        engine().lane().ContinueScan(plan, ElementsOf(array, begin, count), results.mutable_span(),
                                     carry, std::stop_token(), run);
    EXPECT_TRUE(status.ok()) << status;
    return results;
  }

  std::mt19937_64 random_{701};
};

constexpr std::array kOperations = {ScanOperation::kSum, ScanOperation::kProduct,
                                    ScanOperation::kMin, ScanOperation::kMax};

// Numbers whose running products stay near 1, so that the plain form serves.
void MakeProductsNearOne(TestArray& array) {
  for (uint64_t i = 0; i + 1 < array.size(); i += 2) {
    const long double fraction = 1 + std::ldexp(static_cast<long double>(i % 31), -7);
    array.Set(i, fraction);
    array.Set(i + 1, -1 / fraction);
  }
}

TEST_P(ScanTotalsTest, AllTypesAndOperations) {
  for (const ElementType type : kAllTypes) {
    for (const ScanOperation operation : kOperations) {
      for (const bool widens : {false, true}) {
        const bool is_extreme =
            operation == ScanOperation::kMin || operation == ScanOperation::kMax;
        if (widens && (is_extreme || AccumulatorType(type) == type)) continue;
        const std::vector<uint64_t> units = RandomUnits();
        TestArray array = MakeVector(type, SizeWith(units), DataKind::kWide, NextSeed());
        const bool is_product = operation == ScanOperation::kProduct;
        if (is_product && IsFloatingPoint(type)) MakeProductsNearOne(array);
        ScanSpec spec;
        spec.operation = operation;
        spec.output_type = widens ? AccumulatorType(type) : type;
        spec.overflow_policy = OverflowPolicy::kWrap;
        // The CPU engine estimates products of integers, and carries sums that wrap around, in ways
        // that depend on the cuts.
        const bool wraps = !IsFloatingPoint(type) && (!widens || ElementSize(type) == 8);
        const bool is_estimated = !is_extreme && !IsFloatingPoint(type) && (is_product || wraps);
        ExpectCarriesOfScans(array, spec, units,
                             GetParam().kind == EngineKind::kCuda || !is_estimated);
      }
    }
  }
}

TEST_P(ScanTotalsTest, NansInfinitiesAndZeros) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const ScanOperation operation : kOperations) {
      for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        const std::vector<uint64_t> units = RandomUnits();
        const TestArray array = MakeVector(type, SizeWith(units), DataKind::kSpecial, NextSeed());
        ScanSpec spec;
        spec.operation = operation;
        spec.nan_policy = policy;
        // A NaN that is computed may have any bits.
        const bool is_extreme =
            operation == ScanOperation::kMin || operation == ScanOperation::kMax;
        ExpectCarriesOfScans(array, spec, units, is_extreme);
      }
    }
  }
}

// Nothing but ignored NaNs and negative zeros in the first part: what precedes the others is the
// identity, which no sum of other numbers may stand for.
TEST_P(ScanTotalsTest, PartsOfIdentities) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kFloat64}) {
    for (const long double filler : {-0.0L, static_cast<long double>(NAN)}) {
      TestArray array = MakeVector(type, 3 * kUnit, DataKind::kSmall, NextSeed());
      for (uint64_t i = 0; i < kUnit + 77; ++i) array.Set(i, filler);
      for (const ScanOperation operation : kOperations) {
        ScanSpec spec;
        spec.operation = operation;
        spec.nan_policy = NanPolicy::kIgnore;
        ExpectCarriesOfScans(array, spec, {1, 1}, operation != ScanOperation::kProduct);
      }
    }
  }
}

TEST_P(ScanTotalsTest, ExactSums) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16,
                                 ElementType::kFloat32, ElementType::kFloat64}) {
    for (const DataKind kind : {DataKind::kWide, DataKind::kSpecial}) {
      for (const NanPolicy policy : {NanPolicy::kPropagate, NanPolicy::kIgnore}) {
        const std::vector<uint64_t> units = RandomUnits();
        ScanSpec spec;
        spec.exact = true;
        spec.nan_policy = policy;
        ExpectCarriesOfScans(MakeVector(type, SizeWith(units), kind, NextSeed()), spec, units,
                             true);
      }
    }
  }
}

// Parts that begin at an address at which no vector does.
TEST_P(ScanTotalsTest, MisalignedParts) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kBfloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const TestArray array =
        MakeVector(type, 4 * kUnit + 4097, DataKind::kWide, NextSeed(), ElementSize(type));
    ScanSpec spec;
    spec.overflow_policy = OverflowPolicy::kWrap;
    ExpectCarriesOfScans(array, spec, {1, 3}, true);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ScanTotalsTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ScanTotalsTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
