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
      return SpanOf(absl::string_view(input).substr(cuts[part] * in_bytes,
                                                    (cuts[part + 1] - cuts[part]) * in_bytes));
    };
    for (size_t part = 0; part + 1 < dealt.part_count(); ++part) {
      absl::Status status = dealt.FindTotals(part, part_of(part), *lane_, {}, run);
      if (!status.ok()) return status;
    }
    for (round_count_ = 0;; ++round_count_) {
      absl::StatusOr<std::vector<size_t>> parts = dealt.NextParts(*lane_);
      if (!parts.ok()) return parts.status();
      if (parts->empty()) return absl::OkStatus();
      for (auto part = parts->rbegin(); part != parts->rend(); ++part) {
        const MutableHostSpan output{MutableSpanOf(results).data + cuts[*part] * out_bytes,
                                     (cuts[*part + 1] - cuts[*part]) * out_bytes};
        absl::Status status = dealt.RunPart(*part, part_of(*part), output, *lane_, {}, run);
        if (!status.ok()) return status;
      }
    }
  }

  // Returns how many rounds it took; 0 where results, or errors, are not those of one run.
  int ExpectScanOfOneRun(ElementType type, const ScanSpec& spec, const std::string& input,
                         const Cuts& cuts) {
    const auto plan =
        PlanScan(ArrayDescription::Vector(type, input.size() / ElementSize(type)), spec);
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
