#include "kernels/cpu/reduce/anchored_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cpu {
namespace {

template <class S>
Line<S> LineOf(const std::vector<S>& elements) {
  return {reinterpret_cast<const std::byte*>(elements.data()),
          static_cast<uint32_t>(elements.size())};
}

template <class S>
LineMagnitudes<S> MagnitudesOf(const std::vector<S>& elements) {
  return LineMagnitudes<S>::Of(LineOf(elements));
}

template <class S>
class AnchoredLineTest : public testing::Test {
 protected:
  // Of integers as wide as significands, or less: their squares add up to less than 2^127.
  static std::vector<S> RandomIntegers(std::mt19937_64& random, uint32_t count, int kind) {
    constexpr int kBits = std::numeric_limits<S>::digits;
    std::vector<S> elements(count);
    for (S& x : elements) {
      const uint64_t integer = random() >> (64 - kBits + (kind == 0 ? 0 : random() % kBits));
      x = static_cast<S>(kind == 2 ? (uint64_t{1} << kBits) - 1 : integer);
      if (kind == 1 && random() % 2 == 0) x = -x;
    }
    elements[0] = 1;  // So that there is one which is not 0.
    return elements;
  }

  // Of integers, which all elements are.
  template <Moment kMoment>
  static void ExpectSum(const std::vector<S>& elements) {
    Int128 expected = 0;
    for (const S x : elements) {
      const auto integer = static_cast<Int128>(x);
      expected += kMoment == Moment::kSquares ? integer * integer
                  : kMoment == Moment::kSum   ? integer
                                              : (integer < 0 ? -integer : integer);
    }
    const CheckedPair sum = SumOfAnchoredLine<kMoment>(LineOf(elements), MagnitudesOf(elements));
    ASSERT_EQ(sum.low, std::nearbyint(sum.low));
    const Int128 error = expected - static_cast<Int128>(sum.high) - static_cast<Int128>(sum.low);
    EXPECT_LE(std::fabs(static_cast<double>(error)), sum.lost);
    // Far less than the last bit of what may be the sum.
    const double largest = std::ldexp(1, MagnitudesOf(elements).TopExponent());
    EXPECT_LE(sum.lost, 0x1p-72 * (kMoment == Moment::kSquares ? largest * largest : largest));
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AnchoredLineTest, Types);

TYPED_TEST(AnchoredLineTest, SumsAreWithinTheirBound) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 3'000; ++turn) {
    SCOPED_TRACE(turn);
    const uint32_t count = turn % 3 == 0 ? kLineChunk : 1 + static_cast<uint32_t>(random() % 300);
    const std::vector<TypeParam> elements = this->RandomIntegers(random, count, turn / 3 % 3);
    this->template ExpectSum<Moment::kSum>(elements);
    this->template ExpectSum<Moment::kMagnitudes>(elements);
    this->template ExpectSum<Moment::kSquares>(elements);
  }
}

TYPED_TEST(AnchoredLineTest, TopExponentIsAboveAll) {
  const auto top_of = [](TypeParam x) { return MagnitudesOf<TypeParam>({0, x}).TopExponent(); };
  EXPECT_EQ(top_of(1), 1);
  EXPECT_EQ(top_of(-2), 2);
  EXPECT_EQ(top_of(std::nextafter(TypeParam{4}, TypeParam{0})), 2);
  EXPECT_EQ(top_of(TypeParam{0x1p-60}), -59);
}

TYPED_TEST(AnchoredLineTest, ZerosAndWhatIsNotFiniteAreNotOrdinary) {
  using Limits = std::numeric_limits<TypeParam>;
  const auto is_ordinary = [](TypeParam x) {
    return MagnitudesOf<TypeParam>({1, x}).AreOrdinary();
  };
  EXPECT_TRUE(is_ordinary(0));
  EXPECT_FALSE(is_ordinary(Limits::infinity()));
  EXPECT_FALSE(is_ordinary(-Limits::infinity()));
  EXPECT_FALSE(is_ordinary(Limits::quiet_NaN()));
  EXPECT_FALSE(MagnitudesOf<TypeParam>({0, -TypeParam{0}}).AreOrdinary());
  // All floats have squares that float64 holds.
  constexpr bool kIsFloat = std::is_same_v<TypeParam, float>;
  EXPECT_EQ(is_ordinary(Limits::max()), kIsFloat);
  EXPECT_EQ(MagnitudesOf<TypeParam>({Limits::denorm_min()}).AreOrdinary(), kIsFloat);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
