// Both products of integers: CheckedProduct of reductions and EstimatedProduct of scans.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/conformance/dyadic.h"
#include "kernels/numerics/arithmetic/checked_product.h"
#include "kernels/numerics/arithmetic/estimated_product.h"

namespace gridfold::kernels {
namespace {

using conformance::Dyadic;

template <class T>
using WideOf = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;

template <class Product, class T>
Product ProductOf(const std::vector<T>& factors) {
  Product product;
  for (const T x : factors) product.Merge(Product::Of(x));
  return product;
}
template <class Product, class T>
bool Fits(const std::vector<T>& factors) {
  return ProductOf<Product>(factors).template Fits<WideOf<T>>();
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
  using Limits = std::numeric_limits<WideOf<T>>;
  return IsWithin(ExactProduct(factors), Limits::min(), Limits::max());
}

template <class Product>
class IntegerProductTest : public testing::Test {};
using Products = testing::Types<CheckedProduct, EstimatedProduct>;
TYPED_TEST_SUITE(IntegerProductTest, Products);

TYPED_TEST(IntegerProductTest, AllTriplesOfInt8) {
  // Small enough for 64 bits, so the product itself is compared; three factors cannot overflow.
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      TypeParam pair = TypeParam::Of(static_cast<int8_t>(a));
      pair.Merge(TypeParam::Of(static_cast<int8_t>(b)));
      for (int c = -128; c < 128; ++c) {
        TypeParam product = pair;
        product.Merge(TypeParam::Of(static_cast<int8_t>(c)));
        ASSERT_EQ(static_cast<int64_t>(product.wrapped), int64_t{a} * b * c);
        ASSERT_TRUE(product.template Fits<int64_t>());
      }
    }
  }
}

TYPED_TEST(IntegerProductTest, AllPairsOfUint8) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const auto product =
          ProductOf<TypeParam, uint8_t>({static_cast<uint8_t>(a), static_cast<uint8_t>(b)});
      ASSERT_EQ(product.wrapped, static_cast<uint64_t>(a * b));
      ASSERT_TRUE(product.template Fits<uint64_t>());
    }
  }
}

TYPED_TEST(IntegerProductTest, EdgesOfTheSignedRange) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kHalf = int64_t{1} << 62;
  EXPECT_TRUE((Fits<TypeParam, int64_t>({kMin})));
  EXPECT_TRUE((Fits<TypeParam, int64_t>({kMax})));
  EXPECT_TRUE((Fits<TypeParam, int64_t>({kMax, -1})));
  EXPECT_TRUE((Fits<TypeParam, int64_t>({kMin, 1, 1})));
  EXPECT_FALSE((Fits<TypeParam, int64_t>({kMin, -1})));
  EXPECT_TRUE((Fits<TypeParam, int64_t>({kMin, -1, -1})));
  EXPECT_TRUE((Fits<TypeParam, int64_t>({kHalf, -2})));
  EXPECT_FALSE((Fits<TypeParam, int64_t>({kHalf, 2})));
  EXPECT_TRUE((Fits<TypeParam, int64_t>({kHalf, 2, -1})));
  EXPECT_FALSE((Fits<TypeParam, int64_t>({kHalf, 4, -1})));
  EXPECT_EQ(static_cast<int64_t>(ProductOf<TypeParam, int64_t>({kHalf, -2}).wrapped), kMin);
}

TYPED_TEST(IntegerProductTest, EdgesOfTheUnsignedRange) {
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  EXPECT_TRUE((Fits<TypeParam, uint64_t>({~uint64_t{0}})));
  EXPECT_TRUE((Fits<TypeParam, uint64_t>({0xFFFF'FFFFu, 0x1'0000'0001u})));
  EXPECT_FALSE((Fits<TypeParam, uint64_t>({kHalf, 2})));
  EXPECT_TRUE((Fits<TypeParam, uint64_t>({kHalf, 2, 0})));
  EXPECT_EQ((ProductOf<TypeParam, uint64_t>({0xFFFF'FFFFu, 0x1'0000'0001u}).wrapped), ~uint64_t{0});
}

TYPED_TEST(IntegerProductTest, AZeroAmongFactorsOfAnySize) {
  const std::vector<int32_t> large(200, -2'000'000'000);
  EXPECT_FALSE((Fits<TypeParam>(large)));
  for (const size_t place : {0, 1, 3, 100, 199}) {
    std::vector<int32_t> factors = large;
    factors[place] = 0;
    EXPECT_TRUE((Fits<TypeParam>(factors))) << place;
    EXPECT_EQ(ProductOf<TypeParam>(factors).wrapped, 0u) << place;
  }
  auto product = ProductOf<TypeParam>(large);
  product.Merge(ProductOf<TypeParam, int32_t>({3, 0}));
  product.Merge(ProductOf<TypeParam>(large));
  EXPECT_TRUE(product.template Fits<int64_t>());
}

TYPED_TEST(IntegerProductTest, LargeProductsWhoseLowBitsAreSmall) {
  for (int twos = 1; twos <= 400; ++twos) {
    for (const int64_t factor : {2, -2}) {
      const std::vector<int64_t> factors(twos, factor);
      EXPECT_EQ((Fits<TypeParam>(factors)), twos < 63 || (twos == 63 && factor < 0)) << twos;
    }
    EXPECT_EQ((Fits<TypeParam>(std::vector<uint8_t>(twos, 2))), twos < 64) << twos;
  }
}

TYPED_TEST(IntegerProductTest, NoFactorsMakeOne) {
  EXPECT_EQ(TypeParam{}.wrapped, 1u);
  EXPECT_TRUE(TypeParam{}.template Fits<int64_t>());
}

// Factors of random sizes, whose products are at most some 2^64 in every other round.
template <class T>
std::vector<T> RandomFactors(std::mt19937_64& random) {
  std::vector<T> factors(1 + random() % 40);
  uint64_t bits_left = random() % 2 == 0 ? 66 : 64 * factors.size();
  for (T& x : factors) {
    const uint64_t bit_count = std::min(random() % 64, bits_left);
    bits_left -= bit_count;
    const uint64_t bits = bit_count == 0 ? 1 : random() >> (64 - bit_count);
    x = static_cast<T>(random() % 2 == 0 ? bits : uint64_t{0} - bits);
    if (x == 0 && random() % 4 != 0) x = 1;  // A zero now and then, not in most products.
  }
  return factors;
}

template <class Product, class T>
void CheckRandomProducts() {
  std::mt19937_64 random(5);
  int fitting = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<T> factors = RandomFactors<T>(random);
    uint64_t wrapped = 1;
    for (const T x : factors) wrapped *= static_cast<uint64_t>(x);
    const bool fits = FitsExactly(factors);
    fitting += fits ? 1 : 0;
    for (int order = 0; order < 4; ++order) {
      std::shuffle(factors.begin(), factors.end(), random);
      ASSERT_EQ(ProductOf<Product>(factors).wrapped, wrapped);
      ASSERT_EQ((Fits<Product>(factors)), fits);
    }
  }
  EXPECT_GT(fitting, 100);
  EXPECT_LT(fitting, 1900);
}

TYPED_TEST(IntegerProductTest, AgreesWithTheExactProductInEveryOrder) {
  CheckRandomProducts<TypeParam, int8_t>();
  CheckRandomProducts<TypeParam, int16_t>();
  CheckRandomProducts<TypeParam, int32_t>();
  CheckRandomProducts<TypeParam, int64_t>();
  CheckRandomProducts<TypeParam, uint8_t>();
  CheckRandomProducts<TypeParam, uint16_t>();
  CheckRandomProducts<TypeParam, uint32_t>();
  CheckRandomProducts<TypeParam, uint64_t>();
}

}  // namespace
}  // namespace gridfold::kernels
