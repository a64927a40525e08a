#include "kernels/cpu/reduce/narrow_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cpu {
namespace {

// Floats at an address that is aligned to nothing.
class Unaligned {
 public:
  explicit Unaligned(const std::vector<float>& elements)
      : bytes_(elements.size() * sizeof(float) + 1), count_(elements.size()) {
    if (count_ > 0) std::memcpy(&bytes_[1], elements.data(), count_ * sizeof(float));
  }
  Line<float> line() const { return {&bytes_[1], static_cast<uint32_t>(count_)}; }
  LineMagnitudes<float> magnitudes() const { return LineMagnitudes<float>::Of(line()); }

 private:
  std::vector<std::byte> bytes_;
  size_t count_;
};

bool AreNarrow(const std::vector<float>& elements) {
  return Unaligned(elements).magnitudes().AreNarrow();
}

// Of integers, which all floats here are, times the unit.
template <Moment kMoment>
void ExpectSum(const std::vector<float>& elements, Int128 expected, double unit) {
  const Unaligned unaligned(elements);
  const CheckedPair sum = SumOfNarrowLine<kMoment>(unaligned.line(), unaligned.magnitudes());
  EXPECT_EQ(sum.lost, 0);
  const double high = sum.high / unit;
  const double low = sum.low / unit;
  ASSERT_EQ(high, std::nearbyint(high));
  ASSERT_EQ(low, std::nearbyint(low));
  EXPECT_TRUE(static_cast<Int128>(high) + static_cast<Int128>(low) == expected)
      << elements.size() << " elements, " << high << " + " << low;
}

// Significands of 24 bits at the ends and in the middle of what is narrow, of every size of lines:
// the sums are those of integers.
TEST(NarrowLineTest, SumsAreExact) {
  std::mt19937_64 random(21);
  for (int turn = 0; turn < 3'000; ++turn) {
    const uint32_t count = turn % 3 == 0 ? kLineChunk : 1 + static_cast<uint32_t>(random() % 300);
    const int scale = static_cast<int>(random() % 200) - 120;
    const int kind = static_cast<int>(random() % 4);
    std::vector<float> elements(count);
    Int128 sum = 0;
    Int128 squares = 0;
    Int128 magnitudes = 0;
    for (float& x : elements) {
      int64_t integer = (int64_t{1} << 23) + static_cast<int64_t>(random() % (1 << 23));
      if (kind == 1) integer = (int64_t{1} << 24) - 1;
      integer <<= kind == 2 ? 19 * (random() % 2) : random() % 20;
      if (kind == 3 && random() % 3 == 0) integer = 0;
      const bool is_negative = random() % 2 == 0;
      x = static_cast<float>(std::ldexp(static_cast<double>(integer), scale));
      if (is_negative) x = -x;
      sum += is_negative ? -integer : integer;
      squares += Int128{integer} * integer;
      magnitudes += integer;
    }
    SCOPED_TRACE(turn);
    ASSERT_TRUE(AreNarrow(elements));
    const double unit = std::ldexp(1, scale);
    ExpectSum<Moment::kSum>(elements, sum, unit);
    ExpectSum<Moment::kMagnitudes>(elements, magnitudes, unit);
    ExpectSum<Moment::kSquares>(elements, squares, unit * unit);
  }
}

TEST(NarrowLineTest, NineteenBinadesAreNarrow) {
  EXPECT_TRUE(AreNarrow({1, -0x1p19f}));
  EXPECT_TRUE(AreNarrow({1, 0, 0x1.fffffep19f}));
  EXPECT_FALSE(AreNarrow({1, 0x1p20f}));
  EXPECT_FALSE(AreNarrow({0x1.fffffep0f, -0x1p20f, 0}));
  // Subnormal numbers are multiples of the unit of the least normal ones.
  EXPECT_TRUE(AreNarrow({0x1p-149f, 0x1.8p-107f}));
  EXPECT_FALSE(AreNarrow({0x1p-149f, 0x1p-106f}));
  EXPECT_TRUE(AreNarrow({0, -0.0f}));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(AreNarrow({kInfinity, 1}));
  EXPECT_FALSE(AreNarrow({-kInfinity}));
  EXPECT_FALSE(AreNarrow({0x1p127f, std::nanf("")}));
  EXPECT_TRUE(AreNarrow({std::numeric_limits<float>::max(), 0x1p110f}));
}

TEST(NarrowLineTest, NothingButNegativeZerosIsANegativeZero) {
  const auto sum_of = [](const std::vector<float>& elements) {
    const Unaligned unaligned(elements);
    return SumOfNarrowLine<Moment::kSum>(unaligned.line(), unaligned.magnitudes()).high;
  };
  EXPECT_TRUE(std::signbit(sum_of({-0.0f, -0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(sum_of({-0.0f, 0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(sum_of({1, -1})));
}

TEST(NarrowLineTest, TheLargestAndTheSmallestNumbersHaveSquares) {
  const float largest = std::numeric_limits<float>::max();
  const Unaligned large(std::vector<float>(kLineChunk, largest));
  const CheckedPair of_large = SumOfNarrowLine<Moment::kSquares>(large.line(), large.magnitudes());
  EXPECT_EQ(of_large.high + of_large.low, kLineChunk * (static_cast<double>(largest) * largest));
  const Unaligned small(std::vector<float>(3, 0x1p-149f));
  const CheckedPair of_small = SumOfNarrowLine<Moment::kSquares>(small.line(), small.magnitudes());
  EXPECT_EQ(of_small.high + of_small.low, 3 * 0x1p-298);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
