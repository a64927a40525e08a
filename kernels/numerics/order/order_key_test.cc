#include "kernels/numerics/order/order_key.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kernels/types/element_type.h"

namespace gridfold::kernels {
namespace {

template <class T>
class OrderKeyTest : public testing::Test {};

using Types = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                             uint64_t, Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(OrderKeyTest, Types);

template <class T>
T AnyElement(std::mt19937_64& random) {
  const uint64_t bits = random();
  T x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

// Every value of every type is exact in it.
template <class T>
long double Value(T x) {
  if constexpr (HalfElement<T>) {
    return static_cast<float>(x);
  } else {
    return static_cast<long double>(x);
  }
}

TYPED_TEST(OrderKeyTest, KeysAreInTheOrderOfElements) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto a = AnyElement<TypeParam>(random);
    const auto b = AnyElement<TypeParam>(random);
    if (std::isnan(Value(a)) || std::isnan(Value(b))) continue;
    EXPECT_EQ(ToOrderKey(a) < ToOrderKey(b), Value(a) < Value(b));
    EXPECT_EQ(ToOrderKey(a) == ToOrderKey(b), Value(a) == Value(b));
    EXPECT_EQ(Value(FromOrderKey<TypeParam>(ToOrderKey(a))), Value(a));
    EXPECT_EQ(ToSelectionKey(a, true, true) > ToSelectionKey(b, true, true), Value(a) < Value(b));
    EXPECT_EQ(ToSelectionKey(a, false, true) > ToSelectionKey(b, false, true), Value(a) > Value(b));
  }
}

TYPED_TEST(OrderKeyTest, NansAreFirstOrLast) {
  if constexpr (FloatingElement<TypeParam>) {
    std::mt19937_64 random(2);
    int nans = 0;
    for (int i = 0; i < 200'000; ++i) {
      const auto x = AnyElement<TypeParam>(random);
      const bool is_nan = std::isnan(Value(x));
      nans += is_nan ? 1 : 0;
      EXPECT_EQ(IsNanKey<TypeParam>(ToOrderKey(x)), is_nan);
      for (const bool smallest : {false, true}) {
        EXPECT_EQ(IsNanKey<TypeParam>(ToSelectionKey(x, smallest, false)), is_nan);
        EXPECT_EQ(IsIgnoredKey<TypeParam>(ToSelectionKey(x, smallest, true), true), is_nan);
      }
      if (is_nan) {
        EXPECT_EQ(ElementSlot(x), kNanSlot);
      }
    }
    EXPECT_GT(nans, 10);
  } else {
    EXPECT_FALSE(IsNanKey<TypeParam>(kNanKey<TypeParam>));
    EXPECT_FALSE(IsIgnoredKey<TypeParam>(0, true));
  }
}

TEST(ElementOrderTest, ZerosOfEitherSignAreEqual) {
  EXPECT_EQ(ToOrderKey(-0.0), ToOrderKey(0.0));
  EXPECT_EQ(ElementSlot(FromOrderKey<double>(ToOrderKey(-0.0))), 0u);
  EXPECT_EQ(ToOrderKey(Float16{0x8000}), ToOrderKey(Float16{0}));
  EXPECT_LT(ToOrderKey(-std::numeric_limits<float>::denorm_min()), ToOrderKey(0.0f));
}

TEST(ElementOrderTest, SlotsHoldElements) {
  EXPECT_EQ(ElementSlot(int8_t{-1}), ~uint64_t{0});
  EXPECT_EQ(ElementSlot(uint8_t{255}), 255u);
  EXPECT_EQ(ElementSlot(Float16{0x3E00}), std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(ElementSlot(std::numeric_limits<uint64_t>::max()), ~uint64_t{0});
}

}  // namespace
}  // namespace gridfold::kernels
