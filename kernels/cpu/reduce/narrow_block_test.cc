#include "kernels/cpu/reduce/narrow_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/numerics/arithmetic/wide_integer.h"

namespace gridfold::kernels::cpu {
namespace {

// A block whose rows are further apart than they are long, at an address that is aligned to
// nothing.
template <class S>
class Block {
 public:
  static constexpr size_t kStride = (kBlockLanes + 3) * sizeof(S);

  // Of rows one after the other.
  explicit Block(const std::vector<S>& elements)
      : bytes_(1 + elements.size() / kBlockLanes * kStride),
        rows_(static_cast<uint32_t>(elements.size() / kBlockLanes)) {
    for (uint32_t r = 0; r < rows_; ++r) {
      std::memcpy(&bytes_[1 + r * kStride], &elements[r * kBlockLanes], kBlockLanes * sizeof(S));
    }
  }
  Tile<S> tile() const { return {&bytes_[1], kStride, rows_, kBlockLanes}; }
  LineMagnitudes<S> magnitudes() const { return MagnitudesOf(tile()); }

  template <Moment kMoment>
  NarrowBlockSums<kMoment, S> Sums() const {
    return {tile(), magnitudes()};
  }

 private:
  std::vector<std::byte> bytes_;
  uint32_t rows_;
};

template <class S>
class NarrowBlockTest : public testing::Test {
 protected:
  static constexpr int kBits = std::numeric_limits<S>::digits;
  // What the exponents of a block may differ by.
  static constexpr int kBinades = std::is_same_v<S, float> ? 19 : 34;

  static bool HasSums(const std::vector<S>& elements) {
    return HasNarrowBlockSums(Block<S>(elements).magnitudes());
  }
  // A row of ones but for its last two elements.
  static std::vector<S> RowWith(S x, S y = 1) {
    std::vector<S> row(kBlockLanes, 1);
    row[kBlockLanes - 2] = y;
    row[kBlockLanes - 1] = x;
    return row;
  }

  // Of integers, which all elements are.
  template <Moment kMoment>
  static void ExpectSums(const std::vector<S>& elements) {
    const NarrowBlockSums<kMoment, S> sums = Block<S>(elements).template Sums<kMoment>();
    EXPECT_TRUE(sums.lost == 0 || (kMoment == Moment::kSquares && sizeof(S) == 8));
    for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
      Int128 expected = 0;
      for (size_t i = lane; i < elements.size(); i += kBlockLanes) {
        const auto integer = static_cast<Int128>(elements[i]);
        expected += kMoment == Moment::kSquares ? integer * integer
                    : kMoment == Moment::kSum   ? integer
                                                : (integer < 0 ? -integer : integer);
      }
      ASSERT_EQ(sums.high[lane], std::nearbyint(sums.high[lane]));
      ASSERT_EQ(sums.low[lane], std::nearbyint(sums.low[lane]));
      const Int128 error =
          expected - static_cast<Int128>(sums.high[lane]) - static_cast<Int128>(sums.low[lane]);
      EXPECT_LE(std::fabs(static_cast<double>(error)), sums.lost) << "lane " << lane;
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(NarrowBlockTest, Types);

// Significands of all bits at the ends and in the middle of what is narrow, of few rows and of as
// many as there may be.
TYPED_TEST(NarrowBlockTest, NothingOfSumsIsLost) {
  std::mt19937_64 random(23);
  for (int turn = 0; turn < 600; ++turn) {
    SCOPED_TRACE(turn);
    const uint32_t rows = turn % 3 == 0 ? kBlockRows : 1 + static_cast<uint32_t>(random() % 60);
    std::vector<TypeParam> elements(rows * kBlockLanes);
    for (TypeParam& x : elements) {
      const uint64_t half = uint64_t{1} << (this->kBits - 1);
      const uint64_t significand = turn % 4 == 1 ? 2 * half - 1 : half + random() % half;
      const int binade = turn % 4 == 2 ? this->kBinades * static_cast<int>(random() % 2)
                                       : static_cast<int>(random() % (this->kBinades + 1));
      x = std::ldexp(static_cast<TypeParam>(significand), binade);
      if (turn % 4 == 3 && random() % 3 == 0) x = 0;
      if (random() % 2 == 0) x = -x;
    }
    ASSERT_TRUE(this->HasSums(elements));
    this->template ExpectSums<Moment::kSum>(elements);
    this->template ExpectSums<Moment::kMagnitudes>(elements);
  }
}

// Integers whose squares add up to less than 2^127.
TYPED_TEST(NarrowBlockTest, SquaresAreWithinTheirBound) {
  std::mt19937_64 random(29);
  for (int turn = 0; turn < 600; ++turn) {
    SCOPED_TRACE(turn);
    std::vector<TypeParam> elements((1 + random() % kBlockRows) * kBlockLanes);
    for (TypeParam& x : elements) {
      x = static_cast<TypeParam>(random() >> (64 - this->kBits + random() % 8));
    }
    elements[0] = 1 << 20;
    if (!this->HasSums(elements)) continue;
    this->template ExpectSums<Moment::kSquares>(elements);
  }
}

TYPED_TEST(NarrowBlockTest, MagnitudesThatLieNearToEachOther) {
  const TypeParam furthest = std::ldexp(TypeParam{1}, this->kBinades);
  EXPECT_TRUE(this->HasSums(this->RowWith(furthest)));
  EXPECT_TRUE(this->HasSums(this->RowWith(-furthest, 0)));
  EXPECT_TRUE(this->HasSums(this->RowWith(1 / furthest, -TypeParam{0})));
  EXPECT_FALSE(this->HasSums(this->RowWith(2 * furthest)));
  EXPECT_FALSE(this->HasSums(this->RowWith(1 / (2 * furthest))));
  EXPECT_FALSE(this->HasSums(std::vector<TypeParam>(kBlockLanes))) << "none is other than 0";
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_FALSE(this->HasSums(this->RowWith(Limits::infinity())));
  EXPECT_FALSE(this->HasSums(this->RowWith(-Limits::infinity())));
  EXPECT_FALSE(this->HasSums(this->RowWith(Limits::denorm_min())));
  EXPECT_FALSE(this->HasSums(this->RowWith(Limits::max())));
}

TYPED_TEST(NarrowBlockTest, ANaNStaysInItsLane) {
  for (const bool first : {false, true}) {
    std::vector<TypeParam> elements = this->RowWith(first ? std::nan("") : 2);
    const std::vector<TypeParam> more = this->RowWith(first ? 2 : std::nan(""));
    elements.insert(elements.end(), more.begin(), more.end());
    const Block<TypeParam> block(elements);
    if (!HasNarrowBlockSums(block.magnitudes())) continue;
    const auto sums = block.template Sums<Moment::kSum>();
    const CheckedPair last{sums.high[kBlockLanes - 1], sums.low[kBlockLanes - 1], sums.lost};
    EXPECT_TRUE(std::isnan(last.Error())) << "which leaves the lane open";
    EXPECT_EQ(sums.high[0] + sums.low[0], 2);
  }
}

TYPED_TEST(NarrowBlockTest, NothingButNegativeZerosIsANegativeZero) {
  std::vector<TypeParam> elements(3 * kBlockLanes, 1);
  const auto set_lane = [&](uint32_t lane, TypeParam first, TypeParam second, TypeParam third) {
    elements[lane] = first;
    elements[kBlockLanes + lane] = second;
    elements[2 * kBlockLanes + lane] = third;
  };
  const TypeParam zero = 0;
  set_lane(1, -zero, -zero, -zero);
  set_lane(2, -zero, zero, -zero);
  set_lane(3, 1, -zero, -1);
  set_lane(4, -zero, -zero, zero);
  const auto sums = Block<TypeParam>(elements).template Sums<Moment::kSum>();
  EXPECT_TRUE(sums.high[1] == 0 && std::signbit(sums.high[1]));
  for (const uint32_t lane : {2, 3, 4}) {
    EXPECT_TRUE(sums.high[lane] == 0 && !std::signbit(sums.high[lane])) << lane;
  }
}

}  // namespace
}  // namespace gridfold::kernels::cpu
