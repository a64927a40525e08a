#include "client/load/measure/latency_histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gridfold::load {
namespace {

// The definition, on all values.
int64_t ExactQuantile(std::vector<int64_t> values, double quantile) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(quantile * static_cast<double>(values.size()));
  return values[std::max<size_t>(1, static_cast<size_t>(rank)) - 1];
}

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size_pages = 0;
  uint64_t resident_pages = 0;
  file >> size_pages >> resident_pages;
  return resident_pages * 4096;
}

// Both ends and the count of each bucket that holds something.
std::vector<std::vector<int64_t>> HeldBy(const LatencyHistogram& histogram) {
  std::vector<std::vector<int64_t>> held;
  for (const LatencyHistogram::Bucket& bucket : histogram.buckets()) {
    held.push_back({bucket.lower_ns, bucket.upper_ns, static_cast<int64_t>(bucket.count)});
  }
  return held;
}

TEST(LatencyHistogramTest, EmptyHasNoTimes) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.QuantileNs(0.5), 0);
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), 0);
  EXPECT_EQ(histogram.mean_ns(), 0);
  EXPECT_TRUE(histogram.buckets().empty());
}

TEST(LatencyHistogramTest, EveryTimeFallsIntoABucketThatHoldsItAndIsNarrow) {
  std::vector<int64_t> times = {0, 1, 127, 128, 129, 255, 256, 257, 511, 512};
  for (int bit = 0; bit < 42; ++bit) {
    for (int64_t near : {-1, 0, 1}) times.push_back((int64_t{1} << bit) + near);
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(0, 41.99);
  for (int i = 0; i < 20000; ++i) {
    times.push_back(static_cast<int64_t>(std::exp2(exponent(random))));
  }
  for (const int64_t time_ns : times) {
    LatencyHistogram histogram;
    histogram.Record(time_ns);
    const std::vector<LatencyHistogram::Bucket> buckets = histogram.buckets();
    ASSERT_EQ(buckets.size(), 1u);
    ASSERT_LE(buckets[0].lower_ns, time_ns);
    ASSERT_GT(buckets[0].upper_ns, time_ns);
    ASSERT_LE(static_cast<double>(buckets[0].upper_ns - 1 - buckets[0].lower_ns),
              0.008 * static_cast<double>(time_ns));
  }
}

TEST(LatencyHistogramTest, QuantilesAreWithinOnePercent) {
  std::mt19937_64 random(2);
  const std::vector<double> quantiles = {0, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};
  for (const double spread : {0.0, 0.1, 1.0, 3.0}) {
    std::lognormal_distribution<double> distribution(std::log(1e5), spread);
    LatencyHistogram histogram;
    std::vector<int64_t> values;
    for (int i = 0; i < 20001; ++i) {
      values.push_back(static_cast<int64_t>(distribution(random)));
      histogram.Record(values.back());
    }
    for (const double quantile : quantiles) {
      const auto exact = static_cast<double>(ExactQuantile(values, quantile));
      EXPECT_NEAR(static_cast<double>(histogram.QuantileNs(quantile)), exact, 0.01 * exact)
          << "spread " << spread << " quantile " << quantile;
    }
    EXPECT_EQ(histogram.QuantileNs(1), *std::max_element(values.begin(), values.end()));
  }
}

TEST(LatencyHistogramTest, MergingEqualsRecordingTogether) {
  LatencyHistogram together;
  LatencyHistogram left;
  LatencyHistogram right;
  std::mt19937_64 random(3);
  for (int i = 0; i < 10000; ++i) {
    const auto time_ns = static_cast<int64_t>(random() % 100'000'000);
    together.Record(time_ns);
    (i % 3 == 0 ? left : right).Record(time_ns);
  }
  left.Merge(right);
  left.Merge(LatencyHistogram());
  EXPECT_EQ(left.count(), together.count());
  EXPECT_EQ(left.min_ns(), together.min_ns());
  EXPECT_EQ(left.max_ns(), together.max_ns());
  EXPECT_NEAR(left.mean_ns(), together.mean_ns(), 1);
  for (const double quantile : {0.01, 0.5, 0.99}) {
    EXPECT_EQ(left.QuantileNs(quantile), together.QuantileNs(quantile));
  }
}

// Below 128 ns each time has a bucket of its own, the first of which is that of 0.
TEST(LatencyHistogramTest, EveryBucketCountsFromTheFirstToTheLast) {
  LatencyHistogram histogram;
  histogram.Record(0, 3);
  histogram.Record(1, 2);
  histogram.Record(127, 4);
  histogram.Record(5000);
  histogram.Record(77, 0);
  EXPECT_EQ(histogram.count(), 10u);
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), 5000);
  EXPECT_EQ(histogram.mean_ns(), 551);
  for (const auto& [quantile, time_ns] : std::vector<std::pair<double, int64_t>>{
           {0, 0}, {0.3, 0}, {0.31, 1}, {0.5, 1}, {0.51, 127}, {0.9, 127}, {0.91, 5000}}) {
    EXPECT_EQ(histogram.QuantileNs(quantile), time_ns) << quantile;
  }
  EXPECT_EQ(HeldBy(histogram), (std::vector<std::vector<int64_t>>{
                                   {0, 1, 3}, {1, 2, 2}, {127, 128, 4}, {4992, 5024, 1}}));
}

// The middle of the bucket, unless all times lie on one side of it.
TEST(LatencyHistogramTest, QuantilesAreMiddlesOfBucketsWithinAllTimes) {
  const auto median = [](int64_t twice_ns, int64_t once_ns) {
    LatencyHistogram histogram;
    histogram.Record(twice_ns, 2);
    histogram.Record(once_ns);
    return histogram.QuantileNs(0.5);
  };
  EXPECT_EQ(median(5000, 6000), 5007);
  EXPECT_EQ(median(5010, 6000), 5010);
  EXPECT_EQ(median(4995, 4996), 4996);
}

TEST(LatencyHistogramTest, MergingAddsUpEveryBucket) {
  LatencyHistogram histogram;
  histogram.Record(127);
  LatencyHistogram other;
  for (const int64_t time_ns : {int64_t{0}, int64_t{127}, LatencyHistogram::kTrackedMaxNs - 1}) {
    other.Record(time_ns, 2);
  }
  histogram.Merge(other);
  EXPECT_EQ(HeldBy(histogram),
            (std::vector<std::vector<int64_t>>{
                {0, 1, 2}, {127, 128, 3}, {255LL << 34, LatencyHistogram::kTrackedMaxNs, 2}}));
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), LatencyHistogram::kTrackedMaxNs - 1);
  EXPECT_EQ(histogram.QuantileNs(0.01), 0);
  LatencyHistogram copy;
  copy.Merge(histogram);
  EXPECT_EQ(HeldBy(copy), HeldBy(histogram));
  EXPECT_EQ(copy.mean_ns(), histogram.mean_ns());
}

TEST(LatencyHistogramTest, TimesBeyondTheEndAndBelowZeroAreKept) {
  LatencyHistogram histogram;
  histogram.Record(-5);
  histogram.Record(LatencyHistogram::kTrackedMaxNs * 8);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.min_ns(), 0);
  EXPECT_EQ(histogram.max_ns(), LatencyHistogram::kTrackedMaxNs * 8);
  EXPECT_EQ(histogram.QuantileNs(1), LatencyHistogram::kTrackedMaxNs * 8);
}

TEST(LatencyHistogramTest, MemoryIsFlatOverAHundredMillionTimes) {
  LatencyHistogram histogram;
  std::mt19937_64 random(4);
  const uint64_t before = ResidentBytes();
  for (int i = 0; i < 100'000'000; ++i) {
    // From 1 µs to about two minutes, evenly on a logarithmic scale as far as bits go.
    histogram.Record(static_cast<int64_t>(1000 + (random() >> (27 + random() % 30))));
  }
  EXPECT_EQ(histogram.count(), 100'000'000u);
  EXPECT_LT(ResidentBytes(), before + (uint64_t{1} << 20));
}

}  // namespace
}  // namespace gridfold::load
