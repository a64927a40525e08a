// Scans that are dealt to several lanes: wherever the cuts are, the results are those of one run.
#include "kernels/folds/dealt_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/folds/fold_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr uint64_t kUnit = kScanCarryElements;
constexpr uint64_t kCount = 3 * kUnit + 5000;

class DealtScanTest : public FoldTest {
 protected:
  static MutableHostSpan MutableSpanOf(std::string& bytes) {
    return {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()};
  }

  // Scans the parts of each round, the last ones first, and counts the rounds.
  absl::Status ScanDealt(const ScanPlan& plan, const std::string& input, const Cuts& cuts,
                         std::string& results) {
    DealtScan dealt(plan, cuts);
    RunStatistics run;
    const uint64_t in_bytes = ElementSize(plan.array.element_type);
    const uint64_t out_bytes = ElementSize(plan.output_type);
    const auto part_of = [&](size_t part) {
      return SpanOf(absl::string_view(input).substr(dealt.first_element(part) * in_bytes,
                                                    dealt.element_count(part) * in_bytes));
    };
    for (size_t part = 0; part < dealt.part_count(); ++part) {
      if (!dealt.NeedsTotals(part)) continue;
      absl::Status status = dealt.FindTotals(part, part_of(part), *lane_, {}, run);
      if (!status.ok()) return status;
    }
    for (round_count_ = 0;; ++round_count_) {
      absl::StatusOr<std::vector<size_t>> parts = dealt.NextParts(*lane_);
      if (!parts.ok()) return parts.status();
      if (parts->empty()) return absl::OkStatus();
      for (auto part = parts->rbegin(); part != parts->rend(); ++part) {
        const MutableHostSpan output{
            MutableSpanOf(results).data + dealt.first_element(*part) * out_bytes,
            dealt.element_count(*part) * out_bytes};
        absl::Status status = dealt.RunPart(*part, part_of(*part), output, *lane_, {}, run);
        if (!status.ok()) return status;
      }
    }
  }

  // Returns how many rounds it took; 0 where results, or errors, are not those of one run.
  int ExpectScanOfOneRun(ElementType type, const ScanSpec& spec, const std::string& input,
                         const Cuts& cuts) {
    const auto array = ArrayDescription::Vector(type, input.size() / ElementSize(type));
    return ExpectScanOfOneRun(array, spec, input, cuts);
  }
  int ExpectScanOfOneRun(const ArrayDescription& array, const ScanSpec& spec,
                         const std::string& input, const Cuts& cuts) {
    const ElementType type = array.element_type;
    const auto plan = PlanScan(array, spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return 0;
    std::string expected(plan->output_size_bytes(), '\0');
    RunStatistics run;
    const absl::Status status =
        lane_->RunScan(*plan, SpanOf(input), MutableSpanOf(expected), {}, run);
    std::string results(plan->output_size_bytes(), '\0');
    EXPECT_EQ(ScanDealt(*plan, input, cuts, results), status);
    const bool are_equal = !status.ok() || results == expected;
    EXPECT_TRUE(are_equal) << ScanOperationName(spec.operation) << " of " << ElementTypeName(type);
    return are_equal ? round_count_ : 0;
  }

  int round_count_ = 0;
  int seed_ = 0;
};

const Cuts kCuts = {0, kUnit, 3 * kUnit, kCount};

TEST_F(DealtScanTest, AllTypesAndOperationsInOneRound) {
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kUint16, ElementType::kInt32, ElementType::kUint64,
        ElementType::kInt64, ElementType::kFloat16, ElementType::kBfloat16, ElementType::kFloat32,
        ElementType::kFloat64}) {
    const std::string input = RandomElements(type, kCount);
    ++seed_;
    for (const ScanOperation operation :
         {ScanOperation::kSum, ScanOperation::kMin, ScanOperation::kMax, ScanOperation::kProduct}) {
      const bool is_inclusive = ++seed_ % 2 == 0;
      const ScanSpec spec{.operation = operation,
                          .mode = is_inclusive ? ScanMode::kInclusive : ScanMode::kExclusive,
                          .grouping = {},
                          .output_type = {},
                          .nan_policy = is_inclusive ? NanPolicy::kPropagate : NanPolicy::kIgnore,
                          .overflow_policy = OverflowPolicy::kWrap};
      EXPECT_GT(ExpectScanOfOneRun(type, spec, input, kCuts), 0);
      // Sums of 64-bit integers that wrap are carried modulo 2^64, or as they are; products of
      // integers, with estimates that depend on the cuts. NaNs may have any bits.
      const bool has_nans = IsFloatingPoint(type) && spec.nan_policy == NanPolicy::kPropagate;
      const bool is_exact =
          operation == ScanOperation::kMin || operation == ScanOperation::kMax ||
          (operation == ScanOperation::kSum && ElementSize(type) < 8 && !has_nans);
      EXPECT_TRUE(round_count_ == 1 || !is_exact) << "all parts at the same time";
    }
  }
}

TEST_F(DealtScanTest, ExactSums) {
  for (const ElementType type :
       {ElementType::kFloat16, ElementType::kFloat32, ElementType::kFloat64}) {
    const std::string input = RandomElements(type, kCount);
    ScanSpec spec;
    spec.exact = true;
    spec.nan_policy = NanPolicy::kIgnore;
    EXPECT_EQ(ExpectScanOfOneRun(type, spec, input, kCuts), 1);
  }
}

TEST_F(DealtScanTest, CutsAnywhereBetweenBlocks) {
  const std::string input = RandomElements(ElementType::kFloat64, kCount);
  ScanSpec spec;
  for (const Cuts& cuts :
       {Cuts{0, kCount}, Cuts{0, 0, kUnit, kUnit, kCount}, Cuts{0, 3 * kUnit, kCount},
        Cuts{0, kUnit, 2 * kUnit, 3 * kUnit, kCount, kCount}}) {
    EXPECT_GT(ExpectScanOfOneRun(ElementType::kFloat64, spec, input, cuts), 0);
  }
}

// Sums that leave float64's range in a part, and come back: what its totals say is wrong, and those
// behind it are scanned again.
TEST_F(DealtScanTest, PartsBehindOneThatLeavesTheRangeAreScannedAgain) {
  std::vector<double> values(kCount, 1.0);
  constexpr double kLargest = std::numeric_limits<double>::max();
  values[kUnit / 2] = values[kUnit / 2 + 1] = kLargest;
  values[kUnit + 10] = values[kUnit + 11] = -kLargest;
  ScanSpec spec;
  EXPECT_GT(ExpectScanOfOneRun(ElementType::kFloat64, spec, BytesOf(values), kCuts), 1);
  spec.operation = ScanOperation::kProduct;
  for (double& value : values) value = 1.0 + 1e-9;
  values[kUnit / 2] = values[kUnit / 2 + 1] = 1e300;
  values[kUnit + 10] = values[kUnit + 11] = 1e-300;
  EXPECT_GT(ExpectScanOfOneRun(ElementType::kFloat64, spec, BytesOf(values), kCuts), 1);
}

TEST_F(DealtScanTest, ResultsThatDoNotFitAreAnError) {
  ScanSpec spec;
  for (const uint64_t place : {uint64_t{5}, kUnit, 3 * kUnit - 1, kCount - 1}) {
    std::vector<int64_t> values(kCount, 0);
    values[0] = 1;
    values[place] = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(ExpectScanOfOneRun(ElementType::kInt64, spec, BytesOf(values), kCuts), 1);
  }
  // A part whose sums fit behind the one before it, though not by themselves.
  std::vector<int64_t> values(kCount, 0);
  values[0] = std::numeric_limits<int64_t>::min();
  values[kUnit] = values[kUnit + 1] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ExpectScanOfOneRun(ElementType::kInt64, spec, BytesOf(values), kCuts), 1);
}

// The parts of a scan whose array is cut at `cuts`.
Cuts CutsOfScan(const ArrayDescription& array, const ScanSpec& spec, const Cuts& cuts) {
  const auto plan = PlanScan(array, spec);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? ScanCuts(*plan, cuts) : Cuts();
}

TEST_F(DealtScanTest, CutsAreMovedToWhereTheTreeHasCarries) {
  const auto array = ArrayDescription::Vector(ElementType::kFloat32, kCount);
  ScanSpec spec;
  EXPECT_EQ(CutsOfScan(array, spec, kCuts), kCuts);
  EXPECT_EQ(CutsOfScan(array, spec, {0, kUnit + kUnit / 2, kCount}),
            (Cuts{0, kUnit, 2 * kUnit, kCount}));
  EXPECT_EQ(CutsOfScan(array, spec, {0, 5, kUnit - 5, kCount - 1, kCount}),
            (Cuts{0, kUnit, 3 * kUnit, kCount}));
  spec.direction = ScanDirection::kReverse;
  EXPECT_EQ(CutsOfScan(array, spec, {0, kUnit, kCount}),
            (Cuts{0, kCount - 3 * kUnit, kCount - 2 * kUnit, kCount}));
  EXPECT_EQ(CutsOfScan(array, spec, {0, kCount - kUnit, kCount}),
            (Cuts{0, kCount - kUnit, kCount}));
  EXPECT_EQ(CutsOfScan(ArrayDescription::Vector(ElementType::kFloat32, 0), spec, {0, 0}),
            (Cuts{0, 0}));
}

// Where the order of joins changes no bits, and no group is cut, a scan can go on anywhere.
TEST_F(DealtScanTest, GroupsOfIntegersAreCutAnywhereBetweenThem) {
  const auto integers = ArrayDescription::Matrix(ElementType::kInt32, 300, 1000);
  const auto floats = ArrayDescription::Matrix(ElementType::kFloat32, 300, 1000);
  ScanSpec rows;
  rows.grouping.kind = GroupingKind::kAxis1;
  const Cuts cuts = {0, 7000, 200'000, 300'000};
  EXPECT_EQ(CutsOfScan(integers, rows, cuts), cuts);
  EXPECT_EQ(CutsOfScan(floats, rows, cuts), (Cuts{0, kUnit, 2 * kUnit, 300'000}));
  EXPECT_EQ(CutsOfScan(integers, rows, {0, 7000, 200'001, 300'000}),
            (Cuts{0, kUnit, 2 * kUnit, 300'000}));
  rows.operation = ScanOperation::kMax;
  EXPECT_EQ(CutsOfScan(floats, rows, cuts), cuts);
}

// Groups of all sizes, in both directions, wherever their array is cut.
TEST_F(DealtScanTest, GroupsInBothDirections) {
  const Cuts cuts = {0, kUnit / 2, kUnit + 5, 2 * kUnit, kCount - 9, kCount};
  std::vector<std::vector<uint64_t>> all_offsets = {{0, kCount}, {0, kUnit, 2 * kUnit, kCount}};
  for (const uint64_t size : {uint64_t{1}, uint64_t{777}, kUnit - 1, kUnit + kUnit / 2}) {
    std::vector<uint64_t>& offsets = all_offsets.emplace_back();
    for (uint64_t offset = 0; offset < kCount; offset += size) offsets.push_back(offset);
    offsets.insert(
        offsets.begin() + static_cast<ptrdiff_t>(offsets.size() / 2),
        offsets.size() == 1 ? offsets.back() : offsets[offsets.size() / 2]);  // An empty one.
    offsets.push_back(kCount);
  }
  for (const ElementType type : {ElementType::kInt16, ElementType::kFloat64}) {
    const std::string input = RandomElements(type, kCount);
    for (const std::vector<uint64_t>& offsets : all_offsets) {
      for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
        for (const bool exact : {false, type == ElementType::kFloat64}) {
          ScanSpec spec{.direction = direction,
                        .grouping = {GroupingKind::kSegments, offsets},
                        .output_type = {},
                        .nan_policy = NanPolicy::kIgnore,
                        .exact = exact};
          const Cuts parts = CutsOfScan(ArrayDescription::Vector(type, kCount), spec, cuts);
          EXPECT_EQ(ExpectScanOfOneRun(type, spec, input, parts), 1)
              << offsets.size() << " offsets, " << static_cast<int>(direction);
        }
      }
    }
  }
}

TEST_F(DealtScanTest, RowsOfFloatsHaveTheBitsOfOneRun) {
  constexpr uint64_t kColumns = 1003;
  constexpr uint64_t kRows = 2 * kUnit / kColumns + 5;
  const auto array = ArrayDescription::Matrix(ElementType::kFloat64, kRows, kColumns);
  const std::string input = RandomElements(ElementType::kFloat64, kRows * kColumns);
  for (const ScanDirection direction : {ScanDirection::kForward, ScanDirection::kReverse}) {
    const ScanSpec spec{.direction = direction,
                        .grouping = {GroupingKind::kAxis1, {}},
                        .output_type = {},
                        .nan_policy = NanPolicy::kIgnore};
    const Cuts cuts = CutsOfScan(array, spec, {0, kRows / 2 * kColumns, kRows * kColumns});
    EXPECT_EQ(ExpectScanOfOneRun(array, spec, input, cuts), 1);
  }
}

// An engine without totals scans one part after the other.
class LaneWithoutTotals final : public Lane {
 public:
  explicit LaneWithoutTotals(Lane& lane) : lane_(lane) {}
  absl::StatusOr<ReductionResult> RunReduction(const ReductionPlan& plan, InputSpan input,
                                               std::stop_token stop,
                                               RunStatistics& statistics) override {
    return lane_.RunReduction(plan, input, stop, statistics);
  }
  absl::Status RunScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                       std::stop_token stop, RunStatistics& statistics) override {
    return lane_.RunScan(plan, input, output, stop, statistics);
  }
  absl::Status ContinueScan(const ScanPlan& plan, InputSpan input, OutputSpan output,
                            ScanCarry& carry, std::stop_token stop,
                            RunStatistics& statistics) override {
    return lane_.ContinueScan(plan, input, output, carry, stop, statistics);
  }
  absl::StatusOr<HistogramResult> RunHistogram(const HistogramPlan& plan,
                                               const HistogramInput& input, std::stop_token stop,
                                               RunStatistics& statistics) override {
    return lane_.RunHistogram(plan, input, stop, statistics);
  }
  absl::Status Copy(InputSpan from, OutputSpan to, std::stop_token stop) override {
    return lane_.Copy(from, to, stop);
  }
  absl::Status Clear(MutableResidentSpan span, std::stop_token stop) override {
    return lane_.Clear(span, stop);
  }
  absl::Status Rearrange(const Rearrangement& order, uint64_t element_bytes, InputSpan from,
                         OutputSpan to, std::stop_token stop, RunStatistics& statistics) override {
    return lane_.Rearrange(order, element_bytes, from, to, stop, statistics);
  }

 private:
  Lane& lane_;
};

TEST_F(DealtScanTest, WithoutTotalsOnePartFollowsTheOther) {
  const std::unique_ptr<Lane> lane = std::move(lane_);
  lane_ = std::make_unique<LaneWithoutTotals>(*lane);
  const std::string input = RandomElements(ElementType::kFloat32, kCount);
  EXPECT_EQ(ExpectScanOfOneRun(ElementType::kFloat32, {}, input, kCuts), 3);
}

}  // namespace
}  // namespace gridfold::kernels
