// Lanes of the CUDA engine: staging, limits, cancellation, errors and concurrency. What the numbers
// are is judged by kernels/conformance.
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/contract/engine.h"
#include "kernels/cuda/lane/engine.h"
#include "kernels/cuda/lane/staging_ring.h"

namespace gridfold::kernels {
namespace {

using ::testing::StartsWith;

template <class T>
HostSpan SpanOf(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.data(), bytes.size()};
}

template <class T>
MutableHostSpan MutableSpanOf(std::vector<T>& values) {
  const auto bytes = std::as_writable_bytes(std::span(values));
  return {bytes.data(), bytes.size()};
}

constexpr LaneOptions kOptions{.input_bytes_max = 64 << 20,
                               .output_bytes_max = 64 << 20,
                               .bin_count_max = 1 << 16,
                               .group_count_max = 4 << 20};

class CudaLaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (CudaDeviceCount() == 0) GTEST_SKIP() << "there is no CUDA device";
    engine_ = CreateCudaEngine(0).value();
    lane_ = engine_->CreateLane(kOptions).value();
  }

  static ReductionPlan SumPlan(uint64_t count, GroupingSpec grouping = {}) {
    return PlanReduction(ArrayDescription::Vector(ElementType::kInt32, count),
                         {.statistics = {Statistic::kSum, Statistic::kCount},
                          .grouping = std::move(grouping)})
        .value();
  }

  absl::StatusOr<ReductionResult> Sum(Lane& lane, const std::vector<int32_t>& values,
                                      std::stop_token stop = {}) {
    return lane.RunReduction(SumPlan(values.size()), SpanOf(values), stop, statistics_);
  }

  // That the lane still gives right answers.
  void ExpectUsable(Lane& lane) {
    const absl::StatusOr<ReductionResult> result = Sum(lane, {1, 2, 39});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->columns[0].slots[0], 42u);
    EXPECT_TRUE(engine_->Healthy());
  }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Lane> lane_;
  RunStatistics statistics_;
};

TEST_F(CudaLaneTest, EngineDescribesItsDevice) {
  EXPECT_STREQ(engine_->name(), "cuda");
  EXPECT_FALSE(engine_->device().name.empty());
  EXPECT_GT(engine_->device().memory_bytes, 0u);
  EXPECT_GT(engine_->device().compute_units, 0u);
  EXPECT_THAT(engine_->device().compute_capability, testing::HasSubstr("."));
  EXPECT_TRUE(engine_->Healthy());
}

TEST_F(CudaLaneTest, ArraysOfSeveralStagingChunksArriveWhole) {
  // Whole chunks, and one element more or fewer.
  constexpr uint64_t kChunk = cuda::StagingRing::kSlotBytes / sizeof(int32_t);
  for (const uint64_t count : {kChunk - 1, kChunk, kChunk + 1, 3 * kChunk, 5 * kChunk + 1}) {
    std::vector<int32_t> values(count);
    std::iota(values.begin(), values.end(), 1);
    const absl::StatusOr<ReductionResult> result = Sum(*lane_, values);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->columns[0].slots[0], count * (count + 1) / 2);
    EXPECT_EQ(result->columns[1].slots[0], count);
  }
}

TEST_F(CudaLaneTest, ResultsOfSeveralStagingChunksArriveWhole) {
  // Two columns of slots, both longer than a chunk and not a multiple of it.
  constexpr uint64_t kGroups = cuda::StagingRing::kSlotBytes / sizeof(uint64_t) + 333;
  std::vector<uint64_t> offsets(kGroups + 1);
  for (uint64_t g = 0; g <= kGroups; ++g) offsets[g] = g + (g + 1) / 2;  // Of one and two, in turn.
  std::vector<int32_t> values(offsets.back());
  std::iota(values.begin(), values.end(), 0);
  const absl::StatusOr<ReductionResult> result = lane_->RunReduction(
      SumPlan(values.size(), {GroupingKind::kSegments, offsets}), SpanOf(values), {}, statistics_);
  ASSERT_TRUE(result.ok()) << result.status();
  for (uint64_t g = 0; g < kGroups; ++g) {
    const uint64_t sum =
        std::accumulate(values.begin() + offsets[g], values.begin() + offsets[g + 1], uint64_t{0});
    ASSERT_EQ(result->columns[0].slots[g], sum) << g;
    ASSERT_EQ(result->columns[1].slots[g], offsets[g + 1] - offsets[g]) << g;
  }
}

TEST_F(CudaLaneTest, ScansAndHistogramsRun) {
  const std::vector<int32_t> values(5'000'001, 2);
  const ArrayDescription array = ArrayDescription::Vector(ElementType::kInt32, values.size());
  const ScanPlan scan = PlanScan(array, ScanSpec{}).value();
  std::vector<int64_t> sums(values.size());
  ASSERT_TRUE(lane_->RunScan(scan, SpanOf(values), MutableSpanOf(sums), {}, statistics_).ok());
  for (uint64_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], static_cast<int64_t>(2 * i + 2));
  EXPECT_THAT(statistics_.strategy, StartsWith("scan/"));

  HistogramSpec spec;
  spec.bins = {IntegerBinsSpec{.first_value = 0, .bin_count = 4}};
  const HistogramPlan histogram = PlanHistogram(array, spec, kOptions.bin_count_max).value();
  const absl::StatusOr<HistogramResult> counted =
      lane_->RunHistogram(histogram, {SpanOf(values), {}, {}}, {}, statistics_);
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ(counted->channels[0].counts, (std::vector<uint64_t>{0, 0, values.size(), 0}));
  EXPECT_THAT(statistics_.strategy, StartsWith("histogram/"));
}

TEST_F(CudaLaneTest, StatisticsTellHowAJobRan) {
  const std::vector<int32_t> values(4'000'000, 1);
  ASSERT_TRUE(Sum(*lane_, values).ok());
  EXPECT_EQ(statistics_.strategy, "reduce/long/blocks");
  EXPECT_EQ(statistics_.bytes_read, values.size() * sizeof(int32_t));
  EXPECT_GT(statistics_.stage_in_time.count(), 0);
  EXPECT_GT(statistics_.kernel_time.count(), 0);
  EXPECT_GT(statistics_.stage_out_time.count(), 0);
}

TEST_F(CudaLaneTest, JobsLargerThanTheLaneAreResourceExhausted) {
  const LaneOptions small{
      .input_bytes_max = 4096, .output_bytes_max = 160, .bin_count_max = 16, .group_count_max = 10};
  const std::unique_ptr<Lane> lane = engine_->CreateLane(small).value();
  constexpr absl::StatusCode kExhausted = absl::StatusCode::kResourceExhausted;
  EXPECT_EQ(Sum(*lane, std::vector<int32_t>(1025)).status().code(), kExhausted);
  EXPECT_TRUE(Sum(*lane, std::vector<int32_t>(1024)).ok());

  const std::vector<int32_t> values(12);
  std::vector<uint64_t> offsets(12);
  std::iota(offsets.begin(), offsets.end(), 0);
  offsets.back() = values.size();
  EXPECT_EQ(lane->RunReduction(SumPlan(12, {GroupingKind::kSegments, offsets}), SpanOf(values), {},
                               statistics_)
                .status()
                .code(),
            kExhausted);

  const std::vector<int32_t> samples(1000);
  const ArrayDescription array = ArrayDescription::Vector(ElementType::kInt32, samples.size());
  std::vector<int64_t> sums(samples.size());
  EXPECT_EQ(lane->RunScan(PlanScan(array, ScanSpec{}).value(), SpanOf(samples), MutableSpanOf(sums),
                          {}, statistics_)
                .code(),
            kExhausted);
  HistogramSpec spec;
  spec.bins = {IntegerBinsSpec{.first_value = 0, .bin_count = 17}};
  EXPECT_EQ(lane->RunHistogram(PlanHistogram(array, spec, 100).value(), {SpanOf(samples), {}, {}},
                               {}, statistics_)
                .status()
                .code(),
            kExhausted);
  ExpectUsable(*lane);
}

TEST_F(CudaLaneTest, LanesThatNoDeviceHoldsAreResourceExhausted) {
  const LaneOptions huge{.input_bytes_max = uint64_t{1} << 46};
  EXPECT_EQ(engine_->CreateLane(huge).status().code(), absl::StatusCode::kResourceExhausted);
  ExpectUsable(*lane_);
}

TEST_F(CudaLaneTest, ErrorsOfTheDataLeaveTheLaneUsable) {
  const std::vector<int64_t> values(100, std::numeric_limits<int64_t>::max());
  const ReductionPlan plan =
      PlanReduction(ArrayDescription::Matrix(ElementType::kInt64, 50, 2),
                    {.statistics = {Statistic::kSum}, .grouping = {GroupingKind::kAxis1, {}}})
          .value();
  const absl::Status overflow = lane_->RunReduction(plan, SpanOf(values), {}, statistics_).status();
  EXPECT_EQ(overflow.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(overflow.message()), testing::HasSubstr("group 0"));
  EXPECT_GT(statistics_.kernel_time.count(), 0);
  ExpectUsable(*lane_);

  const ScanPlan scan =
      PlanScan(ArrayDescription::Vector(ElementType::kInt64, values.size()), ScanSpec{}).value();
  std::vector<int64_t> sums(values.size());
  EXPECT_EQ(lane_->RunScan(scan, SpanOf(values), MutableSpanOf(sums), {}, statistics_).code(),
            absl::StatusCode::kOutOfRange);
  ExpectUsable(*lane_);
}

TEST_F(CudaLaneTest, CancelledJobsEndAndLeaveTheLaneUsable) {
  const std::vector<int32_t> values(16'000'000, 1);
  std::stop_source before;
  before.request_stop();
  EXPECT_EQ(Sum(*lane_, values, before.get_token()).status().code(), absl::StatusCode::kCancelled);
  ExpectUsable(*lane_);

  // At any time: the answer is right or the job is cancelled, and the next job is not disturbed.
  for (int delay_us = 0; delay_us < 20'000; delay_us += 1000) {
    std::stop_source source;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
      source.request_stop();
    });
    const absl::StatusOr<ReductionResult> result = Sum(*lane_, values, source.get_token());
    if (result.ok()) {
      EXPECT_EQ(result->columns[0].slots[0], values.size());
    } else {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
    }
    ExpectUsable(*lane_);
  }
}

TEST_F(CudaLaneTest, LanesRunBesideEachOther) {
  constexpr int kThreads = 8;
  const LaneOptions options{.input_bytes_max = 24 << 20,
                            .output_bytes_max = 1 << 20,
                            .bin_count_max = 16,
                            .group_count_max = 16};
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const absl::StatusOr<std::unique_ptr<Lane>> lane = engine_->CreateLane(options);
        if (!lane.ok()) {
          ++wrong;
          return;
        }
        for (int job = 0; job < 20; ++job) {
          // Longer than a staging chunk, and different in every thread and job.
          const std::vector<int32_t> values(2'500'000 + 1000 * t + job, t + 1);
          RunStatistics statistics;
          const absl::StatusOr<ReductionResult> result =
              (*lane)->RunReduction(SumPlan(values.size()), SpanOf(values), {}, statistics);
          if (!result.ok() || result->columns[0].slots[0] != values.size() * (t + 1)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace gridfold::kernels
