// What recording a call adds to the counters, and that nothing is lost where threads record at
// once.
#include "server/calls/call_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"

namespace gridfold::server {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

uint64_t CountOf(const DurationHistogram& histogram) {
  const DurationHistogram::Snapshot snapshot = histogram.Read();
  return std::accumulate(snapshot.counts.begin(), snapshot.counts.end(), uint64_t{0});
}

TEST(DurationHistogramTest, BoundsAreOneTwoAndFiveOfEachDecade) {
  const auto& bounds = DurationHistogram::kBounds;
  EXPECT_EQ(bounds[0], microseconds(10));
  EXPECT_EQ(bounds[1], microseconds(20));
  EXPECT_EQ(bounds[2], microseconds(50));
  EXPECT_EQ(bounds[3], microseconds(100));
  EXPECT_EQ(bounds[6], milliseconds(1));
  EXPECT_EQ(bounds[20], seconds(50));
  EXPECT_EQ(bounds[21], seconds(100));
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
}

TEST(DurationHistogramTest, ABoundBelongsToItsBucket) {
  DurationHistogram histogram;
  histogram.Observe(nanoseconds(0));
  histogram.Observe(microseconds(10));
  histogram.Observe(microseconds(10) + nanoseconds(1));
  histogram.Observe(seconds(100));
  histogram.Observe(seconds(100) + nanoseconds(1));
  histogram.Observe(std::chrono::hours(1));
  const DurationHistogram::Snapshot snapshot = histogram.Read();
  EXPECT_EQ(snapshot.counts[0], 2u);
  EXPECT_EQ(snapshot.counts[1], 1u);
  EXPECT_EQ(snapshot.counts[21], 1u);
  EXPECT_EQ(snapshot.counts[22], 2u);
  EXPECT_EQ(CountOf(histogram), 6u);
  EXPECT_EQ(snapshot.sum, microseconds(20) + seconds(3800) + nanoseconds(2));
}

TEST(NameTableTest, NumbersNamesUntilItIsFull) {
  NameTable<3> table;
  EXPECT_EQ(table.IndexOf("a"), 0u);
  EXPECT_EQ(table.IndexOf("b"), 1u);
  EXPECT_EQ(table.IndexOf("a"), 0u);
  EXPECT_EQ(table.IndexOf("c"), 2u);
  EXPECT_EQ(table.IndexOf("d"), 3u);
  EXPECT_EQ(table.IndexOf("e"), 3u);
  EXPECT_EQ(table.IndexOf("c"), 2u);
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table[1], "b");
}

TEST(NameTableTest, ThreadsAgree) {
  NameTable<8> table;
  std::array<std::array<size_t, 16>, 4> indices;
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < indices.size(); ++t) {
      threads.emplace_back([&, t] {
        // Every thread begins with another name.
        for (size_t i = 0; i < 16; ++i) {
          const size_t name = (i + 4 * t) % 16;
          indices[t][name] = table.IndexOf(absl::StrCat("name ", name));
        }
      });
    }
  }
  EXPECT_EQ(table.size(), 8u);
  std::multiset<size_t> numbers(indices[0].begin(), indices[0].end());
  for (size_t index = 0; index < 8; ++index) EXPECT_EQ(numbers.count(index), 1u) << index;
  EXPECT_EQ(numbers.count(8), 8u);
  for (const auto& of_thread : indices) EXPECT_EQ(of_thread, indices[0]);
}

// A call that a lane has run.
CallReport RunReport(const std::string& strategy) {
  CallReport report(Rpc::kScanArray, 1);
  report.request_bytes = 1000;
  report.element_type = kernels::ElementType::kBfloat16;
  report.admission_time = microseconds(15);
  report.queue_time = microseconds(150);
  report.run.strategy = strategy;
  report.run.bytes_read = 900;
  report.run.stage_in_time = microseconds(1);
  report.run.kernel_time = milliseconds(3);
  report.run.stage_out_time = seconds(2);
  return report;
}

// As text, so that a failure shows what there is.
std::vector<std::string> CallsOf(const CallMetrics& metrics) {
  std::vector<std::string> calls;
  for (const CallMetrics::CallCount& count : metrics.CountCalls()) {
    calls.push_back(absl::StrCat(RpcName(count.rpc), " ", absl::StatusCodeToString(count.code), " ",
                                 count.element_type, " ", count.strategy, " ", count.calls));
  }
  return calls;
}

TEST(CallMetricsTest, ACallThatRanCountsInEveryStage) {
  CallMetrics metrics;
  metrics.Record(RunReport("scan/look-back"), absl::StatusCode::kOk, 2000);
  metrics.Record(RunReport("scan/look-back"), absl::StatusCode::kOk, 2000);
  EXPECT_THAT(CallsOf(metrics), testing::ElementsAre("ScanArray OK bfloat16 scan/look-back 2"));
  const CallMetrics::RpcMetrics& scan = metrics.rpc(Rpc::kScanArray);
  EXPECT_EQ(scan.request_bytes, 2000u);
  EXPECT_EQ(scan.response_bytes, 4000u);
  EXPECT_EQ(scan.kernel_read_bytes, 1800u);
  EXPECT_EQ(CountOf(scan.duration), 2u);
  const std::vector<nanoseconds> sums = {microseconds(30), microseconds(300), microseconds(2),
                                         milliseconds(6), seconds(4)};
  for (size_t i = 0; i < sums.size(); ++i) {
    SCOPED_TRACE(CallMetrics::kStageNames[i]);
    EXPECT_EQ(CountOf(scan.stages[i]), 2u);
    EXPECT_EQ(scan.stages[i].Read().sum, sums[i]);
  }
  EXPECT_EQ(CountOf(metrics.rpc(Rpc::kReduceArray).duration), 0u);
}

TEST(CallMetricsTest, ARefusedCallHasADurationAndNoStages) {
  CallMetrics metrics;
  metrics.Record(CallReport(Rpc::kReduceArray, 1), absl::StatusCode::kResourceExhausted, 0);
  EXPECT_THAT(CallsOf(metrics), testing::ElementsAre("ReduceArray RESOURCE_EXHAUSTED none none 1"));
  const CallMetrics::RpcMetrics& reduce = metrics.rpc(Rpc::kReduceArray);
  EXPECT_EQ(CountOf(reduce.duration), 1u);
  for (const DurationHistogram& stage : reduce.stages) EXPECT_EQ(CountOf(stage), 0u);
}

TEST(CallMetricsTest, ADroppedJobWasAdmittedAndNoMore) {
  CallMetrics metrics;
  CallReport report(Rpc::kComputeHistogram, 1);
  report.admission_time = microseconds(1);
  metrics.Record(report, absl::StatusCode::kCancelled, 0);
  const CallMetrics::RpcMetrics& histogram = metrics.rpc(Rpc::kComputeHistogram);
  EXPECT_EQ(CountOf(histogram.stages[0]), 1u);
  EXPECT_EQ(CountOf(histogram.stages[1]), 0u);
}

TEST(CallMetricsTest, EveryCombinationHasAPlaceOfItsOwn) {
  CallMetrics metrics;
  for (size_t rpc = 0; rpc < kRpcCount; ++rpc) {
    for (int code = 0; code <= 16; ++code) {
      for (int type = 0; type <= kernels::kElementTypeCount; ++type) {
        for (const char* strategy : {"", "first", "second"}) {
          CallReport report(static_cast<Rpc>(rpc), 1);
          if (type < kernels::kElementTypeCount) {
            report.element_type = static_cast<kernels::ElementType>(type);
          }
          report.run.strategy = strategy;
          metrics.Record(report, static_cast<absl::StatusCode>(code), 0);
        }
      }
    }
  }
  const std::vector<std::string> calls = CallsOf(metrics);
  EXPECT_EQ(calls.size(), kRpcCount * 17 * (kernels::kElementTypeCount + 1) * 3);
  EXPECT_EQ(std::set<std::string>(calls.begin(), calls.end()).size(), calls.size());
  EXPECT_THAT(calls, testing::Each(testing::EndsWith(" 1")));
  EXPECT_THAT(calls, testing::Contains("MergeAccumulators UNAUTHENTICATED float64 second 1"));
}

TEST(CallMetricsTest, StrategiesPastTheTableAreCountedTogether) {
  CallMetrics metrics;
  for (uint32_t i = 0; i < kMetricStrategyCountMax + 5; ++i) {
    metrics.Record(RunReport(absl::StrCat("strategy ", i)), absl::StatusCode::kOk, 0);
  }
  const std::vector<std::string> calls = CallsOf(metrics);
  EXPECT_EQ(calls.size(), kMetricStrategyCountMax + 1);
  EXPECT_THAT(calls, testing::Contains("ScanArray OK bfloat16 other 5"));
}

TEST(CallMetricsTest, NothingIsLostBetweenThreads) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kCallsPerThread = 20'000;
  CallMetrics metrics;
  {
    std::vector<std::jthread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&metrics, report = RunReport("scan/exact")] {
        for (uint64_t i = 0; i < kCallsPerThread; ++i) {
          metrics.Record(report, absl::StatusCode::kOk, 7);
        }
      });
    }
  }
  constexpr uint64_t kCalls = kThreads * kCallsPerThread;
  EXPECT_THAT(CallsOf(metrics),
              testing::ElementsAre(absl::StrCat("ScanArray OK bfloat16 scan/exact ", kCalls)));
  const CallMetrics::RpcMetrics& scan = metrics.rpc(Rpc::kScanArray);
  EXPECT_EQ(scan.response_bytes, 7 * kCalls);
  EXPECT_EQ(CountOf(scan.duration), kCalls);
  EXPECT_EQ(scan.stages[3].Read().sum, milliseconds(3) * kCalls);
}

}  // namespace
}  // namespace gridfold::server
