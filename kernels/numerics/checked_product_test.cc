#include "kernels/numerics/checked_product.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

template <class T>
CheckedProduct ProductOf(const std::vector<T>& factors) {
  CheckedProduct product;
  for (const T x : factors) product.Merge(CheckedProduct::Of(x));
  return product;
}

template <class T>
Dyadic ExactProduct(const std::vector<T>& factors) {
  Dyadic product = Dyadic::FromInteger(1);
  for (const T x : factors) product = product.Times(Dyadic::FromInteger(x));
  return product;
}

// Whether lower <= x <= upper.
bool IsWithin(const Dyadic& x, __int128 lower, __int128 upper) {
  return x.Minus(Dyadic::FromInteger(lower)).Sign() >= 0 &&
         x.Minus(Dyadic::FromInteger(upper)).Sign() <= 0;
}

template <class T>
bool FitsExactly(const std::vector<T>& factors) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  using Limits = std::numeric_limits<Wide>;
  return IsWithin(ExactProduct(factors), Limits::min(), Limits::max());
}

TEST(CheckedProductTest, AllTriplesOfInt8) {
  // Small enough for 64 bits, so the product itself is compared; three factors cannot overflow.
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      CheckedProduct pair = CheckedProduct::Of(static_cast<int8_t>(a));
      pair.Merge(CheckedProduct::Of(static_cast<int8_t>(b)));
      for (int c = -128; c < 128; ++c) {
        CheckedProduct product = pair;
        product.Merge(CheckedProduct::Of(static_cast<int8_t>(c)));
        ASSERT_EQ(static_cast<int64_t>(product.wrapped), int64_t{a} * b * c);
        ASSERT_TRUE(product.Fits<int64_t>());
        ASSERT_EQ(product.has_zero, a * b * c == 0);
      }
    }
  }
}

TEST(CheckedProductTest, AllPairsOfUint8) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const CheckedProduct product =
          ProductOf<uint8_t>({static_cast<uint8_t>(a), static_cast<uint8_t>(b)});
      ASSERT_EQ(product.wrapped, static_cast<uint64_t>(a * b));
      ASSERT_TRUE(product.Fits<uint64_t>());
    }
  }
}

TEST(CheckedProductTest, EdgesOfTheSignedRange) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHalf = int64_t{1} << 62;
  EXPECT_TRUE(ProductOf<int64_t>({kMin}).Fits<int64_t>());
  EXPECT_TRUE(ProductOf<int64_t>({kMin, 1, 1}).Fits<int64_t>());
  EXPECT_FALSE(ProductOf<int64_t>({kMin, -1}).Fits<int64_t>());
  EXPECT_TRUE(ProductOf<int64_t>({kMin, -1, -1}).Fits<int64_t>());
  EXPECT_TRUE(ProductOf<int64_t>({kHalf, -2}).Fits<int64_t>());
  EXPECT_FALSE(ProductOf<int64_t>({kHalf, 2}).Fits<int64_t>());
  EXPECT_TRUE(ProductOf<int64_t>({kHalf, 2, -1}).Fits<int64_t>());
  EXPECT_FALSE(ProductOf<int64_t>({kHalf, 4, -1}).Fits<int64_t>());
  EXPECT_EQ(static_cast<int64_t>(ProductOf<int64_t>({kHalf, -2}).wrapped), kMin);
}

TEST(CheckedProductTest, EdgesOfTheUnsignedRange) {
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  EXPECT_TRUE(ProductOf<uint64_t>({~uint64_t{0}}).Fits<uint64_t>());
  EXPECT_TRUE(ProductOf<uint64_t>({0xFFFF'FFFFu, 0x1'0000'0001u}).Fits<uint64_t>());
  EXPECT_FALSE(ProductOf<uint64_t>({kHalf, 2}).Fits<uint64_t>());
  EXPECT_TRUE(ProductOf<uint64_t>({kHalf, 2, 0}).Fits<uint64_t>());
  EXPECT_EQ(ProductOf<uint64_t>({0xFFFF'FFFFu, 0x1'0000'0001u}).wrapped, ~uint64_t{0});
}

TEST(CheckedProductTest, NoFactorsMakeOne) {
  EXPECT_EQ(CheckedProduct{}.wrapped, 1u);
  EXPECT_TRUE(CheckedProduct{}.Fits<int64_t>());
}

template <class T>
class CheckedProductTypeTest : public testing::Test {};
using IntegerTypes =
    testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(CheckedProductTypeTest, IntegerTypes);

TYPED_TEST(CheckedProductTypeTest, AgreesWithTheExactProductInEveryOrder) {
  std::mt19937_64 random(5);
  int fitting = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<TypeParam> factors(1 + random() % 9);
    for (TypeParam& x : factors) {
      const uint64_t bits = random() >> (random() % 64);
      x = static_cast<TypeParam>(random() % 2 == 0 ? bits : uint64_t{0} - bits);
      if (x == 0 && random() % 4 != 0) x = 1;  // A zero now and then, not in most products.
    }
    uint64_t wrapped = 1;
    for (const TypeParam x : factors) wrapped *= static_cast<uint64_t>(x);
    const bool fits = FitsExactly(factors);
    fitting += fits ? 1 : 0;
    using Wide = std::conditional_t<std::is_signed_v<TypeParam>, int64_t, uint64_t>;
    for (int order = 0; order < 4; ++order) {
      std::shuffle(factors.begin(), factors.end(), random);
      const CheckedProduct product = ProductOf(factors);
      ASSERT_EQ(product.wrapped, wrapped);
      ASSERT_EQ(product.template Fits<Wide>(), fits);
    }
  }
  EXPECT_GT(fitting, 100);
}

}  // namespace
}  // namespace gridfold::kernels
