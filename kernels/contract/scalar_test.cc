#include "kernels/contract/scalar.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace gridfold::kernels {
namespace {

constexpr uint64_t kTwo63 = uint64_t{1} << 63;

TEST(ScalarTest, SlotsHoldWhatTheyHoldExactly) {
  EXPECT_EQ(SlotOf(int64_t{-3}, ValueKind::kInt64), uint64_t{0} - 3);
  EXPECT_EQ(SlotOf(int64_t{-3}, ValueKind::kUint64), std::nullopt);
  EXPECT_EQ(SlotOf(kTwo63, ValueKind::kUint64), kTwo63);
  EXPECT_EQ(SlotOf(kTwo63, ValueKind::kInt64), std::nullopt);
  EXPECT_EQ(SlotOf(kTwo63, ValueKind::kDouble), std::bit_cast<uint64_t>(0x1p63));
  EXPECT_EQ(SlotOf(kTwo63 + 1, ValueKind::kDouble), std::nullopt);
  EXPECT_EQ(SlotOf(std::numeric_limits<uint64_t>::max(), ValueKind::kDouble), std::nullopt);
  EXPECT_EQ(SlotOf(std::numeric_limits<int64_t>::max(), ValueKind::kDouble), std::nullopt);
  EXPECT_EQ(SlotOf(-0x1p63, ValueKind::kInt64), kTwo63);
  EXPECT_EQ(SlotOf(0x1p63, ValueKind::kInt64), std::nullopt);
  EXPECT_EQ(SlotOf(0x1p64, ValueKind::kUint64), std::nullopt);
  EXPECT_EQ(SlotOf(1.5, ValueKind::kInt64), std::nullopt);
  EXPECT_EQ(SlotOf(double{NAN}, ValueKind::kInt64), std::nullopt);
  EXPECT_EQ(SlotOf(double{INFINITY}, ValueKind::kUint64), std::nullopt);
  EXPECT_EQ(SlotOf(double{INFINITY}, ValueKind::kDouble), std::bit_cast<uint64_t>(INFINITY * 1.0));
  EXPECT_EQ(SlotOf(true, ValueKind::kDouble), std::bit_cast<uint64_t>(1.0));
  EXPECT_EQ(SlotOf(int64_t{1}, ValueKind::kBool), 1u);
  EXPECT_EQ(SlotOf(int64_t{2}, ValueKind::kBool), std::nullopt);
}

template <class T>
std::optional<T> As(const Scalar& scalar) {
  const auto bytes = ElementOf(scalar, kElementTypeOf<T>);
  if (!bytes) return std::nullopt;
  T element;
  std::memcpy(&element, bytes->data(), sizeof(T));
  return element;
}

TEST(ScalarTest, ElementsOfEveryKind) {
  EXPECT_EQ(As<int8_t>(int64_t{-128}), -128);
  EXPECT_EQ(As<int8_t>(int64_t{128}), std::nullopt);
  EXPECT_EQ(As<uint8_t>(int64_t{-1}), std::nullopt);
  EXPECT_EQ(As<uint8_t>(255.0), 255);
  EXPECT_EQ(As<uint8_t>(255.5), std::nullopt);
  EXPECT_EQ(As<uint64_t>(kTwo63 + 1), kTwo63 + 1);
  EXPECT_EQ(As<int16_t>(true), 1);
  EXPECT_EQ(As<float>(0.1), 0.1f);
  EXPECT_EQ(As<float>(1e39), std::nullopt);
  EXPECT_EQ(As<float>(double{-INFINITY}), -INFINITY);
  EXPECT_TRUE(std::isnan(*As<float>(double{NAN})));
  EXPECT_EQ(As<double>(int64_t{-7}), -7.0);
  EXPECT_EQ(As<Float16>(65504.0)->bits, 0x7BFF);
  EXPECT_EQ(As<Float16>(65536.0), std::nullopt);
  EXPECT_EQ(As<Bfloat16>(1.0)->bits, 0x3F80);
}

}  // namespace
}  // namespace gridfold::kernels
