// Guesses, resolved where they are not sure, are what comparison with the edges decides.
#include "kernels/numerics/bins/guess.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/bins/layout_test.h"

namespace gridfold::kernels {
namespace {

template <class T>
T SampleOf(double x) {
  if constexpr (HalfElement<T>) {
    return T::FromDouble(x);
  } else {
    return static_cast<T>(x);
  }
}

// Counts the samples that the guess was sure of.
struct Tally {
  uint64_t samples = 0;
  uint64_t sure = 0;
};

// Where LocateBin finds a sample, by its BinNumber: a bin, below or above all, or kNanBin where
// that does not tell.
template <class T>
int64_t LocatedByNumber(const BinGuesser& guesser, T x) {
  const BinGuess guess = GuessBin(guesser, x);
  if (!IsSureOrOutside(guesser, guess, x) && !IsFarOutside(guesser, guess, x)) return kNanBin;
  const int64_t bin = int64_t{BinNumber(guess)} - kBinNumber0;
  if (bin < 0) return kUnderflowBin;
  return bin < guesser.bin_count ? bin : kOverflowBin;
}

template <class T>
void ExpectLocated(const BinGuesser& guesser, const BinLayout& bins, T x, Tally& tally) {
  const BinGuess guess = guesser.shift == 0 ? GuessBin(guesser, x) : GuessCellBin(guesser, x);
  const bool sure = IsSure(guesser, guess);
  const int64_t located = sure ? guess.bin : ResolveGuess(guesser, guess, x);
  ++tally.samples;
  tally.sure += sure ? 1 : 0;
  ASSERT_EQ(located, LocateBin(bins, x))
      << RealOf(x) << " of [" << guesser.bins.lower << ", " << guesser.bins.upper << "], "
      << bins.bin_count << " bins, sure: " << sure;
  if (kTellsClosedEdge<T> && !IsNan(x) && !IsBesideClosedEdge(guesser, x)) {
    ASSERT_EQ(RealOf(x), ClosedEdgeOf<T>(guesser));
  }
  if (guesser.shift > 0) return;
  const int64_t by_number = LocatedByNumber(guesser, x);
  if (by_number != kNanBin) {
    ASSERT_EQ(by_number, located) << RealOf(x) << ", " << bins.bin_count << " bins";
  }
}

// All samples around every edge, and random ones; false where there is no guesser.
template <class T>
bool ExpectExact(const BinLayout& bins, Tally& tally, uint32_t shift = 0) {
  const auto guesser = MakeBinGuesser(bins, kSampleKindOf<T>, GuessRounding::kDown, shift);
  if (!guesser.has_value()) return false;
  // Around the edges of every bin, or of some of very many.
  const uint64_t stride = bins.bin_count / 5000 + 1;
  for (uint64_t i = 0; i <= bins.bin_count + stride; i += stride) {
    const double edge = EvenEdge(guesser->bins, std::min(i, bins.bin_count));
    for (const T x : ValuesAround<T>(edge)) ExpectLocated(*guesser, bins, x, tally);
  }
  std::mt19937_64 random(bins.bin_count);
  const double width = guesser->bins.upper - guesser->bins.lower;
  std::uniform_real_distribution<double> unit(-0.1, 1.1);
  for (int i = 0; i < 500; ++i) {
    for (const T x : ValuesAround<T>(guesser->bins.lower + unit(random) * width)) {
      ExpectLocated(*guesser, bins, x, tally);
    }
  }
  return true;
}

std::vector<uint64_t> BinCounts() {
  std::vector<uint64_t> counts;
  for (uint64_t n = 1; n <= 40; ++n) counts.push_back(n);
  counts.insert(counts.end(), {100, 127, 255, 256, 257, 1000, 1024, 3000, 57'344, 98'304, 300'000,
                               kGuessedBinsMax});
  return counts;
}

template <class T>
class BinGuessTest : public testing::Test {};
TYPED_TEST_SUITE(BinGuessTest, AllTypes);

TYPED_TEST(BinGuessTest, EvenBinsAreThoseOfTheEdges) {
  Tally tally;
  for (const uint64_t n : BinCounts()) {
    for (const auto& [lower, upper] : EvenBounds()) {
      ExpectExact<TypeParam>(BinLayout::Even(lower, upper, n), tally);
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_GT(tally.samples, 0);
}

TYPED_TEST(BinGuessTest, CellsOfSeveralBins) {
  Tally tally;
  for (uint32_t shift = 1; shift <= kGuessShiftMax; ++shift) {
    for (const uint64_t n : {uint64_t{1}, uint64_t{1000}, uint64_t{1} << 19, uint64_t{1} << 20,
                             uint64_t{3'000'001}, uint64_t{1} << 22}) {
      for (const auto& [lower, upper] : {std::pair(-1.0, 1.0),
                                         {0.0, 1.0},
                                         {0.0, 4194304.0},
                                         {0.0, 0x1p30},
                                         {-1e6, 3.7e5},
                                         {0.0, 1e-40},
                                         {0.1, 0.3}}) {
        ExpectExact<TypeParam>(BinLayout::Even(lower, upper, n), tally, shift);
        if (this->HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(tally.samples, 10'000);
}

TYPED_TEST(BinGuessTest, ZeroIsInTheFirstOfBinsFromZeroForSure) {
  for (uint32_t shift = 0; shift <= kGuessShiftMax; ++shift) {
    for (const uint64_t n : {1, 3, 1000, 57'344, 98'304, 1'048'575}) {
      for (const double upper : {1.0, 0.3, 1e-6, 0x1p30, 12345.0}) {
        const BinGuesser guesser =
            MakeBinGuesser(BinLayout::Even(0, upper, n), kSampleKindOf<TypeParam>,
                           GuessRounding::kDown, shift)
                .value();
        for (const double zero : {0.0, -0.0}) {
          const BinGuess guess = GuessCellBin(guesser, SampleOf<TypeParam>(zero));
          EXPECT_EQ(guess.bin, 0);
          EXPECT_TRUE(IsSure(guesser, guess)) << n << " bins to " << upper;
        }
      }
    }
  }
}

TYPED_TEST(BinGuessTest, RandomLayouts) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  Tally tally;
  for (int i = 0; i < 400; ++i) {
    const double scale = std::ldexp(1, static_cast<int>(random() % 60) - 30);
    const double lower = unit(random) * scale;
    const double upper = lower + std::fabs(unit(random)) * std::ldexp(scale, random() % 9 - 4);
    const uint64_t n = 1 + (random() >> (44 + random() % 20));
    if (!(lower < upper) || n > kGuessedBinsMax) continue;
    ExpectExact<TypeParam>(BinLayout::Even(lower, upper, n), tally);
    if (this->HasFatalFailure()) return;
  }
  EXPECT_GT(tally.samples, 100'000);
}

TYPED_TEST(BinGuessTest, SpecialSamples) {
  if constexpr (FloatingElement<TypeParam>) {
    for (const auto& [lower, upper] : {std::pair(-1.0, 1.0), {0.0, 1.0}, {0.0, 0.3}, {-7.0, 0.0}}) {
      for (const uint64_t n : {1, 7, 256}) {
        const BinLayout bins = BinLayout::Even(lower, upper, n);
        const BinGuesser guesser = MakeBinGuesser(bins, SampleKind::kAny).value();
        Tally tally;
        for (const double x : {0.0, -0.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 0x1p-1074, -0x1p-1074,
                               0x1p-149, -0x1p-149, 1e300, -1e300}) {
          ExpectLocated(guesser, bins, SampleOf<TypeParam>(x), tally);
        }
      }
    }
  }
}

template <class T>
class IntegerBinGuessTest : public testing::Test {};
using IntegerTypes =
    testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(IntegerBinGuessTest, IntegerTypes);

TYPED_TEST(IntegerBinGuessTest, OneBinForEachInteger) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const int64_t first : {int64_t{-1} << 39, int64_t{-30'000}, int64_t{-1}, int64_t{0},
                              int64_t{77}, int64_t{1} << 31, int64_t{1} << 39}) {
    for (const uint64_t n : {1, 2, 255, 60'000}) {
      const BinLayout bins = BinLayout::Integer(first, n);
      Tally tally;
      ASSERT_TRUE(ExpectExact<TypeParam>(bins, tally));
      const BinGuesser guesser = MakeBinGuesser(bins, SampleKind::kInteger).value();
      for (const TypeParam x : {Limits::min(), Limits::max(), TypeParam{0}, TypeParam{1}}) {
        ExpectLocated(guesser, bins, x, tally);
      }
    }
  }
}

TEST(GridBinGuessTest, EdgesOnAGridAreNeverNear) {
  for (const auto& [lower, upper, n] : {std::tuple(0.0, 1000.0, 1000),
                                        {0.0, 1024.0, 32},
                                        {-100.0, 900.0, 500},
                                        {0.0, 1000.0, 64},
                                        {-0x1p31, 0x1p31, 57'344},
                                        {-0.5, 255.5, 256},
                                        {0.0, 255.0, 255},
                                        {-3.0, 12.0, 10}}) {
    const BinLayout bins = BinLayout::Even(lower, upper, n);
    const BinGuesser guesser = MakeBinGuesser(bins, SampleKind::kInteger).value();
    if (bins.step * 0x1p16 != std::floor(bins.step * 0x1p16)) continue;
    EXPECT_EQ(guesser.guard, 0) << n;
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
      const double u = static_cast<double>(random() >> 11) * 0x1p-53;
      const int32_t x = static_cast<int32_t>(std::floor(lower + u * (upper - lower)));
      if (x < lower) continue;
      EXPECT_TRUE(IsSure(guesser, GuessBin(guesser, x))) << x << ", " << n << " bins";
    }
  }
}

TEST(FloatBinGuessTest, BinsAPowerOfTwoWideAreAlwaysSure) {
  for (const auto& [lower, upper, n, shift] : {std::tuple(0.0, 1.0, 256, 0u),
                                               {-1.0, 1.0, 65'536, 0u},
                                               {0.0, 256.0, 256, 0u},
                                               {-8.0, 24.0, 64, 0u},
                                               {0.0, 1.0, 524'288, 0u},
                                               {0.0, 1.0, 1 << 20, 1u},
                                               {0.0, 1.0, 1 << 22, 3u}}) {
    const BinLayout bins = BinLayout::Even(lower, upper, n);
    const BinGuesser guesser =
        MakeBinGuesser(bins, SampleKind::kAny, GuessRounding::kDown, shift).value();
    EXPECT_EQ(guesser.guard, 0);
    for (uint64_t i = 0; i < bins.bin_count; ++i) {
      const float x = static_cast<float>(EvenEdge(bins, i));
      EXPECT_TRUE(IsSure(guesser, GuessCellBin(guesser, x)));
      EXPECT_TRUE(IsSure(guesser, GuessCellBin(guesser, std::nextafter(x, 1e30F))));
    }
  }
}

// Samples beside every edge of a layout and, where `all` says so, that each of them is sure.
template <class T>
void ExpectExactAtEveryEdge(const BinLayout& bins, bool all, uint32_t shift = 0) {
  const auto guesser = MakeBinGuesser(bins, kSampleKindOf<T>, GuessRounding::kDown, shift);
  ASSERT_TRUE(guesser.has_value());
  Tally tally;
  for (uint64_t i = 0; i <= bins.bin_count; ++i) {
    for (const T x : ValuesAround<T>(EvenEdge(bins, i))) {
      ExpectLocated(*guesser, bins, x, tally);
      if (testing::Test::HasFatalFailure()) return;
      if (all && x >= bins.lower && x < bins.upper) {
        ASSERT_TRUE(IsSure(*guesser, GuessCellBin(*guesser, x))) << x << ", edge " << i;
      }
    }
  }
}

TEST(EdgeBinGuessTest, ShortFloatsOnEdgesAreSure) {
  // One of 512 floats that are multiples of 2^-24 is on an edge of the first of these.
  for (const auto& [upper, n, shift] : {std::tuple(1.0, 98'304, 0u),
                                        {1.0, 57'344, 0u},
                                        {1.0, 3 << 18, 0u},
                                        {96.0, 49'152, 0u},
                                        {0x1.8p-100, 65'536, 0u},
                                        {1.0, 1'310'720, 1u},
                                        {1.0, 3 << 20, 2u}}) {
    SCOPED_TRACE(testing::Message() << n << " bins to " << upper);
    ExpectExactAtEveryEdge<float>(BinLayout::Even(0, upper, n), true, shift);
    if (HasFatalFailure()) return;
  }
}

TEST(EdgeBinGuessTest, IntegersOnEdgesAreSure) {
  for (const auto& [lower, upper, n] : {std::tuple(0.0, 0x1p30, 98'304),
                                        {0.0, 0x1p30, 57'344},
                                        {-1e6, 2e6, 4096},
                                        {-7.0, 93.0, 300},
                                        {0.0, 1e9, 100'000}}) {
    SCOPED_TRACE(testing::Message() << n << " bins from " << lower << " to " << upper);
    ExpectExactAtEveryEdge<int32_t>(BinLayout::Even(lower, upper, n), true);
    ExpectExactAtEveryEdge<int64_t>(BinLayout::Even(lower, upper, n), true);
    if (HasFatalFailure()) return;
  }
}

// Layouts many of whose edges are samples, though rounding may put an edge behind its sample.
TEST(EdgeBinGuessTest, EdgesThatAreRoundedUp) {
  std::mt19937_64 random(11);
  uint64_t rounded_up = 0;
  for (int i = 0; i < 200; ++i) {
    const uint64_t n = (2 * (random() % 200) + 1) << random() % 5;
    const auto upper = static_cast<double>(n * (1 + random() % 1000) >> random() % 12);
    if (upper == 0) continue;
    for (const double scale : {1.0, 0x1p-13}) {
      const BinLayout bins = BinLayout::Even(0, upper * scale, n);
      for (uint64_t e = 0; e < n; ++e) {
        const Real edge = static_cast<Real>(EvenEdge(bins, e));
        if (edge * n > static_cast<Real>(bins.upper) * e) ++rounded_up;
      }
      ExpectExactAtEveryEdge<float>(bins, false);
      ExpectExactAtEveryEdge<int32_t>(bins, false);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(rounded_up, 100);
}

TEST(FloatBinGuessTest, AlmostAllSamplesAreSure) {
  // What is not costs a kernel its speed. 57,344 bins of [0, 1), and bins far from 0.
  for (const auto& [lower, upper, n] :
       {std::tuple(0.0, 1.0, 57'344), {0.0, 0.7, 1000}, {1e6, 1.0001e6, 1000}}) {
    const BinLayout bins = BinLayout::Even(lower, upper, n);
    const BinGuesser guesser = MakeBinGuesser(bins, SampleKind::kAny).value();
    EXPECT_LT(guesser.guard, 0x1p32 / 10'000);
    Tally tally;
    std::mt19937_64 random(4);
    for (int i = 0; i < 100'000; ++i) {
      const double u = static_cast<double>(random() >> 11) * 0x1p-53;
      ExpectLocated(guesser, bins, lower + u * (upper - lower), tally);
    }
    EXPECT_GT(tally.sure, 99'900);
  }
}

TEST(FloatBinGuessTest, SamplesOutsideAreToldByTheirNumbers) {
  constexpr float kMax = std::numeric_limits<float>::max();
  for (const BinLayout& bins : {BinLayout::Even(0, 1, 256), BinLayout::Even(0, 1, 1000),
                                BinLayout::Even(-3.3, 7.1, 57'344), BinLayout::Even(5, 6, 3)}) {
    const auto guesser = MakeBinGuesser(bins, SampleKind::kAny);
    ASSERT_TRUE(guesser.has_value());
    for (const double distance : {1e-3, 1.0, 1e3, 1e6, 1e12, 1e20, 1e38}) {
      EXPECT_EQ(LocatedByNumber(*guesser, static_cast<float>(bins.lower - distance)), kUnderflowBin)
          << distance;
      EXPECT_EQ(LocatedByNumber(*guesser, static_cast<float>(bins.upper + distance)), kOverflowBin)
          << distance;
    }
    EXPECT_EQ(LocatedByNumber(*guesser, -kMax), kUnderflowBin);
    EXPECT_EQ(LocatedByNumber(*guesser, kMax), kOverflowBin);
    EXPECT_EQ(LocatedByNumber(*guesser, std::nanf("")), kNanBin);
    EXPECT_EQ(LocatedByNumber(*guesser, -std::nanf("")), kNanBin);
  }
}

TEST(BinGuesserTest, RefusesWhatItWouldNotBeSureOf) {
  const double edges[] = {0, 1, 3};
  EXPECT_FALSE(MakeBinGuesser(BinLayout::Table(edges, 2), SampleKind::kAny).has_value());
  EXPECT_FALSE(
      MakeBinGuesser(BinLayout::Even(0, 1, kGuessedBinsMax + 1), SampleKind::kAny).has_value());
  EXPECT_FALSE(MakeBinGuesser(BinLayout::Even(1, 1 + 0x1p-30, 4096), SampleKind::kAny).has_value());
  EXPECT_FALSE(MakeBinGuesser(BinLayout::Even(0, 1e-290, 10), SampleKind::kAny).has_value());
  EXPECT_FALSE(
      MakeBinGuesser(BinLayout::Integer(int64_t{1} << 60, 10), SampleKind::kInteger).has_value());
  EXPECT_FALSE(MakeBinGuesser(BinLayout::Integer(std::numeric_limits<int64_t>::min(), 10),
                              SampleKind::kInteger)
                   .has_value());
}

}  // namespace
}  // namespace gridfold::kernels
