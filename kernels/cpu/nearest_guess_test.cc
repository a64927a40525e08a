// Guesses in rounding to the nearest: those that are sure are what comparison with the edges
// decides.
#include "kernels/cpu/nearest_guess.h"

#include <cmath>
#include <cstdint>
#include <random>

#include "gtest/gtest.h"
#include "kernels/numerics/bin_layout_test.h"

namespace gridfold::kernels {
namespace {

// Counts the samples that the guess was sure of.
struct Tally {
  uint64_t samples = 0;
  uint64_t sure = 0;
};

template <class T>
void ExpectRightWhereSure(const BinGuesser& guesser, const BinLayout& bins, T x, Tally& tally) {
  const BinGuess guess = GuessBinNearest(guesser, x);
  ++tally.samples;
  if (!IsSure(guesser, guess)) return;
  ++tally.sure;
  ASSERT_EQ(guess.bin, LocateBin(bins, x)) << RealOf(x) << " of [" << bins.lower << ", "
                                           << bins.upper << "], " << bins.bin_count << " bins";
}

template <class T>
void ExpectRight(const BinLayout& bins, Tally& around_edges, Tally& anywhere) {
  const auto guesser = MakeNearestGuesser(bins);
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
using FloatingTypes = testing::Types<Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(NearestGuessTest, FloatingTypes);

// Bins a power of two wide among them, whose guesses need no guard where rounding is down.
TYPED_TEST(NearestGuessTest, WhoIsSureIsRight) {
  Tally around_edges;
  Tally anywhere;
  for (uint64_t n = 1; n <= 300'000; n += n / 7 + 1) {
    for (const auto& [lower, upper] : {std::pair(-1.0, 1.0),
                                       {0.0, 1.0},
                                       {0.0, 100.0},
                                       {-1e6, 3.7e5},
                                       {0.1, 0.3},
                                       {1e6, 1e6 + 1},
                                       {-0.3, 0x1p-20},
                                       {0.0, 1e-40},
                                       {-3e38, 3e38},
                                       {0.0, static_cast<double>(n)},
                                       {-0.5 * static_cast<double>(n), 0.0}}) {
      ExpectRight<TypeParam>(BinLayout::Even(lower, upper, n), around_edges, anywhere);
      if (this->HasFatalFailure()) return;
    }
  }
  EXPECT_GT(around_edges.samples, 100'000);
  EXPECT_GT(anywhere.sure, anywhere.samples / 2);
}

TYPED_TEST(NearestGuessTest, NobodyIsSureOfSpecialSamples) {
  const BinGuesser guesser = MakeNearestGuesser(BinLayout::Even(-1, 1, 7)).value();
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

}  // namespace
}  // namespace gridfold::kernels
