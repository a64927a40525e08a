#include "kernels/numerics/sums/expansion_sum.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels {
namespace {

template <int kCount>
struct Floats {
  float values[kCount];
};

// Any finite float; of few binades and bits, so that sums lie between float64 numbers; of few
// values far apart; and with opposites and zeros among them.
enum class Kind { kAnyBits, kFewBits, kTies, kCancelling };

float AnyFinite(std::mt19937_64& random) {
  for (;;) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(x)) return x;
  }
}

template <int kCount>
Floats<kCount> Draw(std::mt19937_64& random, Kind kind) {
  Floats<kCount> drawn = {};
  for (int i = 0; i < kCount; ++i) {
    const float sign = (random() & 1) == 0 ? 1.0f : -1.0f;
    float& x = drawn.values[i];
    switch (kind) {
      case Kind::kAnyBits: x = AnyFinite(random); break;
      case Kind::kFewBits:
        x = std::ldexp(sign * static_cast<float>(random() % 9),
                       static_cast<int>(random() % 12) * 9);
        break;
      case Kind::kTies:
        x = std::ldexp(sign * (1 + static_cast<float>(random() % 3) * 0x1p-23f),
                       static_cast<int>(random() % 5) * 26 - 60);
        break;
      case Kind::kCancelling:
        x = i > 0 && random() % 3 == 0 ? -drawn.values[random() % static_cast<uint64_t>(i)]
                                       : AnyFinite(random);
        if (random() % 8 == 0) x = sign * 0.0f;
        break;
    }
  }
  return drawn;
}

template <int kCount>
void ExpectRoundedOnce() {
  std::mt19937_64 random(kCount);
  for (const Kind kind : {Kind::kAnyBits, Kind::kFewBits, Kind::kTies, Kind::kCancelling}) {
    for (int repeat = 0; repeat < 100'000; ++repeat) {
      const Floats<kCount> drawn = Draw<kCount>(random, kind);
      ExactSum<float, 1> sum;
      for (const float x : drawn.values) sum.Add(x);
      ASSERT_EQ(std::bit_cast<uint64_t>(RoundedSum(drawn.values)),
                std::bit_cast<uint64_t>(sum.Rounded()))
          << kCount << " of kind " << static_cast<int>(kind) << ", " << sum.Rounded();
    }
  }
}

TEST(ExpansionSumTest, IsRoundedOnce) {
  ExpectRoundedOnce<1>();
  ExpectRoundedOnce<2>();
  ExpectRoundedOnce<3>();
  ExpectRoundedOnce<4>();
  ExpectRoundedOnce<8>();
}

TEST(ExpansionSumTest, TakesWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kLargest = std::numeric_limits<float>::max();
  EXPECT_EQ(RoundedSum<4>({1, kInfinity, kLargest, -3}), kInfinity);
  EXPECT_EQ(RoundedSum<4>({-kInfinity, 2, kLargest, -3}), -kInfinity);
  EXPECT_TRUE(std::isnan(RoundedSum<4>({kInfinity, 1, -kInfinity, 0})));
  EXPECT_TRUE(std::isnan(RoundedSum<4>({1, 2, 3, kNan})));
}

TEST(ExpansionSumTest, KnowsNegativeZeros) {
  EXPECT_TRUE(std::signbit(RoundedSum<3>({-0.0f, -0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(RoundedSum<3>({-0.0f, 0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(RoundedSum<3>({-0.0f, 5.0f, -5.0f})));
}

}  // namespace
}  // namespace gridfold::kernels
