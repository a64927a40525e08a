// What is special to the CPU engine; what all engines promise is tested in kernels/conformance.
#include "kernels/cpu/lane/engine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace gridfold::kernels::cpu {
namespace {

constexpr uint64_t kMany = uint64_t{1} << 30;
constexpr uint64_t kCount = 3'000'000;

std::unique_ptr<Lane> MakeLane(Engine& engine) {
  return engine.CreateLane({kMany, kMany, kMany, kMany}).value();
}

std::vector<int32_t> CountUp() {
  std::vector<int32_t> values(kCount);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

HostSpan BytesOf(const std::vector<int32_t>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(int32_t)};
}

const ArrayDescription kVector = ArrayDescription::Vector(ElementType::kInt32, kCount);

TEST(CpuEngineTest, DescribesItself) {
  const auto engine = CreateCpuEngine(3).value();
  EXPECT_STREQ(engine->name(), "cpu");
  EXPECT_TRUE(engine->Healthy());
  EXPECT_EQ(engine->device().compute_units, 3u);
  EXPECT_FALSE(engine->device().name.empty());
  EXPECT_GT(engine->device().memory_bytes, uint64_t{1} << 28);
  EXPECT_GE(CreateCpuEngine(0).value()->device().compute_units, 1u);
}

TEST(CpuEngineTest, RefusesANegativeNumberOfThreads) {
  EXPECT_EQ(CreateCpuEngine(-1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CpuEngineTest, ReportsHowAJobRan) {
  const auto engine = CreateCpuEngine(2).value();
  const auto lane = MakeLane(*engine);
  const std::vector<int32_t> values = CountUp();
  RunStatistics run;
  ReductionSpec spec;
  spec.statistics = {Statistic::kSum};
  const auto plan = PlanReduction(kVector, spec).value();
  ASSERT_TRUE(lane->RunReduction(plan, BytesOf(values), {}, run).ok());
  EXPECT_EQ(run.strategy, "reduce/contiguous");
  EXPECT_EQ(run.cluster_size, 1u);
  EXPECT_EQ(run.bytes_read, kCount * sizeof(int32_t));
  EXPECT_GT(run.kernel_time.count(), 0);
  EXPECT_EQ(run.stage_in_time.count(), 0);
}

// So many bins that they are counted in one table by all threads.
TEST(CpuEngineTest, HistogramsWithMoreBinsThanSamples) {
  const auto engine = CreateCpuEngine(4).value();
  const auto lane = MakeLane(*engine);
  std::vector<int32_t> values = CountUp();
  for (int32_t& value : values) value = value / 3 * 7;
  HistogramSpec spec;
  spec.bins = {IntegerBinsSpec{0, 7'000'000}};
  const auto plan = PlanHistogram(kVector, spec, kMany).value();
  RunStatistics run;
  const auto result = lane->RunHistogram(plan, {BytesOf(values), {}, {}}, {}, run);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(run.strategy, "histogram/shared");
  const std::vector<uint64_t>& counts = result->channels[0].counts;
  ASSERT_EQ(counts.size(), 7'000'000u);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < counts.size(); ++i) wrong += counts[i] != (i % 7 == 0 ? 3 : 0) ? 1 : 0;
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
