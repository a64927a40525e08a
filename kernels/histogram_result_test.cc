#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/histogram.h"
#include "kernels/plan_test_util.h"

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

TEST(AutomaticRangeTest, RefusesRangesThatCannotBeCutEvenly) {
  const double next = std::nextafter(1.0, 2.0);
  for (const auto& [smallest, largest] : {std::pair{1.0, next}, std::pair{-kLargest, kLargest},
                                          std::pair{1e300, 1e300}, std::pair{0.0, 5e-324}}) {
    PlannedBins bins = Automatic(2);
    ExpectInvalid(ResolveAutomaticRange(smallest, largest, bins), "bins");
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
