// What lanes say of a run beside its answer, exactly, and which of several faults they name.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/test_data.h"

namespace gridfold::kernels::conformance {
namespace {

class RunStatisticsTest : public EngineTest {
 protected:
  // Many tiles, so that an engine with several threads uses them.
  static constexpr uint64_t kCount = 1'000'000;
  static constexpr uint64_t kBytes = kCount * sizeof(float);
  // The type is of half the size of a sample, so that what is read of either shows.
  static constexpr uint64_t kWeightBytes = kCount * sizeof(int16_t);

  bool on_device() const { return GetParam().kind == EngineKind::kCuda; }

  uint64_t BytesOf(const ReductionSpec& spec) {
    EXPECT_TRUE(engine().Reduce(samples_, spec).ok());
    return engine().last_run().bytes_read;
  }
  uint64_t BytesOf(const HistogramSpec& spec) {
    EXPECT_TRUE(engine()
                    .Histogram(samples_, spec, spec.two_dimensional ? &samples_ : nullptr,
                               spec.weight_type ? &weights_ : nullptr)
                    .ok());
    return engine().last_run().bytes_read;
  }
  uint64_t BytesOf(EngineUnderTest& engine, const ScanSpec& spec) {
    EXPECT_TRUE(engine.Scan(samples_, spec).ok());
    return engine.last_run().bytes_read;
  }

  const TestArray samples_ = MakeVector(ElementType::kFloat32, kCount, DataKind::kSmall, 301);
  const TestArray weights_ = MakeVector(ElementType::kInt16, kCount, DataKind::kSmall, 302);
};

TEST_P(RunStatisticsTest, BytesThatReductionsRead) {
  EXPECT_EQ(BytesOf(SpecOf({Statistic::kSum})), kBytes);
  EXPECT_EQ(BytesOf(SpecOf({Statistic::kSum, Statistic::kMax, Statistic::kVariance})), kBytes);
  EXPECT_EQ(BytesOf(SpecOf({Statistic::kProduct})), kBytes);
  // A product is a pass of its own on a device.
  EXPECT_EQ(BytesOf(SpecOf({Statistic::kSum, Statistic::kProduct})),
            (on_device() ? 2 : 1) * kBytes);
}

TEST_P(RunStatisticsTest, BytesThatHistogramsRead) {
  const HistogramSpec known = SpecOfBins(Even(10, -8, 8));
  EXPECT_EQ(BytesOf(known), kBytes);
  const HistogramSpec found = SpecOfBins(AutomaticEven(10));
  EXPECT_EQ(BytesOf(found), 2 * kBytes) << "once for the range";

  HistogramSpec pairs = known;
  pairs.two_dimensional = true;
  pairs.bins.push_back(Even(20, -8, 8));
  EXPECT_EQ(BytesOf(pairs), 2 * kBytes) << "x and y";
  pairs.bins.back() = AutomaticEven(20);
  EXPECT_EQ(BytesOf(pairs), 4 * kBytes) << "either once for the ranges";

  HistogramSpec weighted = known;
  weighted.weight_type = ElementType::kInt16;
  EXPECT_EQ(BytesOf(weighted), kBytes + kWeightBytes);
  weighted.bins.front() = AutomaticEven(10);
  EXPECT_EQ(BytesOf(weighted), 2 * kBytes + kWeightBytes) << "weights have no part in the range";
}

TEST_P(RunStatisticsTest, BytesThatScansRead) {
  EngineUnderTest one({GetParam().name, GetParam().kind, on_device() ? 0 : 1});
  EXPECT_EQ(BytesOf(one, {}), kBytes);
  // Threads first look for what their parts add up to.
  EXPECT_EQ(BytesOf(engine(), {}), (on_device() ? 1 : 2) * kBytes);
}

class NamedFaultTest : public EngineTest {
 protected:
  static constexpr uint64_t kGroups = 5000;
  static constexpr uint64_t kGroupSize = 40;
  static constexpr int kRuns = 10;

  // Rows of which these overflow; as a matrix, or one after the other.
  static TestArray Overflowing(const std::vector<uint64_t>& groups, bool is_matrix = true) {
    TestArray array(is_matrix
                        ? ArrayDescription::Matrix(ElementType::kInt64, kGroups, kGroupSize)
                        : ArrayDescription::Vector(ElementType::kInt64, kGroups * kGroupSize));
    for (uint64_t i = 0; i < array.size(); ++i) array.Set(i, 1);
    for (const uint64_t group : groups) {
      for (const uint64_t element : {3, 31}) {
        array.Set(group * kGroupSize + element, std::numeric_limits<int64_t>::max());
      }
    }
    return array;
  }

  void ExpectMessage(const TestArray& array, const ReductionSpec& spec, const std::string& name) {
    for (int run = 0; run < kRuns; ++run) {
      const absl::Status status = engine().Reduce(array, spec).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
      EXPECT_EQ(status.message(), name + " does not fit in int64");
    }
  }
};

TEST_P(NamedFaultTest, TheFirstGroupIsNamedWhicheverIsReadFirst) {
  const std::vector<uint64_t> groups = {4990, 2500, 1207, 4000};
  ReductionSpec rows = SpecOf({Statistic::kSum});
  rows.grouping = Axis(1);
  ExpectMessage(Overflowing(groups), rows, "sum of group 1207");

  ReductionSpec segments = SpecOf({Statistic::kSum});
  segments.grouping = Segments(OffsetsOf(std::vector<uint64_t>(kGroups, kGroupSize)));
  ExpectMessage(Overflowing(groups, /*is_matrix=*/false), segments, "sum of group 1207");
}

TEST_P(NamedFaultTest, OfAGroupTheFirstStatisticIsNamed) {
  const TestArray array = Overflowing({4990, 1207});
  ReductionSpec rows = SpecOf({Statistic::kMax, Statistic::kProduct, Statistic::kSum});
  rows.grouping = Axis(1);
  ExpectMessage(array, rows, "product of group 1207");
}

TEST_P(NamedFaultTest, ColumnsAreNamedLikeRows) {
  TestArray array = MakeData(ArrayDescription::Matrix(ElementType::kInt64, kGroupSize, kGroups),
                             DataKind::kSmall, 304);
  for (const uint64_t column : {4321, 77, 78}) {
    for (const uint64_t row : {0, 39}) {
      array.Set(row * kGroups + column, std::numeric_limits<int64_t>::max());
    }
  }
  ReductionSpec columns = SpecOf({Statistic::kSum});
  columns.grouping = Axis(0);
  ExpectMessage(array, columns, "sum of group 77");
}

INSTANTIATE_TEST_SUITE_P(Cpu, RunStatisticsTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, RunStatisticsTest, testing::Values(kCudaCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cpu, NamedFaultTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, NamedFaultTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
