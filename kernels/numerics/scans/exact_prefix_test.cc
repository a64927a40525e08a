#include "kernels/numerics/scans/exact_prefix.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/element_codec.h"
#include "kernels/conformance/exact_sum.h"
#include "kernels/numerics/scans/exact_run.h"

namespace gridfold::kernels {
namespace {

using conformance::FloatFormatOf;

template <class T>
T AnyFinite(std::mt19937_64& random) {
  for (;;) {
    const uint64_t bits = random();
    T x;
    std::memcpy(&x, &bits, sizeof(x));
    if (std::isfinite(static_cast<double>(x))) return x;
  }
}

template <class T>
class ExactPrefixTest : public testing::Test {};
using FloatingTypes = testing::Types<Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ExactPrefixTest, FloatingTypes);

// Sums of a few numbers of the whole range, rounded to their own type and to float64.
TYPED_TEST(ExactPrefixTest, RoundsOnce) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 20'000; ++round) {
    PrefixSum<TypeParam> sum;
    conformance::ExactSum expected;
    const uint64_t count = 1 + random() % 4;
    for (uint64_t i = 0; i < count; ++i) {
      const TypeParam x = AnyFinite<TypeParam>(random);
      sum.Add(ToCompute(x));
      expected.Add(static_cast<double>(x));
    }
    ASSERT_EQ(static_cast<double>(RoundOnce<TypeParam>(sum)),
              expected.Value().RoundedTo(FloatFormatOf(kElementTypeOf<TypeParam>)));
    ASSERT_EQ(RoundOnce<double>(sum), expected.Value().ToDouble());
  }
}

// Sums near the middle of two float32 numbers, where float64 in between would round twice.
TEST(ExactRoundingTest, TiesOfFloat32ThatFloat64CannotTellFromTheMiddle) {
  for (const int sign : {1, -1}) {
    for (const int least : {-1, 0, 1}) {
      ExactSum<float, 1> sum;
      sum.Add(static_cast<float>(sign));
      sum.Add(sign * 0x1p-24f);
      sum.Add(static_cast<float>(sign * least) * 0x1p-149f);
      EXPECT_EQ(RoundOnce<float>(sum), sign * (least > 0 ? 1 + 0x1p-23f : 1.0f));
    }
  }
}

TEST(ExactRoundingTest, TheLargestNumbers) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // Half of the last bit, and less, above the largest number.
  const double half = std::ldexp(1.0, 1023 - 53);
  for (const int sign : {1, -1}) {
    ExactSum<double, 1> sum;
    sum.Add(sign * kLargest);
    EXPECT_EQ(RoundOnce<double>(sum), sign * kLargest);
    sum.Add(sign * half);
    EXPECT_EQ(RoundOnce<double>(sum), sign * kInfinity);
    sum.Add(-sign * 0x1p-1074);
    EXPECT_EQ(RoundOnce<double>(sum), sign * kLargest);
  }
}

TEST(BitSpanTest, CoversFiniteNumbersOtherThanZero) {
  BitSpan span;
  for (const float x : {0.0f, -0.0f, std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()}) {
    span.Include(x);
  }
  EXPECT_EQ(span.end, 0);
  EXPECT_EQ(span.first, BitSpan::kNone);
  span.Include(-1.0f);
  EXPECT_EQ(span.first, 149 - 23);
  EXPECT_EQ(span.end, 149 + 1);
  span.Include(0x1p-149f);
  EXPECT_EQ(span.first, 0);
  EXPECT_EQ(span.end, 149 + 1);
}

// Windows hold a sign, 126 bits, and among them the growth of the sums.
TEST(PrefixWindowTest, FitsWhatLiesWithinItsBits) {
  const ExactSum<float, 1> nothing;
  for (const int lowest : {140, 24, 23, 22, 0}) {
    BitSpan span{lowest, 150};
    EXPECT_EQ(PrefixWindow<float>(span, 0, false).fits(), lowest >= 25) << lowest;
    span.end = 138;
    EXPECT_EQ(PrefixWindow<float>(span, 12, false, &nothing).fits(), lowest >= 25) << lowest;
  }
  ExactSum<float, 1> carry;
  carry.Add(-0x1p100f);
  EXPECT_TRUE(PrefixWindow<float>({124, 150}, 12, false, &carry).fits());
  EXPECT_FALSE(PrefixWindow<float>({123, 150}, 12, false, &carry).fits());
}

// The same prefixes in a window and on limbs, whatever the carry.
TYPED_TEST(ExactPrefixTest, WindowAndLimbsAgree) {
  using T = TypeParam;
  std::mt19937_64 random(32);
  int fitting = 0;
  for (int round = 0; round < 3000; ++round) {
    PrefixSum<T> carry;
    const uint64_t addends = random() % 3;
    for (uint64_t i = 0; i < addends; ++i) carry.Add(ToCompute(AnyFinite<T>(random)));
    std::vector<T> items;
    for (int i = 0; i < 5; ++i) {
      const double part =
          std::ldexp(static_cast<double>(random() % 5) - 2.0, static_cast<int>(random() % 40) - 20);
      items.push_back(RoundTo<T>(i == 3 ? -RoundOnce<double>(carry) : part));
    }
    const PrefixWindow<T> window(SpanOf(items.data(), 5), 3, false, &carry);
    if (!window.fits()) continue;
    ++fitting;
    const PrefixLimbs<T> limbs(false, &carry);
    WindowSum in_window = window.Carry();
    PrefixSum<T> on_limbs = limbs.Carry();
    for (const T& x : items) {
      window.Take(in_window, x);
      limbs.Take(on_limbs, x);
      ASSERT_EQ(window.SumOf(in_window, true), on_limbs);
      if (!on_limbs.is_finite()) break;
      ASSERT_EQ(window.template Round<double>(in_window, true),
                limbs.template Round<double>(on_limbs, true));
    }
  }
  EXPECT_GT(fitting, 300);
}

}  // namespace
}  // namespace gridfold::kernels
