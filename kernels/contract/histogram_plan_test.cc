#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/contract/histogram.h"
#include "kernels/contract/histogram_outline.h"
#include "kernels/contract/plan_test_util.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr uint64_t kHuge = uint64_t{1} << 63;
constexpr uint64_t kBinCountMax = 1000;

const ArrayDescription kFloats = ArrayDescription::Vector(ElementType::kFloat32, 12);
const ArrayDescription kUnsigned = ArrayDescription::Vector(ElementType::kUint64, 12);
const ArrayDescription kIntegers = ArrayDescription::Vector(ElementType::kInt32, 12);

BinSpec Even(uint64_t count, std::optional<double> lower, std::optional<double> upper) {
  return EvenBinsSpec{count, lower, upper};
}
BinSpec Automatic(uint64_t count) { return EvenBinsSpec{count, {}, {}}; }
BinSpec Edges(std::vector<double> edges) { return EdgeBinsSpec{std::move(edges)}; }
BinSpec Logarithmic(uint64_t count, double lower, double upper) {
  return LogarithmicBinsSpec{count, lower, upper};
}
BinSpec Integer(int64_t first, uint64_t count) { return IntegerBinsSpec{first, count}; }
BinSpec Unsigned(uint64_t first, uint64_t count) { return IntegerBinsSpec{0, count, first}; }

HistogramSpec Of(std::vector<BinSpec> bins, uint32_t channels = 1) {
  HistogramSpec spec;
  spec.bins = std::move(bins);
  spec.channel_count = channels;
  return spec;
}
HistogramSpec Of2d(std::vector<BinSpec> bins, uint32_t channels = 1) {
  HistogramSpec spec = Of(std::move(bins), channels);
  spec.two_dimensional = true;
  return spec;
}
HistogramSpec WithQuantiles(HistogramSpec spec, std::vector<double> quantiles) {
  spec.quantiles = std::move(quantiles);
  return spec;
}
HistogramSpec WithWeights(HistogramSpec spec) {
  spec.weight_type = ElementType::kFloat32;
  return spec;
}

struct BadHistogram {
  const char* name;
  ArrayDescription array;
  HistogramSpec spec;
  std::string field;
};

void ExpectRefused(const std::vector<BadHistogram>& cases) {
  for (const BadHistogram& bad : cases) {
    SCOPED_TRACE(bad.name);
    ExpectInvalid(PlanHistogram(bad.array, bad.spec, kBinCountMax).status(), bad.field);
  }
}

TEST(HistogramPlanTest, RefusesBadShapes) {
  const BinSpec bin = Even(4, 0, 1);
  ExpectRefused({
      {"no_bins", kFloats, Of({}), "bins"},
      {"two_for_one_channel", kFloats, Of({bin, bin}), "bins"},
      {"two_for_three_channels", kFloats, Of({bin, bin}, 3), "bins"},
      {"three_for_two_dimensions", kFloats, Of2d({bin, bin, bin}), "bins"},
      {"no_channels", kFloats, Of({bin}, 0), "channel_count"},
      {"not_a_multiple", kFloats, Of({bin}, 5), "channel_count"},
      {"channels_in_two_dimensions", kFloats, Of2d({bin}, 2), "channel_count"},
  });
}

TEST(HistogramPlanTest, BoundsTheNumberOfBins) {
  const ArrayDescription nothing = ArrayDescription::Vector(ElementType::kFloat32, 0);
  ExpectRefused({
      {"even", kFloats, Of({Even(1001, 0, 1)}), "bins[0].even.bin_count"},
      {"huge_even", kFloats, Of({Even(kHuge, 0, 1)}), "bins[0].even.bin_count"},
      {"huge_automatic", kFloats, Of({Automatic(~uint64_t{0})}), "bins[0].even.bin_count"},
      {"huge_logarithmic", kFloats, Of({Logarithmic(kHuge, 1, 2)}),
       "bins[0].logarithmic.bin_count"},
      {"huge_integer", kIntegers, Of({Integer(0, ~uint64_t{0})}), "bins[0].integer.bin_count"},
      {"edges", kFloats, Of({Edges(std::vector<double>(1002))}), "bins[0].edges.edges"},
      {"second_channel", kFloats, Of({Even(600, 0, 1), Even(600, 0, 1)}, 2),
       "bins[1].even.bin_count"},
      {"shared_by_channels", kFloats, Of({Even(400, 0, 1)}, 3), "bins[0].even.bin_count"},
      {"sum_overflows", kFloats, Of({Even(500, 0, 1), Even(~uint64_t{0}, 0, 1)}, 2),
       "bins[1].even.bin_count"},
      {"product_overflows", kFloats, Of2d({Even(uint64_t{1} << 32, 0, 1)}),
       "bins[0].even.bin_count"},
      {"product", kFloats, Of2d({Even(100, 0, 1), Even(11, 0, 1)}), "bins[1].even.bin_count"},
      {"very_many_channels", nothing, Of({Even(1, 0, 1)}, 4'000'000'000u),
       "bins[0].even.bin_count"},
      {"no_even_bins", kFloats, Of({Even(0, 0, 1)}), "bins[0].even.bin_count"},
      {"no_logarithmic_bins", kFloats, Of({Logarithmic(0, 1, 2)}), "bins[0].logarithmic.bin_count"},
      {"no_integer_bins", kIntegers, Of({Integer(0, 0)}), "bins[0].integer.bin_count"},
      {"no_edges", kFloats, Of({Edges({})}), "bins[0].edges.edges"},
      {"one_edge", kFloats, Of({Edges({1})}), "bins[0].edges.edges"},
  });
  EXPECT_TRUE(PlanHistogram(kFloats, Of2d({Even(100, 0, 1), Even(10, 0, 1)}), 1000).ok());
}

TEST(HistogramPlanTest, RefusesBadBounds) {
  ExpectRefused({
      {"only_lower", kFloats, Of({Even(4, 0, {})}), "bins[0].even.upper_bound"},
      {"only_upper", kFloats, Of({Even(4, {}, 1)}), "bins[0].even.lower_bound"},
      {"nan_lower", kFloats, Of({Even(4, kNan, 1)}), "bins[0].even.lower_bound"},
      {"nan_upper", kFloats, Of({Even(4, 0, kNan)}), "bins[0].even.upper_bound"},
      {"infinite_lower", kFloats, Of({Even(4, -kInfinity, 1)}), "bins[0].even.lower_bound"},
      {"infinite_upper", kFloats, Of({Even(4, 0, kInfinity)}), "bins[0].even.upper_bound"},
      {"equal", kFloats, Of({Even(4, 1, 1)}), "bins[0].even.upper_bound"},
      {"reversed", kFloats, Of({Even(4, 1, 0)}), "bins[0].even.upper_bound"},
      {"equal_edges", kFloats, Of({Even(4, 1, std::nextafter(1.0, 2.0))}),
       "bins[0].even.bin_count"},
      {"denormal_steps", kFloats, Of({Even(4, 0, 1e-320)}), "bins[0].even.bin_count"},
      {"second", kFloats, Of({Even(4, 0, 1), Even(4, 1, 0)}, 2), "bins[1].even.upper_bound"},
      {"y", kFloats, Of2d({Even(4, 0, 1), Even(4, 1, 0)}), "bins[1].even.upper_bound"},
      {"log_nan", kFloats, Of({Logarithmic(4, kNan, 2)}), "bins[0].logarithmic.lower_bound"},
      {"log_zero", kFloats, Of({Logarithmic(4, 0, 2)}), "bins[0].logarithmic.lower_bound"},
      {"log_negative", kFloats, Of({Logarithmic(4, -1, 2)}), "bins[0].logarithmic.lower_bound"},
      {"log_infinite", kFloats, Of({Logarithmic(4, 1, kInfinity)}),
       "bins[0].logarithmic.upper_bound"},
      {"log_reversed", kFloats, Of({Logarithmic(4, 2, 1)}), "bins[0].logarithmic.upper_bound"},
      {"log_equal_edges", kFloats, Of({Logarithmic(4, 1, std::nextafter(1.0, 2.0))}),
       "bins[0].logarithmic.bin_count"},
  });
}

TEST(HistogramPlanTest, RefusesBadEdgesIntegersAndQuantiles) {
  const HistogramSpec even = Of({Even(4, 0, 1)});
  const int64_t last = std::numeric_limits<int64_t>::max();
  ExpectRefused({
      {"nan_edge", kFloats, Of({Edges({0, 1, kNan})}), "bins[0].edges.edges[2]"},
      {"nan_first", kFloats, Of({Edges({kNan, 1})}), "bins[0].edges.edges[0]"},
      {"equal_edges", kFloats, Of({Edges({0, 1, 1, 2})}), "bins[0].edges.edges[2]"},
      {"decreasing_edges", kFloats, Of({Edges({0, 2, 1})}), "bins[0].edges.edges[2]"},
      {"two_infinities", kFloats, Of({Edges({0, kInfinity, kInfinity})}), "bins[0].edges.edges[2]"},
      {"integers_of_floats", kFloats, Of({Integer(0, 4)}), "bins[0].integer"},
      {"past_64_bits", kIntegers, Of({Integer(last, 2)}), "bins[0].integer.bin_count"},
      {"past_64_unsigned_bits", kUnsigned, Of({Unsigned(~uint64_t{0}, 2)}),
       "bins[0].integer.bin_count"},
      {"unsigned_of_signed", kIntegers, Of({Unsigned(5, 2)}),
       "bins[0].integer.first_unsigned_value"},
      {"two_first_values", kUnsigned, Of({IntegerBinsSpec{1, 2, 5}}),
       "bins[0].integer.first_unsigned_value"},
      {"below_0", kFloats, WithQuantiles(even, {0.5, -0.1}), "quantiles[1]"},
      {"above_1", kFloats, WithQuantiles(even, {1.5}), "quantiles[0]"},
      {"nan_quantile", kFloats, WithQuantiles(even, {kNan}), "quantiles[0]"},
      {"quantiles_of_weights", kFloats, WithWeights(WithQuantiles(even, {0.5})), "quantiles"},
      {"quantiles_of_pairs", kFloats, WithQuantiles(Of2d({Even(4, 0, 1)}), {0.5}), "quantiles"},
      {"quantiles_of_integers", kIntegers, WithQuantiles(Of({Integer(0, 4)}), {0.5}), "quantiles"},
  });
  EXPECT_TRUE(PlanHistogram(kIntegers, Of({Integer(last, 1)}), kBinCountMax).ok());
  EXPECT_TRUE(PlanHistogram(kIntegers, Of({Integer(-last - 1, 4)}), kBinCountMax).ok());
  EXPECT_TRUE(PlanHistogram(kUnsigned, Of({Integer(last, 9)}), kBinCountMax).ok());
  EXPECT_TRUE(PlanHistogram(kUnsigned, Of({Integer(-5, 9)}), kBinCountMax).ok());
  EXPECT_TRUE(PlanHistogram(kUnsigned, Of({Unsigned(~uint64_t{0} - 8, 9)}), kBinCountMax).ok());
  EXPECT_TRUE(PlanHistogram(kFloats, Of({Even(4, -kLargest, kLargest)}), kBinCountMax).ok());
  EXPECT_TRUE(PlanHistogram(kFloats, Of({Edges({-kInfinity, 0, kInfinity})}), kBinCountMax).ok());
}

TEST(HistogramPlanTest, OneEntryServesAllChannelsAndBothAxes) {
  const auto channels = PlanHistogram(kFloats, Of({Even(4, 0, 1)}, 3), kBinCountMax);
  ASSERT_TRUE(channels.ok()) << channels.status();
  EXPECT_EQ(channels->bins.size(), 3u);
  EXPECT_EQ(channels->total_bin_count(), 12u);
  EXPECT_FALSE(channels->needs_range());

  const auto pairs = PlanHistogram(kFloats, Of2d({Automatic(4)}), kBinCountMax);
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_EQ(pairs->bins.size(), 2u);
  EXPECT_EQ(pairs->total_bin_count(), 16u);
  EXPECT_TRUE(pairs->needs_range());
}

TEST(HistogramPlanTest, LogarithmicEdgesAreAGeometricProgression) {
  const auto plan = PlanHistogram(kFloats, Of({Logarithmic(6, 0.001, 1000)}), kBinCountMax);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<double>& edges = plan->bins[0].edges;
  ASSERT_EQ(edges.size(), 7u);
  EXPECT_EQ(plan->bins[0].kind, BinKind::kTable);
  EXPECT_EQ(edges.front(), 0.001);
  EXPECT_EQ(edges.back(), 1000.0);
  for (int i = 0; i < 7; ++i) EXPECT_DOUBLE_EQ(edges[i], std::pow(10.0, i - 3));
}

TEST(HistogramPlanTest, LogarithmicBoundsMayBeTheExtremesOfTheType) {
  const double smallest = std::numeric_limits<double>::denorm_min();
  const auto plan = PlanHistogram(kFloats, Of({Logarithmic(100, smallest, kLargest)}), 1000);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->bins[0].edges.front(), smallest);
  EXPECT_EQ(plan->bins[0].edges.back(), kLargest);
}

// Threads that nobody is to hold make outlines: whatever is asked for, they cost the same.
TEST(HistogramOutlineTest, TakesNeitherTimeNorMemoryForBinsAndChannels) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    for (const BinSpec& bins :
         {Even(kHuge / 2, 0, 1), Automatic(kHuge / 2), Logarithmic(kHuge / 2, 1, 2)}) {
      const auto outline = OutlineHistogram(kFloats, Of({bins}), kHuge);
      ASSERT_TRUE(outline.ok()) << outline.status();
      EXPECT_EQ(outline->total_bin_count(), kHuge / 2);
      EXPECT_TRUE(outline->bins[0].edges.empty());
      const ArrayDescription none = ArrayDescription::Vector(ElementType::kFloat32, 0);
      const auto channels = OutlineHistogram(none, Of({Even(7, 0, 1)}, 1 << 31), kHuge);
      ASSERT_TRUE(channels.ok()) << channels.status();
      EXPECT_EQ(channels->bins.size(), 1u);
      EXPECT_EQ(channels->total_bin_count(), uint64_t{7} << 31);
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(HistogramOutlineTest, CompletingItStops) {
  std::stop_source source;
  source.request_stop();
  for (const BinSpec& bins : {Logarithmic(kHuge / 1024 / 1024 / 1024 / 1024, 1, 2),
                              Even(kHuge / 1024 / 1024 / 1024 / 1024, 1, 1 + 0x1p-29)}) {
    auto outline = OutlineHistogram(kFloats, Of({bins}), kHuge);
    ASSERT_TRUE(outline.ok()) << outline.status();
    EXPECT_TRUE(absl::IsCancelled(CompletePlan(source.get_token(), *outline)));
  }
}

// What is decided without looking at edges agrees with what they are.
TEST(HistogramOutlineTest, EvenBinsAreTakenWhereTheirEdgesIncrease) {
  std::mt19937_64 random(3);
  int accepted = 0;
  constexpr int kRounds = 20'000;
  for (int i = 0; i < kRounds; ++i) {
    const double lower = std::ldexp(static_cast<double>(random() % 4096) - 2048, random() % 20);
    const uint64_t bin_count = 1 + random() % 200;
    // Of a step of a few units in the last place.
    const double unit = std::nextafter(std::abs(lower) + 1, HUGE_VAL) - (std::abs(lower) + 1);
    const double step = unit * std::ldexp(1 + static_cast<double>(random() % 1000) / 1000,
                                          static_cast<int>(random() % 8) - 3);
    const double upper = lower + step * static_cast<double>(bin_count);
    if (!(lower < upper)) continue;
    const PlannedBins bins{
        .kind = BinKind::kEven, .bin_count = bin_count, .lower_bound = lower, .upper_bound = upper};
    const std::vector<double> edges = EdgesOf(bins);
    const bool increase = std::ranges::adjacent_find(edges, std::greater_equal()) == edges.end();
    const auto plan = PlanHistogram(kFloats, Of({Even(bin_count, lower, upper)}), kBinCountMax);
    ASSERT_EQ(plan.ok(), increase) << lower << " " << upper << " " << bin_count;
    accepted += increase ? 1 : 0;
  }
  EXPECT_GT(accepted, kRounds / 10);
  EXPECT_LT(accepted, kRounds * 9 / 10);
}

}  // namespace
}  // namespace gridfold::kernels
