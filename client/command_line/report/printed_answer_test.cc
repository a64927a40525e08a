// The whole text of answers that people read, line by line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/command_line/output/terminal.h"
#include "client/command_line/report/answer.h"
#include "client/command_line/report/answer_test_util.h"
#include "client/command_line/report/description_report.h"
#include "client/command_line/report/group_report.h"
#include "client/command_line/report/order_report.h"
#include "client/command_line/report/relation_report.h"
#include "client/command_line/report/scan_report.h"
#include "client/command_line/report/server_report.h"

namespace gridfold::client {
namespace {

constexpr TextStyle kAscii = {.width = 50, .unicode = false, .colour = false};
constexpr TextStyle kUnicode = {.width = 50, .unicode = true, .colour = false};

constexpr char kBegin[] = "x.npy: 1,000 float32 elements\n\n";
constexpr char kEnd[] =
    "\ncpu, some/kernel | kernel 20.0 us, 4.50 GB/s | server 150 us | round trip 1.50 ms\n";

template <typename Result>
Answer<Result> AnswerWith(Result result) {
  result.execution.engine = "cpu";
  result.execution.strategy = "some/kernel";
  result.execution.bytes_read = 90'000;
  result.execution.kernel_time = absl::Microseconds(20);
  result.execution.total_time = absl::Microseconds(150);
  return {.input = {.source = "x.npy", .element_type = ElementType::kFloat32, .shape = {1000}},
          .result = std::move(result),
          .round_trip_time = absl::Microseconds(1500)};
}

// What stands between the line of the input and that of the execution.
template <typename Print>
std::string Printed(Print print) {
  std::ostringstream out;
  print(out);
  const std::string text = out.str();
  const size_t frame = std::string(kBegin).size() + std::string(kEnd).size();
  EXPECT_THAT(text, testing::StartsWith(kBegin));
  EXPECT_THAT(text, testing::EndsWith(kEnd));
  if (text.size() < frame) return text;
  return text.substr(std::string(kBegin).size(), text.size() - frame);
}

std::string PrintedRelations(const RelateResult& result) {
  return Printed([&](auto& out) { PrintRelations(AnswerWith(result), kAscii, out); });
}

TEST(PrintedRelationsTest, OfTwoArrays) {
  RelateResult result;
  result.column_count = 2;
  result.observation_count = 12'345;
  result.entries = {{PairedStatistic::kDot, std::vector<int64_t>{-1234}},
                    {PairedStatistic::kMean, std::vector<double>{1.5, -2}}};
  EXPECT_EQ(PrintedRelations(result),
            "dot   -1,234    \n"
            "mean     1.5  -2\n"
            "\n"
            "observations: 12,345");
}

TEST(PrintedRelationsTest, OfColumnsAreAMatrix) {
  RelateResult result;
  result.column_count = 3;
  result.observation_count = 7;
  result.entries = {{PairedStatistic::kCovariance, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}},
                    {PairedStatistic::kVariance, std::vector<double>{10, 11, 12}}};
  EXPECT_EQ(PrintedRelations(result),
            "covariance 0   1   2   3\n"
            "covariance 1   4   5   6\n"
            "covariance 2   7   8   9\n"
            "variance      10  11  12\n"
            "\n"
            "observations: 7");
}

TEST(PrintedRelationsTest, OfOneColumnAreOneRow) {
  RelateResult result;
  result.column_count = 1;
  result.entries = {{PairedStatistic::kCorrelation, std::vector<double>{1}},
                    {PairedStatistic::kVariance, std::vector<double>{4}}};
  EXPECT_EQ(PrintedRelations(result), "correlation  1\nvariance     4\n\nobservations: 0");
}

std::string PrintedQuantiles(const QuantileResult& result, const QuantileOptions& options,
                             uint64_t rows_max) {
  return Printed(
      [&](auto& out) { PrintQuantiles(AnswerWith(result), options, rows_max, kAscii, out); });
}

TEST(PrintedQuantilesTest, OfAWholeArrayAreLines) {
  const QuantileResult result = {
      .quantile_values = {std::vector<double>{2.5}, std::vector<double>{9}},
      .rank_values = {std::vector<int64_t>{-1000}},
      .group_count = 1,
      .execution = {}};
  EXPECT_EQ(PrintedQuantiles(result, {.quantiles = {0.5, 0.99}, .ranks = {1234}}, 20),
            "0.5            2.5\n"
            "0.99             9\n"
            "rank 1,234  -1,000\n");
}

TEST(PrintedQuantilesTest, OfGroupsAreRowsUpToTheLimit) {
  const QuantileResult result = {.quantile_values = {std::vector<double>{1, 2, 3, 4, 5, 6}},
                                 .group_count = 6,
                                 .result_shape = {2, 3},
                                 .execution = {}};
  const QuantileOptions options = {.quantiles = {0.25}, .grouping = Axes{{0}}};
  EXPECT_EQ(PrintedQuantiles(result, options, 4),
            "group  0.25\n"
            " 0, 0     1\n"
            " 0, 1     2\n"
            " 0, 2     3\n"
            " 1, 0     4\n"
            "and 2 more groups (--rows 0 shows all)\n");
  for (const uint64_t all : {0, 6, 7}) {
    EXPECT_THAT(PrintedQuantiles(result, options, all), testing::EndsWith(" 1, 2     6\n"));
  }
  // One group of a matrix's axis is a group all the same.
  const QuantileResult one = {.quantile_values = {std::vector<double>{8}},
                              .group_count = 1,
                              .result_shape = {1},
                              .execution = {}};
  EXPECT_EQ(PrintedQuantiles(one, options, 4), "group  0.25\n    0     8\n");
}

std::string PrintedTop(const TopResult& result, const TopOptions& options, uint64_t rows_max) {
  return Printed([&](auto& out) { PrintTop(AnswerWith(result), options, rows_max, kAscii, out); });
}

TEST(PrintedTopTest, GroupsHaveAColumnOfTheirOwn) {
  const TopResult result = {.values = std::vector<double>{9, 8, 7, 6},
                            .indices = {3, 1000, 0, 2},
                            .group_count = 2,
                            .result_shape = {2, 2},
                            .execution = {}};
  EXPECT_EQ(PrintedTop(result, {.count = 4}, 3),
            "value  index\n"
            "    9      3\n"
            "    8  1,000\n"
            "    7      0\n"
            "and 1 more elements (--rows 0 shows all)\n");
  EXPECT_EQ(PrintedTop(result, {.count = 2, .grouping = Axes{{1}}}, 0),
            "group  value  index\n"
            "    0      9      3\n"
            "    0      8  1,000\n"
            "    1      7      0\n"
            "    1      6      2\n");
}

std::string PrintedGroups(const KeyedReductionResult& result, const KeyedReductionOptions& options,
                          uint64_t rows_max = 20) {
  return Printed(
      [&](auto& out) { PrintGroups(AnswerWith(result), options, rows_max, kAscii, out); });
}

KeyedReductionResult Groups(uint64_t count) {
  KeyedReductionResult result;
  result.group_count = count;
  std::vector<int64_t> sums;
  for (uint64_t i = 0; i < count; ++i) {
    result.counts.push_back(1000 + i);
    sums.push_back(10 * static_cast<int64_t>(i));
  }
  result.entries = {{Statistic::kSum, sums}};
  return result;
}

TEST(PrintedGroupsTest, FoundKeysAndRanges) {
  KeyedReductionResult result = Groups(3);
  EXPECT_EQ(PrintedGroups(result, {.groups = KeyRange{.first_key = -1, .key_count = 3}}),
            "key  elements  sum\n"
            " -1     1,000    0\n"
            "  0     1,001   10\n"
            "  1     1,002   20\n");
  EXPECT_THAT(PrintedGroups(result, {.groups = KeyRange{.key_count = 3,
                                                        .first_unsigned_key = uint64_t{1} << 63}}),
              testing::HasSubstr("\n9,223,372,036,854,775,810     1,002   20\n"));
  result.keys = std::vector<int64_t>{4, 7, 1100};
  EXPECT_EQ(PrintedGroups(result, {}, 2),
            "key  elements  sum\n"
            "  4     1,000    0\n"
            "  7     1,001   10\n"
            "and 1 more groups (--rows 0 shows all)\n");
  for (const uint64_t all : {0, 3}) {
    EXPECT_EQ(PrintedGroups(result, {}, all),
              "  key  elements  sum\n"
              "    4     1,000    0\n"
              "    7     1,001   10\n"
              "1,100     1,002   20\n");
  }
}

TEST(PrintedGroupsTest, BinsByTheirLowerEdges) {
  KeyedReductionResult result = Groups(4);
  result.bins = {{4, {0, 0.5, 1, 1.5, 2}}};
  result.overflow_count = 2;
  const KeyedReductionOptions options = {.groups = KeyBins{}};
  EXPECT_EQ(PrintedGroups(result, options),
            "bin from  elements  sum\n"
            "       0     1,000    0\n"
            "     0.5     1,001   10\n"
            "       1     1,002   20\n"
            "     1.5     1,003   30\n"
            "outside the bins: 0 below, 2 above, 0 NaN\n");
  result.bins = {{2, {0, 1, 2}}, {2, {}}};  // Integers have no edges.
  result.underflow_count = 1;
  result.overflow_count = 0;
  result.nan_count = 3000;
  EXPECT_EQ(PrintedGroups(result, options),
            "bin from  elements  sum\n"
            "    0, 0     1,000    0\n"
            "    0, 1     1,001   10\n"
            "    1, 0     1,002   20\n"
            "    1, 1     1,003   30\n"
            "outside the bins: 1 below, 0 above, 3,000 NaN\n");
}

TEST(PrintedScanTest, ResultsOnTheServerAndAnOddNumberOfRows) {
  ScanResult scan;
  scan.element_type = ElementType::kUint8;
  scan.shape = {7};
  scan.data = {1, 2, 3, 4, 5, 6, 7};
  const auto print = [&](uint64_t rows_max, const TextStyle& style) {
    std::ostringstream out;
    PrintScan(AnswerWith(scan), "", rows_max, style, out);
    return out.str();
  };
  EXPECT_THAT(print(5, kAscii), testing::HasSubstr("index  uint8\n"
                                                   "    0      1\n"
                                                   "    1      2\n"
                                                   "    2      3\n"
                                                   "    :      :\n"
                                                   "    5      6\n"
                                                   "    6      7\n\n"));
  EXPECT_THAT(print(1, kUnicode), testing::HasSubstr("    0      1\n    ⋮      ⋮\n\n"));
  scan.resident_array = ArrayDescription{"sums", ElementType::kUint8, {1000, 7}, 7000, {}, {}};
  scan.shape = {1000, 7};
  EXPECT_THAT(print(5, kAscii),
              testing::HasSubstr("\n\nthe server has 1,000 x 7 uint8 elements in array sums\n"));
}

TEST(PrintedDescriptionTest, OfNumbersAndText) {
  ReductionResult statistics;
  statistics.entries = {{Statistic::kCount, std::vector<uint64_t>{4000}},
                        {Statistic::kNanCount, std::vector<uint64_t>{1}},
                        {Statistic::kMin, std::vector<double>{-1}},
                        {Statistic::kMax, std::vector<double>{1234567.5}},
                        {Statistic::kMean, std::vector<double>{0.25}}};
  HistogramResult histogram;
  histogram.channels = {HistogramCounts{.counts = {8, 4, 1, 0}, .quantile_values = {1, 2, NAN}}};
  histogram.bins = {{4, {}}};
  ReductionResult truths;
  truths.entries = {{Statistic::kMin, std::vector<bool>{false}},
                    {Statistic::kMax, std::vector<bool>{true}}};
  const InputDescription input = {
      .source = "x.csv", .element_type = ElementType::kFloat64, .shape = {4000}};
  const InputDescription bools = {
      .source = "x.csv", .element_type = ElementType::kBool, .shape = {4000}};
  std::ostringstream out;
  PrintDescriptions(
      "x.csv",
      {{.name = "delay", .input = input, .statistics = statistics, .histogram = histogram},
       {.name = "carrier"},
       {.name = "", .input = bools, .statistics = truths}},
      kAscii, out);
  EXPECT_EQ(
      out.str(),
      "x.csv: 3 arrays\n"
      "\n"
      "name     type     count  missing    min          max  mean  deviation  25%  50%  75%  "
      "histogram\n"
      "delay    float64  4,000        1     -1  1.23457e+06  0.25               1    2  NaN  @=. \n"
      "carrier  text                                                                         \n"
      "x.csv    bool                     false         true                                  \n"
      "\n"
      "Quartiles and medians are read off 4 even bins: each is within one bin, (max - min) / 4, of "
      "the element of that rank.\n");
  out.str("");
  PrintDescriptions("y.csv", {{.name = "carrier"}}, kAscii, out);
  EXPECT_THAT(out.str(), testing::StartsWith("y.csv: 1 array\n\nname"));
  EXPECT_THAT(out.str(), testing::Not(testing::HasSubstr("Quartiles")));
}

TEST(SparklineTest, HeightsAreSharesOfTheLargest) {
  EXPECT_EQ(DrawSparkline({0, 1, 2, 3, 4, 5, 6, 7, 8}, 9, false), " .:-=+*#@");
  EXPECT_EQ(DrawSparkline({0, 1, 2, 3, 4, 5, 6, 7, 8}, 9, true), " ▁▂▃▄▅▆▇█");
  EXPECT_EQ(DrawSparkline({1, 1, 1, 1, 8, 8}, 3, false), "..@");
}

TEST(PrintedServerTest, EveryLine) {
  ServerInfo info;
  info.version = "1.2.3";
  info.engine = "cpu";
  info.devices = {{"EPYC", 0, 16, ""}, {"H100", 80'000'000'000, 132, "9.0"}};
  info.limits = LimitsOfServer();
  const ServerStatistics statistics = {.uptime = absl::Seconds(61.9),
                                       .jobs_accepted = 1'001,
                                       .jobs_refused = 1'002,
                                       .jobs_succeeded = 1'003,
                                       .jobs_failed = 1'004,
                                       .jobs_cancelled = 1'005,
                                       .bytes_processed = 1'060,
                                       .jobs_queued = 1'007,
                                       .bytes_queued = 1'080,
                                       .lanes_busy = 9,
                                       .lane_count = 10,
                                       .resident_array_count = 1'011,
                                       .resident_bytes = 1'120};
  std::ostringstream out;
  PrintServer("host:1", HealthStatus::kNotServing, info, statistics, kAscii, out);
  const std::string limits =
      "engine     cpu\n"
      "device 0   EPYC | 16 threads\n"
      "device 1   H100 | compute capability 9.0 | 132 multiprocessors | 80.0 GB\n"
      "message    up to 1.00 kB\n"
      "histogram  up to 2,000 bins\n"
      "groups     up to 3,000\n"
      "queue      up to 5,000 jobs, 6.00 kB\n"
      "arrays     up to 9,000, 7.00 kB\n"
      "regions    up to 11,000, 12.0 kB\n"
      "streams    up to 13,000 open, each with 14.0 kB waiting\n"
      "batch      up to 15,000 operations\n"
      "together   all devices, from 16.0 kB of input\n";
  EXPECT_EQ(out.str(),
            "server     host:1 | gridfold 1.2.3 | NOT_SERVING\n" + limits +
                "up for     1m1s\n"
                "jobs       1,003 answered, 1,004 failed, 1,005 cancelled, 1,002 refused\n"
                "processed  1.06 kB\n"
                "now        9 of 10 lanes busy, 1,007 jobs waiting (1.08 kB), 1,011 arrays "
                "(1.12 kB)\n");
  out.str("");
  PrintServer("host:1", HealthStatus::kServing, info, std::nullopt, kAscii, out);
  EXPECT_EQ(out.str(), "server     host:1 | gridfold 1.2.3 | SERVING\n" + limits);
}

}  // namespace
}  // namespace gridfold::client
