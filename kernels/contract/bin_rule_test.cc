// Numbers of bins by rule beside those of NumPy 1.24's histogram_bin_edges.
#include "kernels/contract/bin_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace gridfold::kernels {
namespace {

constexpr BinRule kRules[] = {BinRule::kAuto, BinRule::kFreedmanDiaconis, BinRule::kScott,
                              BinRule::kRice, BinRule::kSturges,          BinRule::kSqrt};

struct Case {
  const char* name;
  SampleSummary samples;
  double counts[std::size(kRules)];           // Over the samples' range.
  double counts_of_range[std::size(kRules)];  // With range=(-50, 20000).
};

constexpr Case kCases[] = {
    {"[i * i % 101 for i in range(200)]",
     {200, 0, 100, 30.206776971401634, 22, 79},
     {9, 6, 6, 12, 9, 15},
     {1734, 1029, 1112, 2346, 1734, 2836}},
    {"[0.5 * i for i in range(1000)]",
     {1000, 0, 499.5, 144.33749512860476, 124.875, 374.625},
     {11, 10, 10, 20, 11, 32},
     {441, 402, 398, 803, 441, 1270}},
    {"[3.0] * 7", {7, 3, 3, 0, 3, 3}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
    {"[float(i % 10) for i in range(99)] + [1e4]",
     {100, 0, 10000, 994.5482602166675, 2, 7},
     {4642, 4642, 14, 10, 8, 10},
     {9307, 9307, 27, 19, 16, 21}},
    {"[5.0] * 90 + [float(i) for i in range(10)]",
     {100, 0, 9, 0.9205976319760986, 5, 5},
     {8, 1, 13, 10, 8, 10},
     {17029, 1, 28959, 20681, 17029, 22278}},
    {"[2.5]", {1, 2.5, 2.5, 0, 2.5, 2.5}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
};

TEST(BinRuleTest, CountsAreThoseOfNumpy) {
  for (const Case& one : kCases) {
    for (size_t i = 0; i < std::size(kRules); ++i) {
      const SampleSummary& samples = one.samples;
      EXPECT_EQ(BinCountByRule(kRules[i], samples, samples.smallest, samples.largest),
                one.counts[i])
          << one.name << ", rule " << i;
      EXPECT_EQ(BinCountByRule(kRules[i], samples, -50, 20000), one.counts_of_range[i])
          << one.name << ", rule " << i;
    }
  }
}

TEST(BinRuleTest, NoSamplesHaveOneBin) {
  for (const BinRule rule : kRules) EXPECT_EQ(BinCountByRule(rule, {}, -1, 1), 1);
}

TEST(BinRuleTest, WhatIsPastTheLargestNumberIsInfiniteOrOneBin) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const SampleSummary far{10, -kMax, kMax, 1, -1, 1};
  EXPECT_EQ(BinCountByRule(BinRule::kScott, far, -kMax, kMax),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(BinCountByRule(BinRule::kSqrt, far, -kMax, kMax), 1);
}

}  // namespace
}  // namespace gridfold::kernels
