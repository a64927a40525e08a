// What is special to the CPU engine; what all engines promise is tested in kernels/conformance.
#include "kernels/cpu/lane/engine.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <sys/sysinfo.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/contract/invalid_field.h"

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
  EXPECT_EQ(engine->device().compute_capability, "");
  struct sysinfo system = {};
  ASSERT_EQ(sysinfo(&system), 0);
  EXPECT_EQ(engine->device().memory_bytes, uint64_t{system.totalram} * system.mem_unit);
  // The system has the name after a tab and a colon.
  std::ifstream file("/proc/cpuinfo");
  const std::string processors((std::istreambuf_iterator<char>(file)), {});
  const std::string& name = engine->device().name;
  EXPECT_TRUE(name == "CPU" || processors.find("model name\t: " + name + "\n") != std::string::npos)
      << name;
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  EXPECT_EQ(CreateCpuEngine(0).value()->device().compute_units,
            static_cast<uint32_t>(CPU_COUNT(&allowed)));
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
  EXPECT_EQ(run.strategy, "reduce/groups/contiguous");
  EXPECT_EQ(run.cluster_size, 1u);
  EXPECT_EQ(run.bytes_read, kCount * sizeof(int32_t));
  EXPECT_GT(run.kernel_time.count(), 0);
  EXPECT_EQ(run.stage_in_time.count(), 0);
}

// An input in pieces is copied together, into memory that the lane keeps up to 16 MiB of.
TEST(CpuEngineTest, ALaneGivesBackTheMemoryOfLargeInputs) {
  const auto engine = CreateCpuEngine(1).value();
  const auto lane = MakeLane(*engine);
  const auto kept_bytes_after = [&lane](uint64_t size_bytes) {
    const std::vector<int32_t> values(size_bytes / sizeof(int32_t), 1);
    const HostSpan whole = BytesOf(values);
    const std::array<HostSpan, 2> halves = {
        HostSpan{whole.data, size_bytes / 2},
        HostSpan{whole.data + size_bytes / 2, size_bytes - size_bytes / 2}};
    ReductionSpec spec;
    spec.statistics = {Statistic::kSum};
    const auto plan =
        PlanReduction(ArrayDescription::Vector(ElementType::kInt32, values.size()), spec).value();
    const auto held_bytes = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
    RunStatistics run;
    const size_t before = held_bytes();
    const auto sum = lane->RunReduction(plan, HostSlices{halves, size_bytes}, {}, run);
    EXPECT_TRUE(sum.ok()) << sum.status();
    return static_cast<double>(held_bytes()) - static_cast<double>(before);
  };
  constexpr double kSlackBytes = 1 << 20;  // What oneTBB keeps, say.
  EXPECT_NEAR(kept_bytes_after(16 << 20), 16 << 20, kSlackBytes);
  EXPECT_NEAR(kept_bytes_after(16 << 20), 0, kSlackBytes);  // It is there already.
  EXPECT_NEAR(kept_bytes_after((16 << 20) + 4), -(16 << 20), kSlackBytes);
  EXPECT_NEAR(kept_bytes_after(40 << 20), 0, kSlackBytes);
}

// An input of 2 EiB of which nothing is there: it must not be touched before there is memory.
TEST(CpuEngineTest, AJobWithoutMemoryIsRefusedAndTheLaneGoesOn) {
  constexpr uint64_t kHalf = uint64_t{1} << 60;
  const auto engine = CreateCpuEngine(2).value();
  const auto lane = engine->CreateLane({4 * kHalf, 4 * kHalf, kMany, kMany}).value();
  const std::vector<int32_t> values = CountUp();
  const std::byte* const data = BytesOf(values).data;
  const std::array<HostSpan, 2> halves = {HostSpan{data, kHalf}, HostSpan{data, kHalf}};
  const HostSlices input{halves, 2 * kHalf};
  const auto array = ArrayDescription::Vector(ElementType::kInt32, 2 * kHalf / sizeof(int32_t));
  RunStatistics run;
  const auto expect_refused = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(status.message(), "not enough memory for the job");
    EXPECT_FALSE(IsAboveLimit(status));
  };
  ReductionSpec reduction;
  reduction.statistics = {Statistic::kSum};
  expect_refused(
      lane->RunReduction(PlanReduction(array, reduction).value(), input, {}, run).status());
  HistogramSpec histogram;
  histogram.bins = {IntegerBinsSpec{0, 10}};
  expect_refused(
      lane->RunHistogram(PlanHistogram(array, histogram, kMany).value(), {input, {}, {}}, {}, run)
          .status());
  const auto plan = PlanReduction(kVector, reduction).value();
  const auto sum = lane->RunReduction(plan, BytesOf(values), {}, run);
  ASSERT_TRUE(sum.ok()) << sum.status();
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
