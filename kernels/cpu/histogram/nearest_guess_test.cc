// Guesses in rounding to the nearest: those that are sure are what comparison with the edges
// decides.
#include "kernels/cpu/histogram/nearest_guess.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/bins/layout_test.h"

namespace gridfold::kernels::cpu {
namespace {

// Counts samples between the bounds, and those of them that the guess was sure of.
struct Tally {
  uint64_t samples = 0;
  uint64_t sure = 0;
};

template <class T>
void ExpectRightWhereSure(const BinGuesser& guesser, const BinLayout& bins, T x, Tally& tally) {
  const BinGuess guess = GuessBinNearest(guesser, x);
  const bool is_sure = IsSure(guesser, guess);
  const bool is_between = RealOf(x) > bins.lower && RealOf(x) < bins.upper;
  tally.samples += is_between ? 1 : 0;
  tally.sure += is_between && is_sure ? 1 : 0;
  if (!is_sure) return;
  ASSERT_EQ(guess.bin, LocateBin(bins, x)) << RealOf(x) << " of [" << bins.lower << ", "
                                           << bins.upper << "], " << bins.bin_count << " bins";
}

template <class T>
void ExpectRight(const BinLayout& bins, Tally& around_edges, Tally& anywhere) {
  const auto guesser = MakeBinGuesser(bins, kSampleKindOf<T>, GuessRounding::kNearest);
  if (!guesser.has_value()) return;
  const uint64_t stride = bins.bin_count / 2000 + 1;
  for (uint64_t i = 0; i <= bins.bin_count + stride; i += stride) {
    const double edge = EvenEdge(bins, std::min(i, bins.bin_count));
    for (const T x : ValuesAround<T>(edge)) ExpectRightWhereSure(*guesser, bins, x, around_edges);
  }
  std::mt19937_64 random(bins.bin_count);
  std::uniform_real_distribution<double> unit(-0.1, 1.1);
  for (int i = 0; i < 500; ++i) {
    const double x = bins.lower + unit(random) * (bins.upper - bins.lower);
    for (const T near : ValuesAround<T>(x)) ExpectRightWhereSure(*guesser, bins, near, anywhere);
  }
}

template <class T>
class NearestGuessTest : public testing::Test {};
TYPED_TEST_SUITE(NearestGuessTest, AllTypes);

// Bins a power of two wide among them, whose guesses need no guard where rounding is down.
TYPED_TEST(NearestGuessTest, WhoIsSureIsRight) {
  Tally around_edges;
  Tally anywhere;
  for (uint64_t n = 1; n <= 300'000; n += n / 7 + 1) {
    const double count = static_cast<double>(n);
    std::vector<std::pair<double, double>> ranges = EvenBounds();
    ranges.insert(ranges.end(), {{0, count}, {-0.5 * count, 0}});
    for (const auto& [lower, upper] : ranges) {
      ExpectRight<TypeParam>(BinLayout::Even(lower, upper, n), around_edges, anywhere);
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_GT(around_edges.samples, 100'000);
  EXPECT_GT(anywhere.sure, anywhere.samples / 2);
}

TYPED_TEST(NearestGuessTest, NobodyIsSureOfSpecialSamples) {
  if constexpr (FloatingElement<TypeParam>) {
    const BinGuesser guesser =
        MakeBinGuesser(BinLayout::Even(-1, 1, 7), SampleKind::kAny, GuessRounding::kNearest)
            .value();
    for (const double x : {std::nan(""), HUGE_VAL, -HUGE_VAL, 60'000.0, -60'000.0}) {
      TypeParam sample;
      if constexpr (HalfElement<TypeParam>) {
        sample = TypeParam::FromDouble(x);
      } else {
        sample = static_cast<TypeParam>(x);
      }
      EXPECT_FALSE(IsSure(guesser, GuessBinNearest(guesser, sample))) << x;
    }
  }
}

TEST(NearestGuessTest, EveryIntegerOfIntegerBinsIsSure) {
  for (const int64_t first : {int64_t{-1} << 39, int64_t{-30'000}, int64_t{0}, int64_t{77}}) {
    const BinLayout bins = BinLayout::Integer(first, 60'000);
    const BinGuesser guesser =
        MakeBinGuesser(bins, SampleKind::kInteger, GuessRounding::kNearest).value();
    for (int64_t x = first - 10; x < first + 60'010; ++x) {
      const int64_t expected = x < first ? 100'000 : x >= first + 60'000 ? 100'001 : x - first;
      ASSERT_EQ(SureBin(guesser, x, 99'999), expected) << x;
    }
  }
}

// The compiler's conversion is the processor's.
template <class T>
void ExpectNearestDoubles() {
  std::mt19937_64 random(7);
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    for (const uint64_t near : {power, power + (power >> 53), power + (power >> 54)}) {
      for (uint64_t i = 0; i < 5; ++i) {
        for (const uint64_t bits : {near + i, near - i, ~near + i, ~near - i, random() >> bit}) {
          const T x = static_cast<T>(bits);
          ASSERT_EQ(NearestDouble(x), static_cast<double>(x)) << x;
        }
      }
    }
  }
}

TEST(NearestGuessTest, IntegersOf64BitsAreRoundedToTheNearestDouble) {
  ExpectNearestDoubles<int64_t>();
  ExpectNearestDoubles<uint64_t>();
}

// Integers that no float64 is may be rounded to a bound, or across it.
template <class T>
void ExpectSureOutside(double lower, double upper) {
  constexpr uint32_t kUnsure = 1'000;
  const BinLayout bins = BinLayout::Even(lower, upper, 11);
  const BinGuesser guesser =
      MakeBinGuesser(bins, SampleKind::kInteger, GuessRounding::kNearest).value();
  uint32_t outside = 0;
  for (const double bound : {lower, upper}) {
    for (int64_t offset = -3'000; offset <= 3'000; ++offset) {
      const T x = static_cast<T>(static_cast<T>(bound) + static_cast<T>(offset));
      const uint32_t bin = SureBin(guesser, x, kUnsure);
      if (bin == kUnsure) continue;
      const int64_t located = bin == kUnsure + 1   ? kUnderflowBin
                              : bin == kUnsure + 2 ? kOverflowBin
                                                   : static_cast<int64_t>(bin);
      outside += located < 0 ? 1 : 0;
      ASSERT_EQ(located, LocateBin(bins, x)) << x << " of [" << lower << ", " << upper << "]";
    }
  }
  EXPECT_GT(outside, 3'000u);
}

TEST(NearestGuessTest, WhatIsSurelyOutsideIsOutside) {
  ExpectSureOutside<int64_t>(0x1p60, 0x1p60 + 0x1p33);
  ExpectSureOutside<int64_t>(-0x1p61 - 0x1p33, -0x1p61);
  ExpectSureOutside<int64_t>(-7.5, 1e6);
  ExpectSureOutside<uint64_t>(0x1p63, 0x1p63 + 0x1p36);
  ExpectSureOutside<uint64_t>(4'000.25, 0x1p54);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
