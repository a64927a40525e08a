// What a lane promises besides numbers: limits, cancellation, errors that leave it usable, and what
// it says of a run.
#include <atomic>
#include <chrono>
#include <cmath>
#include <stop_token>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/engine_test.h"
#include "kernels/conformance/groupings.h"
#include "kernels/conformance/histogram_oracle.h"
#include "kernels/conformance/histogram_specs.h"
#include "kernels/conformance/reduction_oracle.h"
#include "kernels/conformance/reduction_specs.h"
#include "kernels/conformance/scan_oracle.h"
#include "kernels/conformance/test_data.h"
#include "kernels/contract/invalid_field.h"

namespace gridfold::kernels::conformance {
namespace {

class LaneTest : public EngineTest {};

constexpr absl::StatusCode kOk = absl::StatusCode::kOk;
constexpr absl::StatusCode kExhausted = absl::StatusCode::kResourceExhausted;

TEST_P(LaneTest, EngineDescribesItself) {
  EXPECT_STREQ(engine().engine().name(), GetParam().kind == EngineKind::kCpu ? "cpu" : "cuda");
  EXPECT_FALSE(engine().engine().device().name.empty());
  EXPECT_GT(engine().engine().device().memory_bytes, 0u);
  EXPECT_GT(engine().engine().device().compute_units, 0u);
  EXPECT_TRUE(engine().engine().Healthy());
}

TEST_P(LaneTest, RunsSayHowTheyWent) {
  const TestArray array = MakeVector(ElementType::kFloat32, 10'000, DataKind::kSmall, 151);
  ASSERT_TRUE(engine().Reduce(array, SpecOf({Statistic::kSum})).ok());
  EXPECT_EQ(engine().last_run().strategy.rfind("reduce/", 0), 0u) << engine().last_run().strategy;
  EXPECT_GE(engine().last_run().bytes_read, 40'000u);
  EXPECT_GE(engine().last_run().cluster_size, 1u);
  EXPECT_GT(engine().last_run().kernel_time.count(), 0);
  ASSERT_TRUE(engine().Scan(array, {}).ok());
  EXPECT_EQ(engine().last_run().strategy.rfind("scan/", 0), 0u) << engine().last_run().strategy;
  ASSERT_TRUE(engine().Histogram(array, SpecOfBins(Even(10, 0, 1))).ok());
  EXPECT_EQ(engine().last_run().strategy.rfind("histogram/", 0), 0u)
      << engine().last_run().strategy;
}

TEST_P(LaneTest, NothingIsTakenFromTheDeviceWhileJobsRun) {
  const TestArray array = MakeVector(ElementType::kFloat32, 100'000, DataKind::kSmall, 155);
  HistogramSpec weighted = SpecOfBins(Even(1000, -8, 8));
  weighted.weight_type = ElementType::kFloat32;
  ScanSpec exact;
  exact.exact = true;
  Engine& device = engine().engine();
  const EngineResources before = device.resources();
  for (int job = 0; job < 3; ++job) {
    ASSERT_TRUE(engine().Reduce(array, SpecOf({Statistic::kSum, Statistic::kProduct})).ok());
    ASSERT_TRUE(engine().Scan(array, {}).ok());
    ASSERT_TRUE(engine().Scan(array, exact).ok());
    ASSERT_TRUE(engine().Histogram(array, SpecOfBins(Even(10, 0, 1))).ok());
    ASSERT_TRUE(engine().Histogram(array, weighted, nullptr, &array).ok());
  }
  EXPECT_EQ(device.resources(), before);
}

TEST_P(LaneTest, LanesGiveBackWhatTheyHold) {
  Engine& device = engine().engine();
  const EngineResources before = device.resources();
  const bool on_device = GetParam().kind == EngineKind::kCuda;
  {
    const auto lane = device.CreateLane({.input_bytes_max = 1 << 20, .output_bytes_max = 1 << 20});
    ASSERT_TRUE(lane.ok()) << lane.status();
    const EngineResources held = device.resources();
    if (on_device) {
      EXPECT_GE(held.device_bytes, before.device_bytes + (2 << 20));
      EXPECT_GT(held.pinned_bytes, before.pinned_bytes);
      EXPECT_GT(held.device_allocations, before.device_allocations);
      EXPECT_GT(held.pinned_allocations, before.pinned_allocations);
      EXPECT_EQ(held.streams_created, before.streams_created + 2);
    } else {
      EXPECT_EQ(held, EngineResources{});
    }
  }
  EXPECT_EQ(device.resources().device_bytes, before.device_bytes);
  EXPECT_EQ(device.resources().pinned_bytes, before.pinned_bytes);
}

TEST_P(LaneTest, InputAtTheLimitAndOneElementPastIt) {
  EngineUnderTest small(GetParam(), {.input_bytes_max = 4000,
                                     .output_bytes_max = 8000,
                                     .bin_count_max = 100,
                                     .group_count_max = 10});
  const TestArray fits = MakeVector(ElementType::kInt32, 1000, DataKind::kSmall, 152);
  const TestArray too_large = MakeVector(ElementType::kInt32, 1001, DataKind::kSmall, 152);
  const HistogramSpec bins = SpecOfBins(Even(100, -8, 8));
  EXPECT_EQ(small.Reduce(fits, SpecOf({Statistic::kSum})).status().code(), kOk);
  EXPECT_EQ(small.Reduce(too_large, SpecOf({Statistic::kSum})).status().code(), kExhausted);
  // Not for want of memory: it fails whenever it comes.
  EXPECT_TRUE(IsAboveLimit(small.Reduce(too_large, SpecOf({Statistic::kSum})).status()));
  EXPECT_EQ(small.Scan(fits, {}).status().code(), kOk);
  EXPECT_EQ(small.Scan(too_large, {}).status().code(), kExhausted);
  EXPECT_EQ(small.Histogram(fits, bins).status().code(), kOk);
  EXPECT_EQ(small.Histogram(too_large, bins).status().code(), kExhausted);
  // Both arrays of a two-dimensional histogram count, and so do weights.
  HistogramSpec pairs = SpecOfBins(Even(10, -8, 8));
  pairs.two_dimensional = true;
  EXPECT_EQ(small.Histogram(fits, pairs, &fits).status().code(), kExhausted);
  HistogramSpec weighted = bins;
  weighted.weight_type = ElementType::kInt32;
  EXPECT_EQ(small.Histogram(fits, weighted, nullptr, &fits).status().code(), kExhausted);
  CheckReduction(fits, SpecOf({Statistic::kSum}), small.Reduce(fits, SpecOf({Statistic::kSum})));
}

TEST_P(LaneTest, OutputBinsAndGroupsAtTheLimitAndPastIt) {
  EngineUnderTest small(GetParam(), {.input_bytes_max = 4000,
                                     .output_bytes_max = 800,
                                     .bin_count_max = 100,
                                     .group_count_max = 10});
  const TestArray hundred = MakeVector(ElementType::kInt8, 100, DataKind::kSmall, 153);
  const TestArray more = MakeVector(ElementType::kInt8, 101, DataKind::kSmall, 153);
  EXPECT_EQ(small.Scan(hundred, {}).status().code(), kOk);
  EXPECT_EQ(small.Scan(more, {}).status().code(), kExhausted);
  EXPECT_EQ(small.Histogram(hundred, SpecOfBins(Even(100, 0, 1))).status().code(), kOk);
  EXPECT_EQ(small.Histogram(hundred, SpecOfBins(Even(101, 0, 1))).status().code(), kExhausted);
  ReductionSpec grouped = SpecOf({Statistic::kSum});
  grouped.grouping = Segments(OffsetsOf(std::vector<uint64_t>(10, 10)));
  EXPECT_EQ(small.Reduce(hundred, grouped).status().code(), kOk);
  grouped.grouping = Segments(OffsetsOf({10, 10, 10, 10, 10, 10, 10, 10, 10, 5, 5}));
  EXPECT_EQ(small.Reduce(hundred, grouped).status().code(), kExhausted);
  ScanSpec scan;
  scan.grouping = grouped.grouping;
  EXPECT_EQ(small.Scan(hundred, scan).status().code(), kExhausted);
}

TEST_P(LaneTest, StopRequestedBeforeTheRunCancelsIt) {
  const TestArray array = MakeVector(ElementType::kFloat32, 3'000'000, DataKind::kSmall, 154);
  TestArray output(array.description());
  std::stop_source stop;
  stop.request_stop();
  RunStatistics statistics;
  Lane& lane = engine().lane();
  const auto reduction = PlanReduction(array.description(), SpecOf({Statistic::kSum}));
  const auto scan = PlanScan(array.description(), {});
  const auto histogram = PlanHistogram(array.description(), SpecOfBins(Even(10, 0, 1)), 10);
  ASSERT_TRUE(reduction.ok() && scan.ok() && histogram.ok());
  EXPECT_EQ(
      lane.RunReduction(*reduction, array.span(), stop.get_token(), statistics).status().code(),
      absl::StatusCode::kCancelled);
  EXPECT_EQ(
      lane.RunScan(*scan, array.span(), output.mutable_span(), stop.get_token(), statistics).code(),
      absl::StatusCode::kCancelled);
  EXPECT_EQ(lane.RunHistogram(*histogram, {array.span(), {}, {}}, stop.get_token(), statistics)
                .status()
                .code(),
            absl::StatusCode::kCancelled);
  CheckReduction(array, SpecOf({Statistic::kSum}),
                 engine().Reduce(array, SpecOf({Statistic::kSum})));
}

TEST_P(LaneTest, StopRequestedAtAnyMomentGivesTheResultOrCancelled) {
  const TestArray array = MakeVector(ElementType::kInt32, 2'000'000, DataKind::kSmall, 155);
  const auto plan = PlanReduction(array.description(), SpecOfAll(array.description()));
  ASSERT_TRUE(plan.ok());
  const auto expected = engine().Reduce(array, SpecOf({Statistic::kSum}));
  ASSERT_TRUE(expected.ok());
  for (int delay_us = 0; delay_us < 2000; delay_us += 100) {
    std::stop_source stop;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
      stop.request_stop();
    });
    RunStatistics statistics;
    ReductionPlan one = *plan;
    one.statistics = {Statistic::kSum};
    const auto result =
        engine().lane().RunReduction(one, array.span(), stop.get_token(), statistics);
    if (result.ok()) {
      EXPECT_EQ(result->columns[0].slots, expected->columns[0].slots);
    } else {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
    }
  }
}

TEST_P(LaneTest, UsableAfterEveryKindOfError) {
  const TestArray large = TestArray::Vector(ElementType::kInt64, {0x1p62L, 0x1p62L, 0x1p62L});
  const TestArray nans = TestArray::Vector(ElementType::kFloat32, {NAN, NAN});
  ReductionSpec argmin = SpecOf({Statistic::kArgmin});
  argmin.nan_policy = NanPolicy::kIgnore;
  const TestArray good = MakeVector(ElementType::kInt64, 5000, DataKind::kSmall, 156);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(engine().Reduce(large, SpecOf({Statistic::kSum})).status().code(),
              absl::StatusCode::kOutOfRange);
    CheckScan(good, {}, engine().Scan(good, {}));
    EXPECT_EQ(engine().Scan(large, {}).status().code(), absl::StatusCode::kOutOfRange);
    CheckScan(good, {}, engine().Scan(good, {}));
    EXPECT_EQ(engine().Reduce(nans, argmin).status().code(), absl::StatusCode::kInvalidArgument);
    CheckReduction(good, SpecOf({Statistic::kSum}),
                   engine().Reduce(good, SpecOf({Statistic::kSum})));
    EXPECT_TRUE(engine().engine().Healthy());
  }
}

// State left in a lane by one job must not show in the next.
TEST_P(LaneTest, AlternatingJobsOfAllSizes) {
  std::vector<TestArray> arrays;
  for (const uint64_t size : {100'000, 3, 5000, 0, 70'000, 1}) {
    arrays.push_back(MakeVector(ElementType::kFloat32, size, DataKind::kSmall, size + 157));
  }
  for (int round = 0; round < 4; ++round) {
    for (const TestArray& array : arrays) {
      const HistogramSpec bins = SpecOfBins(Even(round % 2 == 0 ? 20 : 30'000, -2, 2));
      CheckHistogram({.samples = &array}, bins, engine().Histogram(array, bins));
      const ReductionSpec all = SpecOfAll(array.description());
      CheckReduction(array, all, engine().Reduce(array, all));
      CheckScan(array, {}, engine().Scan(array, {}));
    }
  }
}

TEST_P(LaneTest, SeveralLanesAtOnce) {
  constexpr int kLanes = 4;
  const LaneOptions options{.input_bytes_max = 1 << 20,
                            .output_bytes_max = 1 << 20,
                            .bin_count_max = 1 << 12,
                            .group_count_max = 1 << 10};
  const TestArray array = MakeVector(ElementType::kFloat32, 200'001, DataKind::kSmall, 158);
  const auto plan = PlanReduction(array.description(), SpecOfAll(array.description()));
  ASSERT_TRUE(plan.ok());
  const auto expected = engine().Reduce(array, SpecOfAll(array.description()));
  ASSERT_TRUE(expected.ok());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kLanes; ++i) {
      threads.emplace_back([&] {
        const auto lane = engine().engine().CreateLane(options);
        for (int round = 0; round < 20; ++round) {
          RunStatistics statistics;
          const auto result =
              lane.ok() ? (*lane)->RunReduction(*plan, array.span(), std::stop_token(), statistics)
                        : lane.status();
          bool same = result.ok();
          for (size_t s = 0; same && s < result->columns.size(); ++s) {
            same = SameSlots(result->columns[s], expected->columns[s]);
          }
          wrong += same ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Cpu, LaneTest, testing::Values(kCpuCase), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Cuda, LaneTest, testing::Values(kCudaCase), NameOfCase);

}  // namespace
}  // namespace gridfold::kernels::conformance
