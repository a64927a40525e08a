// Bounds of even bins that were given none: from extremes that the test makes up.
#include "client/library/histogram_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kEven = int64_t{1} << 53;  // float64 has no odd integer beyond.

using Bounds = std::vector<std::pair<double, double>>;

template <typename T>
ReductionResult Extremes(const std::vector<T>& lowest, const std::vector<T>& highest) {
  return {.entries = {{.statistic = Statistic::kMin, .values = lowest},
                      {.statistic = Statistic::kMax, .values = highest}},
          .group_count = lowest.size(),
          .execution = {}};
}

// The bounds found of six samples; none where they are the server's to find.
Bounds BoundsOf(const HistogramOptions& options, const ReductionResult& extremes) {
  static constexpr double kSamples[6] = {};
  const auto found = WithRange(ArrayView(kSamples), options,
                               [&](const ArrayView&, const ReductionOptions&) { return extremes; });
  Bounds bounds;
  if (!found.ok() || !*found) return bounds;
  for (const auto& bins : (*found)->bins) {
    const auto* const even = std::get_if<EvenBins>(&bins);
    if (even != nullptr) bounds.emplace_back(*even->lower_bound, *even->upper_bound);
  }
  return bounds;
}

TEST(HistogramRangeTest, ExtremesAreTheBoundsWhereTheyAreFiniteAndDiffer) {
  const HistogramOptions options = {.bins = {EvenBins{.bin_count = 4}}};
  const auto of = [&](double low, double high) {
    return BoundsOf(options, Extremes<double>({low}, {high}));
  };
  EXPECT_THAT(of(1, 2), ElementsAre(Pair(1, 2)));
  EXPECT_THAT(of(2, std::nextafter(2, 3)), ElementsAre(Pair(2, std::nextafter(2, 3))));
  EXPECT_THAT(of(2, 2), IsEmpty());
  EXPECT_THAT(of(-kInfinity, 2), IsEmpty());
  EXPECT_THAT(of(2, kInfinity), IsEmpty());
  EXPECT_THAT(of(std::nan(""), 2), IsEmpty());
  EXPECT_THAT(of(2, std::nan("")), IsEmpty());
  const Bounds zeros = of(-0.0, 2);
  ASSERT_THAT(zeros, ElementsAre(Pair(0, 2)));
  EXPECT_FALSE(std::signbit(zeros[0].first));
}

// Integers that float64 does not have are bounds that take them in.
TEST(HistogramRangeTest, LargeIntegersAreRoundedOutwards) {
  const HistogramOptions options = {.bins = {EvenBins{.bin_count = 4}}};
  const auto expect = [&](int64_t low, int64_t high, double lower, double upper) {
    EXPECT_THAT(BoundsOf(options, Extremes<int64_t>({low}, {high})),
                ElementsAre(Pair(lower, upper)));
  };
  expect(kEven, kEven + 2, 9007199254740992, 9007199254740994);
  expect(kEven + 1, kEven + 5, 9007199254740992, 9007199254740998);
  expect(kEven + 3, kEven + 7, 9007199254740994, 9007199254741000);
  expect(-kEven - 5, -kEven - 1, -9007199254740998, -9007199254740992);
}

TEST(HistogramRangeTest, EachChannelHasItsOwn) {
  HistogramOptions options = {.bins = {EvenBins{.bin_count = 4}}};
  options.channel_count = 2;
  EXPECT_THAT(BoundsOf(options, Extremes<double>({1, 3}, {2, 9})),
              ElementsAre(Pair(1, 2), Pair(3, 9)));
  EXPECT_THAT(BoundsOf(options, Extremes<double>({1, 3}, {2, 3})), IsEmpty());
  // Bounds that are given stay as they are, and need no extremes.
  options.bins = {EvenBins{.bin_count = 4, .lower_bound = 5, .upper_bound = 6},
                  EvenBins{.bin_count = 4}};
  EXPECT_THAT(BoundsOf(options, Extremes<double>({1, 3}, {1, 9})),
              ElementsAre(Pair(5, 6), Pair(3, 9)));
  options.bins = {EvenBins{.bin_count = 4, .lower_bound = 5}, EvenBins{.bin_count = 4}};
  EXPECT_THAT(BoundsOf(options, Extremes<double>({1, 3}, {2, 9})), IsEmpty());
  options.bins = {EvenBins{.bin_count = 4}, EvenBins{.bin_count = 4, .upper_bound = 5}};
  EXPECT_THAT(BoundsOf(options, Extremes<double>({1, 3}, {2, 9})), IsEmpty());
  // What is for the server to refuse.
  options.bins.assign(3, EvenBins{.bin_count = 4});
  EXPECT_THAT(BoundsOf(options, Extremes<double>({1, 3}, {2, 9})), IsEmpty());
  options.bins.assign(1, EvenBins{.bin_count = 4});
  for (const uint32_t channel_count : {0u, 4u}) {
    options.channel_count = channel_count;
    EXPECT_THAT(BoundsOf(options, Extremes<double>({1, 3, 5, 7}, {2, 9, 9, 9})), IsEmpty());
  }
}

}  // namespace
}  // namespace gridfold::client
