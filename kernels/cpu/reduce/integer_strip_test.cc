// Sums of strips of 64-bit integers at the edges of what 64 bits hold (moment_lanes.h), and their
// extremes, against additions one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/cpu/reduce/kernels.h"

namespace gridfold::kernels::cpu {
namespace {

constexpr uint32_t kParts = kSumPart | kSquaresPart | kMagnitudesPart | kExtremesPart;

template <class T>
class IntegerStripTest : public testing::Test {
 protected:
  // Magnitudes around 2^bits, or smaller where `bits` says so for some of them.
  static std::vector<T> Elements(std::mt19937_64& random, size_t count, int bits) {
    std::vector<T> elements(count);
    for (T& x : elements) {
      const uint64_t power = uint64_t{1} << bits;
      const uint64_t magnitude = random() % 4 == 0 ? random() % power : power - 1 + random() % 2;
      x = static_cast<T>(magnitude);
      if (std::is_signed_v<T> && random() % 2 == 0) x = static_cast<T>(0 - magnitude);
    }
    return elements;
  }

  static void ExpectStates(const std::vector<T>& elements, uint32_t columns) {
    const uint64_t rows = elements.size() / columns;
    std::vector<FullState<T>> states(columns);
    std::vector<ScaledProduct> products(columns);
    ReduceStrip<T>(reinterpret_cast<const std::byte*>(elements.data()),
                   {columns * sizeof(T), rows, columns, 0}, {.parts = kParts}, states.data(),
                   products.data());
    for (uint32_t column = 0; column < columns; ++column) {
      FullState<T> expected;
      for (uint64_t row = 0; row < rows; ++row) {
        expected.Add(elements[row * columns + column], row, false);
      }
      ExpectEqual(states[column], expected);
    }
  }

 private:
  static void ExpectEqual(const FullState<T>& state, const FullState<T>& expected) {
    EXPECT_TRUE(state.template Part<kSumPart>().sum == expected.template Part<kSumPart>().sum);
    EXPECT_TRUE(state.template Part<kMagnitudesPart>().sum ==
                expected.template Part<kMagnitudesPart>().sum);
    const auto& squares = state.template Part<kSquaresPart>().sum.limbs;
    EXPECT_TRUE(std::equal(std::begin(squares), std::end(squares),
                           std::begin(expected.template Part<kSquaresPart>().sum.limbs)));
    const auto& extremes = state.template Part<kExtremesPart>();
    const auto& expected_extremes = expected.template Part<kExtremesPart>();
    EXPECT_EQ(extremes.min.value, expected_extremes.min.value);
    EXPECT_EQ(extremes.min.index, expected_extremes.min.index);
    EXPECT_EQ(extremes.max.value, expected_extremes.max.value);
    EXPECT_EQ(extremes.max.index, expected_extremes.max.index);
  }
};

using Types = testing::Types<int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerStripTest, Types);

TYPED_TEST(IntegerStripTest, MagnitudesOfAnySize) {
  std::mt19937_64 random(3);
  for (const int bits : {1, 28, 29, 30, 31, 32, 33, 57, 58, 59, 62, 63}) {
    for (const uint32_t columns : {1u, 7u, 130u, 512u}) {
      SCOPED_TRACE(testing::Message() << bits << " bits, " << columns << " columns");
      this->ExpectStates(this->Elements(random, 40 * columns + (columns == 1 ? 5'000 : 0), bits),
                         columns);
    }
  }
}

TYPED_TEST(IntegerStripTest, LargeOnesAfterSmallOnes) {
  std::mt19937_64 random(4);
  std::vector<TypeParam> elements = this->Elements(random, 6'000, 10);
  const std::vector<TypeParam> large = this->Elements(random, 3'000, 62);
  std::copy(large.begin(), large.end(), elements.begin() + 2'500);
  this->ExpectStates(elements, 1);
  this->ExpectStates(elements, 60);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
