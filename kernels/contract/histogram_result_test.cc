#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "kernels/contract/histogram.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

PlannedBins Even(double lower, double upper, uint64_t count) {
  PlannedBins bins;
  bins.bin_count = count;
  bins.lower_bound = lower;
  bins.upper_bound = upper;
  return bins;
}

PlannedBins Automatic(uint64_t count) {
  PlannedBins bins;
  bins.bin_count = count;
  bins.automatic_range = true;
  return bins;
}

TEST(EdgesTest, AreThoseOfLinspace) {
  // numpy.linspace(-1, 1, 4) and numpy.linspace(0, 0.7, 8).
  EXPECT_THAT(EdgesOf(Even(-1, 1, 3)),
              ElementsAre(-1.0, -0.33333333333333337, 0.33333333333333326, 1.0));
  EXPECT_THAT(EdgesOf(Even(0, 0.7, 7)),
              ElementsAre(0.0, 0.09999999999999999, 0.19999999999999998, 0.3, 0.39999999999999997,
                          0.49999999999999994, 0.6, 0.7));
}

TEST(EdgesTest, OfTablesAreTheTableAndOfIntegersNone) {
  PlannedBins table;
  table.kind = BinKind::kTable;
  table.bin_count = 2;
  table.edges = {1, 2, 4};
  EXPECT_THAT(EdgesOf(table), ElementsAre(1, 2, 4));
  PlannedBins integers;
  integers.kind = BinKind::kInteger;
  integers.bin_count = 5;
  EXPECT_THAT(EdgesOf(integers), IsEmpty());
}

TEST(AutomaticRangeTest, FollowsTheSamples) {
  PlannedBins bins = Automatic(4);
  ASSERT_TRUE(ResolveAutomaticRange(-1.5, 6.5, bins).ok());
  EXPECT_FALSE(bins.automatic_range);
  EXPECT_EQ(bins.lower_bound, -1.5);
  EXPECT_EQ(bins.upper_bound, 6.5);
}

TEST(AutomaticRangeTest, WidensAPointAndInventsTheRangeOfNothing) {
  PlannedBins bins = Automatic(4);
  ASSERT_TRUE(ResolveAutomaticRange(3, 3, bins).ok());
  EXPECT_EQ(bins.lower_bound, 2.5);
  EXPECT_EQ(bins.upper_bound, 3.5);
  bins = Automatic(4);
  ASSERT_TRUE(ResolveAutomaticRange({}, {}, bins).ok());
  EXPECT_EQ(bins.lower_bound, 0);
  EXPECT_EQ(bins.upper_bound, 1);
}

bool Increase(const std::vector<double>& edges) {
  return std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end();
}

// Whatever the samples, there are bounds around them, edges that differ, and nothing infinite.
TEST(AutomaticRangeTest, AnyRangeHasEdges) {
  std::mt19937_64 random(3);
  std::vector<double> samples = {
      0.0,  5e-324, 1e-320, 0x1p-1022, 1.0,   0x1p53,   1e15,
      1e16, 1.7e18, 0x1p63, 0x1p64,    1e300, kLargest, 3.4028234663852886e38};
  for (int i = 0; i < 40; ++i) {
    const double x = std::bit_cast<double>(random());
    if (std::isfinite(x)) samples.push_back(std::fabs(x));
  }
  for (const double magnitude : samples) {
    for (const double x : {magnitude, -magnitude}) {
      for (const int steps : {0, 1, 2, 7, 1000}) {
        double y = x;
        for (int i = 0; i < steps; ++i) y = std::nextafter(y, kLargest);
        for (const uint64_t count : {1, 2, 3, 10, 1000, 65'537}) {
          PlannedBins bins = Automatic(count);
          ASSERT_TRUE(ResolveAutomaticRange(x, y, bins).ok()) << x << " to " << y;
          const std::vector<double> edges = EdgesOf(bins);
          ASSERT_TRUE(Increase(edges)) << x << " to " << y << ", " << count << " bins";
          ASSERT_LE(edges.front(), x);
          ASSERT_GE(edges.back(), y);
          ASSERT_TRUE(std::isfinite(edges.front()) && std::isfinite(edges.back()));
        }
      }
    }
  }
}

TEST(AutomaticRangeTest, IsWidenedByTheLeastPowerOfTwoThatWillDo) {
  struct Case {
    double smallest;
    double largest;
    uint64_t count;
    double lower;
    double upper;
  };
  for (const Case& c :
       {// NumPy's rule where it has one.
        Case{1e15, 1e15, 3, 1e15 - 0.5, 1e15 + 0.5}, Case{1e15, 1e15, 10, 1e15 - 1, 1e15 + 1},
        // One bin from a double to the next, or of two where they are nearer below.
        Case{0x1p53, 0x1p53, 1, 0x1p53 - 1, 0x1p53},
        Case{0x1p53, 0x1p53, 2, 0x1p53 - 2, 0x1p53 + 2},
        Case{1.0, std::nextafter(1.0, 2.0), 1, 1.0, std::nextafter(1.0, 2.0)},
        // No further than the largest number.
        Case{kLargest, kLargest, 1, std::nextafter(kLargest, 0), kLargest},
        Case{-kLargest, -kLargest, 2, -kLargest, -kLargest + 0x1p972},
        Case{-kLargest, kLargest, 4, -kLargest, kLargest}}) {
    PlannedBins bins = Automatic(c.count);
    ASSERT_TRUE(ResolveAutomaticRange(c.smallest, c.largest, bins).ok());
    EXPECT_EQ(bins.lower_bound, c.lower) << c.smallest << ", " << c.count;
    EXPECT_EQ(bins.upper_bound, c.upper) << c.smallest << ", " << c.count;
    EXPECT_TRUE(Increase(EdgesOf(bins)));
  }
}

TEST(AutomaticRangeTest, OfZerosOfEitherSignIsTheSame) {
  PlannedBins bins = Automatic(4);
  ASSERT_TRUE(ResolveAutomaticRange(-0.0, 1, bins).ok());
  EXPECT_FALSE(std::signbit(bins.lower_bound));
}

TEST(AutomaticRangeTest, AsManyBinsAsThereMayBe) {
  for (const double x : {1.7e18, -kLargest, 5e-324}) {
    PlannedBins bins = Automatic(uint64_t{1} << 24);
    ASSERT_TRUE(ResolveAutomaticRange(x, x, bins).ok());
    EXPECT_TRUE(Increase(EdgesOf(bins)));
  }
}

// Edges of a range that float64 does not hold are twice those of the halves, by definition; long
// double has room for the exact ones.
TEST(EdgesTest, OfARangeThatOverflows) {
  for (const double bound : {1e308, kLargest}) {
    for (const uint64_t count : {1, 2, 3, 7, 1000}) {
      const std::vector<double> edges = EdgesOf(Even(-bound, bound, count));
      ASSERT_TRUE(Increase(edges));
      EXPECT_EQ(edges.front(), -bound);
      EXPECT_EQ(edges.back(), bound);
      for (uint64_t i = 0; i <= count; ++i) {
        const long double part = static_cast<long double>(i) / static_cast<long double>(count);
        const long double exact = static_cast<long double>(bound) * (2 * part - 1);
        EXPECT_LE(std::fabs(edges[i] - exact), bound * 0x1p-51L);
      }
    }
  }
}

TEST(QuantilesTest, InterpolateInsideTheBinOfTheRank) {
  const std::vector<uint64_t> counts = {0, 4, 0, 4, 0};
  const std::vector<double> edges = {0, 1, 2, 3, 5, 6};
  const auto values = QuantilesOfCounts(counts, edges, {0, 0.125, 0.5, 0.75, 1, 0.5000000001});
  EXPECT_EQ(values[0], 1);  // The lower edge of the first bin that holds anything.
  EXPECT_EQ(values[1], 1.25);
  EXPECT_EQ(values[2], 2);  // The rank lies at the end of the bin that reaches it.
  EXPECT_EQ(values[3], 4);
  EXPECT_EQ(values[4], 5);  // The upper edge of the last one.
  EXPECT_NEAR(values[5], 3, 1e-8);
}

TEST(QuantilesTest, AreSortedAndInsideTheEdges) {
  const std::vector<uint64_t> counts = {7, 0, 13, 1, 999999999999, 3};
  const std::vector<double> edges = {-8, -4, -1, 0.3, 0.30000001, 17, 18};
  std::vector<double> quantiles;
  for (int i = 0; i <= 1000; ++i) quantiles.push_back(i / 1000.0);
  const auto values = QuantilesOfCounts(counts, edges, quantiles);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(values.front(), -8);
  EXPECT_EQ(values.back(), 18);
}

TEST(QuantilesTest, OfNothingAreNan) {
  for (const double value : QuantilesOfCounts({0, 0}, {0, 1, 2}, {0, 0.5, 1})) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(QuantilesTest, OfOpenBinsAreTheirFiniteEdge) {
  EXPECT_THAT(QuantilesOfCounts({2, 2}, {-kInfinity, 1, kInfinity}, {0.25, 0.75}),
              ElementsAre(1, 1));
  EXPECT_TRUE(std::isnan(QuantilesOfCounts({2}, {-kInfinity, kInfinity}, {0.5})[0]));
  EXPECT_THAT(QuantilesOfCounts({2}, {-kLargest, kLargest}, {0.5}), ElementsAre(0));
}

HistogramPlan SparsePlan() {
  HistogramPlan plan;
  plan.bins = {Even(0, 4, 4)};
  plan.sparse = true;
  return plan;
}

TEST(FinishHistogramTest, SparseAnswersListBinsThatAreNotZero) {
  HistogramPlan plan = SparsePlan();
  plan.quantiles = {1};
  HistogramResult result;
  result.bins = plan.bins;
  result.channels.resize(1);
  result.channels[0].counts = {0, 3, 0, 1};
  FinishHistogram(plan, result);
  EXPECT_THAT(result.channels[0].counts, ElementsAre(3, 1));
  EXPECT_THAT(result.channels[0].bin_indices, ElementsAre(1, 3));
  EXPECT_THAT(result.channels[0].quantile_values, ElementsAre(4));
}

TEST(FinishHistogramTest, SparseSumsOfWeights) {
  HistogramPlan plan = SparsePlan();
  plan.weight_type = ElementType::kFloat64;
  HistogramResult result;
  result.bins = plan.bins;
  result.channels.resize(1);
  result.channels[0].weight_sums = {0, -0.5, std::nan(""), 0};
  FinishHistogram(plan, result);
  EXPECT_THAT(result.channels[0].bin_indices, ElementsAre(1, 2));
  EXPECT_EQ(result.channels[0].weight_sums[0], -0.5);
  EXPECT_TRUE(std::isnan(result.channels[0].weight_sums[1]));
}

TEST(FinishHistogramTest, DenseAnswersStayAsTheyAre) {
  HistogramPlan plan = SparsePlan();
  plan.sparse = false;
  HistogramResult result;
  result.bins = plan.bins;
  result.channels.resize(1);
  result.channels[0].counts = {0, 3, 0, 1};
  FinishHistogram(plan, result);
  EXPECT_THAT(result.channels[0].counts, ElementsAre(0, 3, 0, 1));
  EXPECT_THAT(result.channels[0].bin_indices, IsEmpty());
}

}  // namespace
}  // namespace gridfold::kernels
