// What people read.
#include <sstream>
#include <string>
#include <vector>

#include "client/command_line/report/array_report.h"
#include "client/command_line/report/bin_rows.h"
#include "client/command_line/report/histogram_report.h"
#include "client/command_line/report/reduction_report.h"
#include "client/command_line/report/scan_report.h"
#include "client/command_line/report/server_report.h"
#include "client/command_line/report/watch_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const TextStyle kAscii = {.width = 50, .unicode = false, .colour = false};
const TextStyle kUnicode = {.width = 50, .unicode = true, .colour = false};

ExecutionStatistics MakeExecution() {
  ExecutionStatistics execution;
  execution.engine = "cuda";
  execution.strategy = "histogram/cluster";
  execution.cluster_size = 4;
  execution.bytes_read = 90'000;
  execution.kernel_time = absl::Microseconds(20);
  execution.total_time = absl::Microseconds(150);
  return execution;
}

template <typename Result>
Answer<Result> MakeAnswer(Result result) {
  result.execution = MakeExecution();
  return {.input = {.source = "delay.npy", .element_type = ElementType::kInt16, .shape = {1000}},
          .result = std::move(result),
          .round_trip_time = absl::Milliseconds(1.5)};
}

constexpr char kAsciiExecution[] =
    "cuda, histogram/cluster (clusters of 4) | kernel 20.0 us, 4.50 GB/s | server 150 us | "
    "round trip 1.50 ms\n";

TEST(ReductionReportTest, WholeArrayIsALineForEachStatistic) {
  ReductionResult result;
  result.group_count = 1;
  result.entries = {{Statistic::kSum, std::vector<int64_t>{1500159}},
                    {Statistic::kCount, std::vector<uint64_t>{200000}},
                    {Statistic::kMean, std::vector<double>{7.500795}},
                    {Statistic::kAll, std::vector<bool>{false}}};
  std::ostringstream out;
  PrintReduction(MakeAnswer(result), /*grouped=*/false, 20, kAscii, out);
  EXPECT_EQ(out.str(), std::string("delay.npy: 1,000 int16 elements\n"
                                   "\n"
                                   "sum    1,500,159\n"
                                   "count    200,000\n"
                                   "mean    7.500795\n"
                                   "all        false\n"
                                   "\n") +
                           kAsciiExecution);
}

TEST(ReductionReportTest, GroupsAreRowsUpToTheLimit) {
  ReductionResult result;
  result.group_count = 3;
  result.entries = {{Statistic::kSum, std::vector<int64_t>{1, -2, 3}},
                    {Statistic::kAny, std::vector<bool>{true, false, true}}};
  std::ostringstream out;
  PrintReduction(MakeAnswer(result), /*grouped=*/true, 2, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("group  sum    any\n"
                                   "    0    1   true\n"
                                   "    1   -2  false\n"
                                   "and 1 more groups"));
  std::ostringstream all;
  PrintReduction(MakeAnswer(result), /*grouped=*/true, 0, kAscii, all);
  EXPECT_THAT(all.str(), HasSubstr("    2    3   true\n\n"));
}

TEST(ReductionReportTest, AWholeArrayWithoutAGroupHasNoLines) {
  ReductionResult result;
  result.group_count = 0;
  result.entries = {{Statistic::kSum, std::vector<int64_t>{}}};
  std::ostringstream out;
  PrintReduction(MakeAnswer(result), /*grouped=*/false, 20, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("group  sum\n\n"));
}

ScanResult MakeScan(int count) {
  ScanResult scan;
  scan.element_type = ElementType::kUint8;
  scan.shape = {static_cast<uint64_t>(count)};
  for (int i = 0; i < count; ++i) scan.data.push_back(static_cast<char>(i * 10));
  return scan;
}

TEST(ScanReportTest, FirstAndLastResultsAreShown) {
  std::ostringstream out;
  PrintScan(MakeAnswer(MakeScan(6)), "", 3, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("index  uint8\n"
                                   "    0      0\n"
                                   "    1     10\n"
                                   "    :      :\n"
                                   "    5     50\n\n"));
  std::ostringstream all;
  PrintScan(MakeAnswer(MakeScan(3)), "", 3, kAscii, all);
  EXPECT_THAT(all.str(), HasSubstr("    0      0\n    1     10\n    2     20\n\n"));
  std::ostringstream none;
  PrintScan(MakeAnswer(MakeScan(0)), "", 3, kAscii, none);
  EXPECT_THAT(none.str(), HasSubstr("index  uint8\n\n"));
}

TEST(ScanReportTest, MatricesHaveTwoIndices) {
  ScanResult scan = MakeScan(4);
  scan.shape = {2, 2};
  std::ostringstream out;
  PrintScan(MakeAnswer(scan), "", 0, kUnicode, out);
  EXPECT_THAT(out.str(), HasSubstr(" 1, 0     20\n"));
}

TEST(ScanReportTest, OutputFileIsNamed) {
  std::ostringstream out;
  PrintScan(MakeAnswer(MakeScan(6)), "sums.npy", 3, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("\nwrote 6 uint8 elements to sums.npy\n"));
}

HistogramResult MakeHistogram() {
  HistogramResult result;
  result.channels = {{.counts = {1, 0, 3, 8},
                      .weight_sums = {},
                      .bin_indices = {},
                      .underflow_count = 5,
                      .overflow_count = 6000,
                      .nan_count = 7,
                      .quantile_values = {2.5}}};
  result.bins = {{4, {0, 1, 2, 3, 4}}};
  return result;
}

TEST(HistogramReportTest, BinsAreBars) {
  HistogramOptions options;
  options.quantiles = {0.5};
  std::ostringstream out;
  PrintHistogram(MakeAnswer(MakeHistogram()), options, 40, kAscii, out);
  EXPECT_EQ(out.str(), std::string("delay.npy: 1,000 int16 elements\n"
                                   "\n"
                                   "[0, 1)  1  #####\n"
                                   "[1, 2)  0\n"
                                   "[2, 3)  3  ###############\n"
                                   "[3, 4]  8  #######################################\n"
                                   "\n"
                                   "below the bins      5\n"
                                   "above the bins  6,000\n"
                                   "NaN                 7\n"
                                   "quantile 0.5      2.5\n"
                                   "\n") +
                           kAsciiExecution);
}

TEST(HistogramReportTest, NeighboursShareARowWhereThereAreTooMany) {
  std::ostringstream out;
  PrintHistogram(MakeAnswer(MakeHistogram()), {.quantiles = {0.5}}, 3, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("[0, 2)   1  "));
  EXPECT_THAT(out.str(), HasSubstr("[2, 4]  11  "));
  EXPECT_THAT(out.str(), HasSubstr("each row stands for 2 of the 4 bins (--rows 0 shows all)\n"));
}

TEST(HistogramReportTest, ChannelsAreNamed) {
  HistogramResult result = MakeHistogram();
  result.channels.push_back(result.channels[0]);
  result.bins.push_back(result.bins[0]);
  std::ostringstream out;
  PrintHistogram(MakeAnswer(result), {.quantiles = {0.5}}, 40, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("channel 0\n"));
  EXPECT_THAT(out.str(), HasSubstr("channel 1\n"));
}

TEST(HistogramReportTest, TwoDimensionsAreAMap) {
  HistogramResult result;
  result.channels = {HistogramCounts{.counts = {1, 0, 4, 2}}};
  result.bins = {{2, {0, 1, 2}}, {2, {5, 6, 7}}};
  HistogramOptions options;
  options.y_array = std::vector<float>();
  std::ostringstream out;
  PrintHistogram(MakeAnswer(result), options, 40, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("6 |    ::::|\n"
                                   "5 |....####|\n"
                                   "  0        2\n"));
}

TEST(BinRowsTest, IntegersAreNamedByTheirValues) {
  HistogramCounts counts;
  counts.counts = {1, 2, 3};
  const BinRows large = MakeBinRows(counts, {3, {}}, absl::int128(INT64_MAX), 0);
  EXPECT_EQ(large.rows[0].label, "9,223,372,036,854,775,807");
  EXPECT_EQ(large.rows[2].label, "9,223,372,036,854,775,809");
  const BinRows rows = MakeBinRows(counts, {3, {}}, -1, 0);
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[0].label, "-1");
  EXPECT_EQ(rows.rows[2].label, "1");
  const BinRows shared = MakeBinRows(counts, {3, {}}, -1, 2);
  ASSERT_EQ(shared.rows.size(), 2u);
  EXPECT_EQ(shared.rows[0].label, "-1 to 0");
  EXPECT_EQ(shared.rows[0].sum, 3);
  EXPECT_EQ(shared.rows[1].label, "1");
}

TEST(BinRowsTest, SparseBinsAreTheListedOnes) {
  HistogramCounts counts;
  counts.weight_sums = {0.5, 1.5, 2};
  counts.bin_indices = {1, 1'000'000, 1'000'001};
  const ResolvedBins bins = {uint64_t{1} << 40, {}};
  const BinRows rows = MakeBinRows(counts, bins, 0, 40);
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[1].label, "1,000,000");
  EXPECT_EQ(rows.rows[1].sum, 1.5);
  const BinRows shared = MakeBinRows(counts, bins, 0, 2);
  ASSERT_EQ(shared.rows.size(), 1u);
  EXPECT_EQ(shared.rows[0].sum, 4);
}

TEST(BinRowsTest, MapsAddUpNeighbours) {
  HistogramCounts counts;
  counts.counts = {1, 2, 3, 4, 5, 6};
  const HeatMap map = MakeBinMap(counts, {{2, {0, 1, 2}}, {3, {0, 1, 2, 3}}}, {0, 0}, 1, 2);
  EXPECT_EQ(map.x_count, 1u);
  EXPECT_EQ(map.y_count, 2u);
  EXPECT_THAT(map.values, ElementsAre(1 + 2 + 4 + 5, 3 + 6));
  EXPECT_THAT(map.y_labels, ElementsAre("0", "2"));
  EXPECT_EQ(map.x_first_label, "0");
  EXPECT_EQ(map.x_last_label, "2");
}

TEST(ServerReportTest, TellsWhatTheServerIs) {
  ServerInfo info;
  info.version = "1.2.3";
  info.engine = "cuda";
  info.devices = {{"NVIDIA H200", 150'000'000'000, 132, "9.0"}};
  info.limits.message_bytes_max = 1'000'000;
  info.limits.stream_count_max = 256;
  info.limits.stream_pending_bytes_max = 2'000'000;
  info.limits.batch_operations_max = 4096;
  ServerStatistics statistics;
  statistics.uptime = absl::Seconds(3661.5);
  statistics.jobs_succeeded = 1234;
  statistics.lane_count = 4;
  statistics.resident_array_count = 3;
  statistics.resident_bytes = 2'000'000;
  std::ostringstream out;
  PrintServer("host:1", HealthStatus::kServing, info, statistics, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("server     host:1 | gridfold 1.2.3 | SERVING\n"));
  EXPECT_THAT(out.str(), HasSubstr("NVIDIA H200 | compute capability 9.0 | 132 multiprocessors | "
                                   "150 GB\n"));
  EXPECT_THAT(out.str(), HasSubstr("1h1m1s"));
  EXPECT_THAT(out.str(), HasSubstr("1,234 answered"));
  EXPECT_THAT(out.str(), HasSubstr("0 of 4 lanes busy"));
  EXPECT_THAT(out.str(), HasSubstr("3 arrays (2.00 MB)"));
  EXPECT_THAT(out.str(), HasSubstr("up to 256 open, each with 2.00 MB waiting"));
  EXPECT_THAT(out.str(), HasSubstr("up to 4,096 operations"));
  EXPECT_THAT(out.str(), Not(HasSubstr("regions"))) << "they are off";
  EXPECT_THAT(out.str(), Not(HasSubstr("together"))) << "one device";
  info.limits.dealt_bytes_min = 16'000'000;
  info.limits.region_count_max = 64;
  info.limits.region_bytes_max = 3'000'000;
  PrintServer("host:1", HealthStatus::kServing, info, statistics, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr("up to 64, 3.00 MB"));
  EXPECT_THAT(out.str(), HasSubstr("all devices, from 16.0 MB of input"));
}

TEST(ServerReportTest, HealthHasTheStandardNames) {
  EXPECT_EQ(HealthName(HealthStatus::kUnknown), "UNKNOWN");
  EXPECT_EQ(HealthName(HealthStatus::kServing), "SERVING");
  EXPECT_EQ(HealthName(HealthStatus::kNotServing), "NOT_SERVING");
  EXPECT_EQ(HealthName(HealthStatus::kServiceUnknown), "SERVICE_UNKNOWN");
}

TEST(ArrayReportTest, ArraysAreATable) {
  const std::vector<ArrayDescription> arrays = {
      {"x", ElementType::kFloat32, {1000, 30}, 120'000, absl::Hours(1), absl::Milliseconds(2500)},
      {"a/long.name", ElementType::kInt8, {0}, 0, absl::Seconds(90), absl::Minutes(1), 3}};
  std::ostringstream out;
  PrintArrays(arrays, kAscii, out);
  EXPECT_EQ(out.str(),
            "name              shape  type        size  device  idle  expires after\n"
            "x            1,000 x 30  float32   120 kB       0    2s             1h\n"
            "a/long.name           0  int8     0 bytes       3    1m          1m30s\n");
  out.str("");
  ArrayDescription sharded = arrays[1];
  sharded.shards = {{3, 0, 1}, {5, 1, 1}};
  PrintArrays({&sharded, 1}, kAscii, out);
  EXPECT_THAT(out.str(), HasSubstr(" 3,5 "));
  out.str("");
  PrintArrays({}, kAscii, out);
  EXPECT_EQ(out.str(), "no arrays\n");
}

ServerStatistics StatisticsAt(int second, uint64_t jobs) {
  ServerStatistics statistics;
  statistics.uptime = absl::Seconds(second);
  statistics.jobs_succeeded = jobs;
  return statistics;
}

TEST(WatchReportTest, RatesAreThoseBetweenLooks) {
  WatchHistory history({}, "host:1");
  const absl::Time start = absl::UnixEpoch();
  history.Add(start, HealthStatus::kServing, StatisticsAt(100, 500));
  EXPECT_TRUE(history.spans().empty());
  history.Add(start + absl::Seconds(2), HealthStatus::kServing, StatisticsAt(102, 600));
  ASSERT_EQ(history.spans().size(), 1u);
  EXPECT_EQ(history.spans()[0].jobs_per_second, 50);
  // Restarted: its counters begin again.
  history.Add(start + absl::Seconds(4), HealthStatus::kServing, StatisticsAt(1, 10));
  EXPECT_EQ(history.spans().size(), 1u);
  history.AddSilence(absl::UnavailableError("gone"));
  EXPECT_THAT(WatchLines(history, kAscii),
              ElementsAre("host:1 | gridfold  |  | UNKNOWN", "gone", testing::_, testing::_,
                          testing::_, testing::_, testing::_, testing::_, testing::_));
  // Over all the time that nobody answered.
  history.Add(start + absl::Seconds(14), HealthStatus::kServing, StatisticsAt(11, 30));
  EXPECT_EQ(history.spans().back().jobs_per_second, 2);
  EXPECT_THAT(WatchLines(history, kAscii).back(), testing::StartsWith("busy lanes"));
  EXPECT_THAT(WatchLines(history, kAscii), testing::Contains("answers     @."));
}

}  // namespace
}  // namespace gridfold::client
