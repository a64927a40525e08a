// States of columns that stay with an engine, part by part, and are merged there: the same bits as
// of one run over all rows.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"
#include "kernels/folds/dealt_reduction.h"

namespace gridfold::kernels::conformance {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{256} << 20;

class ResidentStatesTest : public EngineTest {
 protected:
  // Rows [cut, next cut) are a part, on the same engine as all others.
  absl::StatusOr<ReductionResult> ReduceByParts(const TestArray& array, const ReductionPlan& plan,
                                                const std::vector<uint64_t>& row_cuts, Lane& lane) {
    const uint64_t columns = plan.array.columns;
    Cuts cuts;
    for (const uint64_t row : row_cuts) cuts.push_back(row * columns);
    DealtReduction dealt(plan, cuts);
    const uint64_t room_bytes = DealtReduction::RoomBytes(plan, lane);
    std::vector<std::unique_ptr<ResidentMemory>> memory;
    const auto allocate = [&](uint64_t bytes) {
      return memory.emplace_back(pool().Allocate(bytes).value())->span();
    };
    const uint64_t element_bytes = ElementSize(plan.array.element_type);
    RunStatistics run;
    for (size_t part = 0; part + 1 < cuts.size(); ++part) {
      const uint64_t size_bytes = (cuts[part + 1] - cuts[part]) * element_bytes;
      const MutableResidentSpan elements = allocate(size_bytes);
      const HostSpan rows{array.span().data + cuts[part] * element_bytes, size_bytes};
      absl::Status status = lane.Copy(rows, elements, {});
      if (status.ok()) {
        status =
            dealt.RunPartInto(part, ResidentSpan(elements), allocate(room_bytes), lane, {}, run);
      }
      if (!status.ok()) return status;
    }
    EXPECT_EQ(dealt.BeginMerge(1), cuts.size() - 1);
    for (size_t slice = cuts.size() - 1; slice-- > 0;) {
      const absl::Status status = dealt.MergeSlice(slice, lane, {});
      if (!status.ok()) return status;
    }
    return dealt.Finish(lane);
  }

  void ExpectBitsOfOneRun(const TestArray& array, ReductionSpec spec,
                          const std::vector<uint64_t>& row_cuts, EngineUnderTest& on) {
    spec.grouping.kind = GroupingKind::kAxis0;
    const auto plan = PlanReduction(array.description(), spec);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto expected = on.Reduce(array, spec);
    const auto actual = ReduceByParts(array, *plan, row_cuts, on.lane());
    SCOPED_TRACE(Describe(array.description()) + " " + testing::PrintToString(row_cuts));
    ASSERT_EQ(actual.status(), expected.status());
    if (!expected.ok()) return;
    for (size_t s = 0; s < expected->columns.size(); ++s) {
      EXPECT_TRUE(SameSlots(actual->columns[s], expected->columns[s]))
          << StatisticName(spec.statistics[s]);
    }
  }

  ResidentPool& pool() {
    if (pool_ == nullptr) pool_ = engine().engine().CreateResidentPool(kPoolBytes).value();
    return *pool_;
  }

 private:
  std::unique_ptr<ResidentPool> pool_;
};

// What kernels keep different parts of a state for.
std::vector<ReductionSpec> SpecsFor(const ArrayDescription& array) {
  std::vector<ReductionSpec> specs = {
      SpecOf({Statistic::kSum}), SpecOf({Statistic::kArgmax, Statistic::kMin, Statistic::kArgmin}),
      SpecOf({Statistic::kVariance, Statistic::kMax, Statistic::kNonzeroCount}), SpecOfAll(array)};
  if (IsFloatingPoint(array.element_type)) {
    std::erase(specs.back().statistics, Statistic::kProduct);  // No cut goes through one.
  }
  for (ReductionSpec& spec : specs) spec.overflow_policy = OverflowPolicy::kWrap;
  return specs;
}

TEST_P(ResidentStatesTest, OfEveryType) {
  uint64_t seed = 0;
  for (const ElementType type : kAllTypes) {
    for (const uint64_t columns : {1, 129, 2500}) {
      const auto array = ArrayDescription::Matrix(type, 9, columns);
      for (const ReductionSpec& spec : SpecsFor(array)) {
        const DataKind kind = ++seed % 2 == 0 ? DataKind::kSmall : DataKind::kSpecial;
        const TestArray data = MakeData(array, kind, seed);
        ExpectBitsOfOneRun(data, spec, {0, 4, 9}, engine());
        ExpectBitsOfOneRun(data, spec, {0, 1, 2, 8, 9}, engine());
      }
    }
  }
}

TEST_P(ResidentStatesTest, OfIgnoredNans) {
  for (const uint64_t rows : {2, 300}) {
    ReductionSpec spec = SpecOf({Statistic::kMean, Statistic::kNanCount});
    spec.nan_policy = NanPolicy::kIgnore;
    const auto array = ArrayDescription::Matrix(ElementType::kFloat32, rows, 700);
    ExpectBitsOfOneRun(MakeData(array, DataKind::kSpecial, rows), spec, {0, rows / 2, rows},
                       engine());
  }
}

// The first group's error, whichever slice it is in.
TEST_P(ResidentStatesTest, TheSmallestGroupThatFailsIsNamed) {
  constexpr uint64_t kColumns = 900;
  const auto array = ArrayDescription::Matrix(ElementType::kInt64, 4, kColumns);
  for (const std::vector<uint64_t>& failing :
       {std::vector<uint64_t>{899}, {0, 899}, {700, 450}, {449, 450, 451}}) {
    TestArray data = MakeData(array, DataKind::kSmall, 5);
    auto* const elements = reinterpret_cast<int64_t*>(data.mutable_span().data);
    for (const uint64_t group : failing) {
      elements[group] = elements[kColumns + group] = std::numeric_limits<int64_t>::max();
    }
    ExpectBitsOfOneRun(data, SpecOf({Statistic::kMax, Statistic::kSum}), {0, 1, 4}, engine());
  }
}

// More states than there is scratch for at a time, on a lane that has little.
TEST_P(ResidentStatesTest, InPieces) {
  EngineUnderTest small(GetParam(), {.input_bytes_max = uint64_t{4} << 20,
                                     .output_bytes_max = uint64_t{16} << 20,
                                     .bin_count_max = 1024,
                                     .group_count_max = uint64_t{1} << 20});
  constexpr uint64_t kColumns = 300'000;
  const auto array = ArrayDescription::Matrix(ElementType::kFloat32, 3, kColumns);
  ExpectBitsOfOneRun(MakeData(array, DataKind::kSmall, 11),
                     SpecOf({Statistic::kArgmin, Statistic::kL2Norm}), {0, 2, 3}, small);
}

TEST_P(ResidentStatesTest, MergesStop) {
  const auto array = ArrayDescription::Matrix(ElementType::kInt32, 2, 64);
  ReductionSpec spec = SpecOf({Statistic::kSum});
  spec.grouping.kind = GroupingKind::kAxis0;
  const auto plan = PlanReduction(array, spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Lane& lane = engine().lane();
  const auto memory = pool().Allocate(uint64_t{1} << 20).value();
  const uint64_t room_bytes = DealtReduction::RoomBytes(*plan, lane);
  ASSERT_GT(room_bytes, 0u);
  const std::vector<ResidentStates> parts(2, {{memory->span().data, room_bytes}, 0});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(lane.MergeStates(*plan, 0, parts, stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Cpu, ResidentStatesTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, ResidentStatesTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
