// Guesses for tables of edges: those that are sure are what a search of the table decides.
#include "kernels/cpu/histogram/table_guess.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/histogram/nearest_guess.h"

namespace gridfold::kernels::cpu {
namespace {

// The edges of even bins, each rounded to float.
std::vector<double> FloatEdges(double lower, double upper, uint64_t count) {
  std::vector<double> edges;
  for (uint64_t i = 0; i <= count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count);
    edges.push_back(static_cast<float>(lower + part * (upper - lower)));
  }
  return edges;
}

BinLayout TableOf(const std::vector<double>& edges) {
  return BinLayout::Table(edges.data(), edges.size() - 1);
}

// How many of 10,000 samples are not sure. Expects that all others, and those around edges, are
// right.
uint64_t UnsureOf(const std::vector<double>& edges, uint64_t seed) {
  const BinLayout table = TableOf(edges);
  const auto guesser = MakeTableGuesser(table);
  EXPECT_TRUE(guesser.has_value());
  if (!guesser.has_value()) return 0;
  constexpr uint32_t kUnsure = 1u << 31;
  uint64_t unsure = 0;
  const auto check = [&](float x) {
    const uint32_t bin = SureBin(*guesser, x, kUnsure);
    const int64_t expected = LocateBin(table, x);
    if (bin == kUnsure) {
      ++unsure;
    } else if (bin == kUnsure + 1) {
      EXPECT_EQ(expected, kUnderflowBin) << x;
    } else if (bin == kUnsure + 2) {
      EXPECT_EQ(expected, kOverflowBin) << x;
    } else {
      EXPECT_EQ(int64_t{bin}, expected) << x;
    }
  };
  for (const double edge : edges) {
    const float at = static_cast<float>(edge);
    for (const float toward : {-1e30f, 1e30f}) {
      float x = at;
      for (int i = 0; i < 4; ++i, x = std::nextafterf(x, toward)) check(x);
    }
  }
  unsure = 0;
  std::mt19937_64 random(seed);
  const double margin = (edges.back() - edges.front()) / 10;
  std::uniform_real_distribution<double> anywhere(edges.front() - margin, edges.back() + margin);
  for (int i = 0; i < 10'000; ++i) check(static_cast<float>(anywhere(random)));
  return unsure;
}

TEST(TableGuessTest, WhoIsSureIsRight) {
  uint64_t seed = 1;
  for (const uint64_t count : {1, 2, 7, 100, 1000, 4096}) {
    EXPECT_LT(UnsureOf(FloatEdges(-4, 4, count), ++seed), 200) << count;
    EXPECT_LT(UnsureOf(FloatEdges(0, 0.3, count), ++seed), 200) << count;
    EXPECT_LT(UnsureOf(FloatEdges(-1e7, 3.3e9, count), ++seed), 200) << count;
  }
}

TEST(TableGuessTest, EdgesMovedAsFarAsTheGuardAllows) {
  std::vector<double> edges = FloatEdges(0, 64, 64);
  for (size_t i = 1; i < 64; ++i) edges[i] += (i % 2 == 0 ? 1 : -1) * 0.005;
  EXPECT_LT(UnsureOf(edges, 99), 400);
}

TEST(TableGuessTest, OthersAreSearched) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& edges : {std::vector<double>{0, 1, 3},
                                           {0, 1, infinity},
                                           {-infinity, 0, infinity},
                                           {1e8, 1e8 + 1e-8, 1e8 + 2e-7},
                                           {-1.7e308, 0, 1.7e308}}) {
    EXPECT_FALSE(MakeTableGuesser(TableOf(edges)).has_value()) << edges[1];
  }
}

TEST(TableGuessTest, WhatIsNoNumberIsNotSure) {
  const std::vector<double> edges = FloatEdges(0, 1, 10);
  const auto guesser = MakeTableGuesser(TableOf(edges));
  ASSERT_TRUE(guesser.has_value());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(SureBin(*guesser, nan, 77u), 77u);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
