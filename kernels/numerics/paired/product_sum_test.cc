#include "kernels/numerics/paired/product_sum.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/numerics/paired/big_integer.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

template <class T>
class ProductSumTest : public testing::Test {
 protected:
  // Of any bits; floating-point ones finite.
  T Next() {
    T x;
    do {
      const uint64_t bits = random_();
      std::memcpy(&x, &bits, sizeof(T));
    } while (!IsFiniteElement(x));
    return x;
  }

  static Dyadic Exactly(T x) {
    if constexpr (FloatingElement<T>) {
      return Dyadic::FromDouble(static_cast<double>(ToCompute(x)));
    } else {
      return Dyadic::FromInteger(x);
    }
  }

  template <int kFactors>
  void Check() {
    constexpr ProductSumFormat kFormat = ProductSumFormatOf<T>(kFactors);
    std::vector<int64_t> digits(static_cast<size_t>(kFormat.digits()));
    Dyadic expected;
    for (int i = 0; i < 500; ++i) {
      T factors[kFactors];
      Dyadic product = Dyadic::FromInteger(1);
      for (T& factor : factors) {
        factor = Next();
        product = product.Times(Exactly(factor));
      }
      expected = expected.Plus(product);
      AddProduct(factors, [&](uint32_t digit, int64_t value) {
        ASSERT_LT(digit, digits.size());
        ASSERT_LT(std::llabs(value), int64_t{1} << 32);
        digits[digit] += value;
      });
    }
    std::vector<uint64_t> limbs(static_cast<size_t>(kFormat.limbs));
    CarryDigits([&](int digit) { return digits[static_cast<size_t>(digit)]; }, limbs.data(),
                kFormat.limbs);
    const BigInteger sum = BigInteger::OfSigned(limbs);
    std::vector<uint32_t> words;
    for (const uint64_t limb : sum.magnitude()) {
      words.push_back(static_cast<uint32_t>(limb));
      words.push_back(static_cast<uint32_t>(limb >> 32));
    }
    EXPECT_TRUE(Dyadic(sum.is_negative(), words, kFormat.lowest_exponent) == expected) << kFactors;
  }

 private:
  static bool IsFiniteElement(T x) {
    if constexpr (FloatingElement<T>) return IsFinite(static_cast<double>(ToCompute(x)));
    return true;
  }

  std::mt19937_64 random_{7};
};

using Types = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                             uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(ProductSumTest, Types);

TYPED_TEST(ProductSumTest, IsTheSumOfTheProducts) {
  this->template Check<1>();
  this->template Check<2>();
  this->template Check<3>();
}

// The largest products have room, as do the digits behind them.
TYPED_TEST(ProductSumTest, TheLargestFitThreeTimes) {
  using T = TypeParam;
  constexpr uint64_t kLargestInteger =
      std::is_signed_v<T> ? ~uint64_t{0} >> (65 - 8 * sizeof(T)) : ~uint64_t{0};
  const uint64_t bits = std::is_same_v<T, double>     ? 0x7FEF'FFFF'FFFF'FFFF
                        : std::is_same_v<T, float>    ? 0x7F7F'FFFF
                        : std::is_same_v<T, Bfloat16> ? 0x7F7F
                        : std::is_same_v<T, Float16>  ? 0x7BFF
                                                      : kLargestInteger;
  T largest;
  std::memcpy(&largest, &bits, sizeof(T));
  const T factors[3] = {largest, largest, largest};
  const auto digit_count = static_cast<uint32_t>(ProductSumFormatOf<T>(3).digits());
  AddProduct(factors, [&](uint32_t digit, int64_t) { EXPECT_LT(digit, digit_count); });
}

template <int kFactors>
uint32_t FlagsOf(const double (&factors)[kFactors]) {
  bool has_digits = false;
  const uint32_t flags = AddProduct(factors, [&](uint32_t, int64_t) { has_digits = true; });
  EXPECT_FALSE(has_digits && (flags & kSawNan) != 0);
  return flags;
}

TEST(ProductFlagsTest, OfNumbersAndOfWhatIsNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FlagsOf({2.0, 3.0}), kSawOtherThanNegativeZero);
  EXPECT_EQ(FlagsOf({2.0, -3.0}), kSawOtherThanNegativeZero | kSawNegativeProduct);
  EXPECT_EQ(FlagsOf({-0.0, 3.0}), 0u);
  EXPECT_EQ(FlagsOf({-0.0, -3.0}), kSawOtherThanNegativeZero);
  EXPECT_EQ(FlagsOf({1.0, kInfinity}), kSawOtherThanNegativeZero | kSawPositiveInfinity);
  EXPECT_EQ(FlagsOf({-1.0, kInfinity}), kSawOtherThanNegativeZero | kSawNegativeInfinity);
  EXPECT_EQ(FlagsOf({0.0, kInfinity}), kSawOtherThanNegativeZero | kSawNan);
  EXPECT_EQ(FlagsOf({1.0, std::nan("")}), kSawOtherThanNegativeZero | kSawNan);
  // Though the product of the first two is too small for float64.
  EXPECT_EQ(FlagsOf({1e-300, 1e-300, kInfinity}), kSawOtherThanNegativeZero | kSawPositiveInfinity);
}

}  // namespace
}  // namespace gridfold::kernels
