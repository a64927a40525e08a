#include "kernels/numerics/bins/layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/bins/layout_test.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> EdgesOf(const BinLayout& bins) {
  std::vector<double> edges(bins.bin_count + 1);
  for (uint64_t i = 0; i <= bins.bin_count; ++i) {
    edges[i] = bins.kind == BinKind::kTable ? bins.edges[i] : EvenEdge(bins, i);
  }
  return edges;
}

int64_t BinByEdges(const std::vector<double>& edges, Real x) {
  if (std::isnan(x)) return kNanBin;
  if (x < edges.front()) return kUnderflowBin;
  if (x > edges.back()) return kOverflowBin;
  const auto above = std::upper_bound(edges.begin(), edges.end(), x,
                                      [](Real a, double b) { return a < static_cast<Real>(b); });
  const auto last = static_cast<int64_t>(edges.size()) - 2;
  return std::min<int64_t>(above - edges.begin() - 1, last);
}

// Both ways to hold the same edges agree with the comparison for every value around every edge.
template <class T>
void ExpectExactAroundEdges(const BinLayout& bins) {
  const std::vector<double> edges = EdgesOf(bins);
  const BinLayout table = BinLayout::Table(edges.data(), bins.bin_count);
  for (const double edge : edges) {
    for (const T x : ValuesAround<T>(edge)) {
      const int64_t expected = BinByEdges(edges, RealOf(x));
      ASSERT_EQ(LocateBin(bins, x), expected)
          << RealOf(x) << " near " << edge << ", " << bins.bin_count << " bins";
      ASSERT_EQ(LocateBin(table, x), expected)
          << RealOf(x) << " near " << edge << ", table of " << bins.bin_count;
    }
  }
}

std::vector<uint64_t> BinCounts() {
  std::vector<uint64_t> counts;
  for (uint64_t n = 1; n <= 70; ++n) counts.push_back(n);
  counts.insert(counts.end(), {100, 127, 128, 255, 256, 257, 365, 1000, 1023, 1024, 1025, 2047,
                               2048, 2049, 3000, 4095, 4096});
  return counts;
}

template <class T>
class BinLayoutTest : public testing::Test {};
TYPED_TEST_SUITE(BinLayoutTest, AllTypes);

TYPED_TEST(BinLayoutTest, EverySampleNearAnEdgeIsDecidedByComparison) {
  for (const uint64_t n : BinCounts()) {
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(-1, 1, n));
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(0, 100, n));
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(-1e6, 3.7e5, n));
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(0.1, 0.3, n));
  }
}

TYPED_TEST(BinLayoutTest, LogarithmicTable) {
  std::vector<double> edges;
  for (int i = -30; i <= 60; ++i) edges.push_back(std::pow(1.7, i));
  ExpectExactAroundEdges<TypeParam>(BinLayout::Table(edges.data(), edges.size() - 1));
}

TYPED_TEST(BinLayoutTest, TableOpenToBothSides) {
  const std::vector<double> edges = {-kInfinity, -1, 0, 7, kInfinity};
  ExpectExactAroundEdges<TypeParam>(BinLayout::Table(edges.data(), 4));
  if constexpr (FloatingElement<TypeParam>) {
    const BinLayout bins = BinLayout::Table(edges.data(), 4);
    TypeParam infinity;
    if constexpr (HalfElement<TypeParam>) {
      infinity = TypeParam::FromDouble(kInfinity);
    } else {
      infinity = static_cast<TypeParam>(kInfinity);
    }
    EXPECT_EQ(LocateBin(bins, infinity), 3);
  }
}

template <class T>
class FloatBinLayoutTest : public testing::Test {};
using FloatTypes = testing::Types<Float16, Bfloat16, float, double>;
TYPED_TEST_SUITE(FloatBinLayoutTest, FloatTypes);

TYPED_TEST(FloatBinLayoutTest, LargestValueBelowTheUpperBoundForEveryBinCount) {
  for (const auto& [lower, upper] : {std::pair(-1.0, 1.0), {0.0, 100.0}}) {
    for (uint64_t n = 1; n <= 4096; ++n) {
      const BinLayout bins = BinLayout::Even(lower, upper, n);
      const std::vector<double> edges = EdgesOf(bins);
      for (const TypeParam x : ValuesAround<TypeParam>(upper)) {
        ASSERT_EQ(LocateBin(bins, x), BinByEdges(edges, RealOf(x))) << RealOf(x) << ", " << n;
        // The types finer than 1 / 4,096 of the range have such a value in the last bin.
        if constexpr (std::is_floating_point_v<TypeParam>) {
          if (x <= upper) {
            ASSERT_EQ(LocateBin(bins, x), static_cast<int64_t>(n) - 1);
          }
        }
      }
    }
  }
}

TYPED_TEST(FloatBinLayoutTest, NanAndInfinities) {
  const BinLayout bins = BinLayout::Even(-1, 1, 10);
  const auto of = [](double x) {
    if constexpr (HalfElement<TypeParam>) return TypeParam::FromDouble(x);
    return static_cast<TypeParam>(x);
  };
  EXPECT_EQ(LocateBin(bins, of(std::nan(""))), kNanBin);
  EXPECT_EQ(LocateBin(bins, of(kInfinity)), kOverflowBin);
  EXPECT_EQ(LocateBin(bins, of(-kInfinity)), kUnderflowBin);
  EXPECT_EQ(LocateBin(bins, of(-0.0)), 5);
  EXPECT_EQ(LocateBin(BinLayout::Even(0, 1, 10), of(-0.0)), 0);
}

TEST(Float16BinsTest, MoreBinsThanTheTypeHasNumbersBetweenTwoPowersOfTwo) {
  // 4,096 and 65,536 bins, many of them narrower than the distance of two neighbouring samples.
  for (const uint64_t n : {uint64_t{4096}, uint64_t{65'536}}) {
    const BinLayout bins = BinLayout::Even(-8, 8, n);
    const std::vector<double> edges = EdgesOf(bins);
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const Float16 x{static_cast<uint16_t>(bits)};
      ASSERT_EQ(LocateBin(bins, x), BinByEdges(edges, RealOf(x))) << RealOf(x);
    }
  }
}

TEST(SmallIntegerBinsTest, FullRangeOneBinForEachValue) {
  const BinLayout of_int8 = BinLayout::Even(-128, 128, 256);
  for (int x = -128; x < 128; ++x) EXPECT_EQ(LocateBin(of_int8, static_cast<int8_t>(x)), x + 128);
  const BinLayout of_int16 = BinLayout::Even(-32'768, 32'768, 65'536);
  for (int x = -32'768; x < 32'768; ++x) {
    ASSERT_EQ(LocateBin(of_int16, static_cast<int16_t>(x)), x + 32'768);
  }
}

TEST(SmallIntegerBinsTest, EveryInt8AgainstEveryBinCount) {
  for (uint64_t n = 1; n <= 300; ++n) {
    const BinLayout bins = BinLayout::Even(-128, 127, n);
    const std::vector<double> edges = EdgesOf(bins);
    for (int x = -128; x < 128; ++x) {
      ASSERT_EQ(LocateBin(bins, static_cast<int8_t>(x)), BinByEdges(edges, x)) << n << " bins";
    }
  }
}

template <class T>
class WideIntegerBinLayoutTest : public testing::Test {};
using WideTypes = testing::Types<int64_t, uint64_t>;
TYPED_TEST_SUITE(WideIntegerBinLayoutTest, WideTypes);

TYPED_TEST(WideIntegerBinLayoutTest, BeyondTheIntegersThatADoubleHolds) {
  for (const uint64_t n : {1, 2, 3, 7, 64, 1000, 4096, 65'537}) {
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(-0x1p63, 0x1p63, n));
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(0, 0x1p64, n));
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(0x1p53, 0x1p53 + 0x1p20, n));
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(0x1p62, 0x1p62 + 0x1p27, n));
    ExpectExactAroundEdges<TypeParam>(BinLayout::Even(-1e300, 1e300, n));
  }
}

TYPED_TEST(WideIntegerBinLayoutTest, ComparisonsWithAnyDouble) {
  std::mt19937_64 random(18);
  for (int i = 0; i < 200'000; ++i) {
    const TypeParam x = static_cast<TypeParam>(random() >> (random() % 64));
    const int64_t step = static_cast<int64_t>(random() % 9) - 4;
    const double edge = i % 2 == 0
                            ? static_cast<double>(static_cast<Real>(x) + step) + 0.25 * (step % 3)
                            : std::ldexp(static_cast<double>(static_cast<int64_t>(random())),
                                         static_cast<int>(random() % 140) - 70);
    ASSERT_EQ(IsAtLeast(x, edge), static_cast<Real>(x) >= static_cast<Real>(edge))
        << x << " " << edge;
    ASSERT_EQ(IsGreater(x, edge), static_cast<Real>(x) > static_cast<Real>(edge))
        << x << " " << edge;
  }
}

// One bin for each integer, against arithmetic in 128 bits.
template <class T>
void ExpectIntegerBins(int64_t first_value, uint64_t bin_count, T x) {
  const __int128 offset = static_cast<__int128>(x) - first_value;
  const int64_t expected = offset < 0 ? kUnderflowBin
                           : offset >= static_cast<__int128>(bin_count)
                               ? kOverflowBin
                               : static_cast<int64_t>(offset);
  ASSERT_EQ(LocateBin(BinLayout::Integer(first_value, bin_count), x), expected)
      << "first " << first_value << ", " << bin_count << " bins";
}

template <class T>
class IntegerBinsTest : public testing::Test {};
using IntegerTypes =
    testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(IntegerBinsTest, IntegerTypes);

TYPED_TEST(IntegerBinsTest, FirstAndLastBinAndWhatIsBesideThem) {
  using T = TypeParam;
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::vector<T> samples = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, 1};
  std::mt19937_64 random(19);
  for (int i = 0; i < 200; ++i) samples.push_back(static_cast<T>(random() >> (random() % 64)));
  for (const int64_t first : {kMin, kMin + 1, int64_t{-300}, int64_t{-1}, int64_t{0}, int64_t{1},
                              int64_t{100}, kMax - 5, kMax}) {
    for (const uint64_t bin_count : {uint64_t{1}, uint64_t{2}, uint64_t{301}, uint64_t{1} << 20}) {
      for (const T x : samples) ExpectIntegerBins(first, bin_count, x);
      for (int step = -1; step <= 1; ++step) {
        for (const __int128 edge :
             {__int128{first}, __int128{first} + static_cast<__int128>(bin_count)}) {
          const __int128 value = edge + step;
          if (value == static_cast<__int128>(static_cast<T>(value))) {
            ExpectIntegerBins(first, bin_count, static_cast<T>(value));
          }
        }
      }
    }
  }
}

TEST(EvenEdgeTest, IsNumpysLinspaceWithAnExactEnd) {
  const BinLayout bins = BinLayout::Even(0.1, 0.7, 3);
  const double step = (0.7 - 0.1) / 3;
  EXPECT_EQ(EvenEdge(bins, 0), 0.1);
  EXPECT_EQ(EvenEdge(bins, 1), step + 0.1);
  EXPECT_EQ(EvenEdge(bins, 2), 2 * step + 0.1);
  EXPECT_EQ(EvenEdge(bins, 3), 0.7);
}

TEST(PlaceTest, OutsideSamplesAreDroppedOrClamped) {
  const auto expect = [](Placement placed, int64_t bin, int64_t outcome) {
    EXPECT_EQ(placed.bin, bin);
    EXPECT_EQ(placed.outcome, outcome);
  };
  expect(Place(3, 10, OutOfRangePolicy::kDrop), 3, 0);
  expect(Place(kUnderflowBin, 10, OutOfRangePolicy::kDrop), -1, kUnderflowBin);
  expect(Place(kOverflowBin, 10, OutOfRangePolicy::kDrop), -1, kOverflowBin);
  expect(Place(kNanBin, 10, OutOfRangePolicy::kDrop), -1, kNanBin);
  expect(Place(3, 10, OutOfRangePolicy::kClamp), 3, 0);
  expect(Place(kUnderflowBin, 10, OutOfRangePolicy::kClamp), 0, kUnderflowBin);
  expect(Place(kOverflowBin, 10, OutOfRangePolicy::kClamp), 9, kOverflowBin);
  expect(Place(kNanBin, 10, OutOfRangePolicy::kClamp), -1, kNanBin);
}

TEST(Place2dTest, RowByRowAndXDecidesFirst) {
  const auto place = [](int64_t x, int64_t y, OutOfRangePolicy policy) {
    const Placement placed = Place2d(x, y, 4, 10, policy);
    return std::pair(placed.bin, placed.outcome);
  };
  constexpr auto kDrop = OutOfRangePolicy::kDrop;
  constexpr auto kClamp = OutOfRangePolicy::kClamp;
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(place(2, 7, kDrop), Pair(27, 0));
  EXPECT_EQ(place(kUnderflowBin, kOverflowBin, kDrop), Pair(-1, kUnderflowBin));
  EXPECT_EQ(place(2, kOverflowBin, kDrop), Pair(-1, kOverflowBin));
  EXPECT_EQ(place(kOverflowBin, 3, kClamp), Pair(33, kOverflowBin));
  EXPECT_EQ(place(kOverflowBin, kUnderflowBin, kClamp), Pair(30, kOverflowBin));
  EXPECT_EQ(place(1, kUnderflowBin, kClamp), Pair(10, kUnderflowBin));
  EXPECT_EQ(place(kNanBin, 3, kClamp), Pair(-1, kNanBin));
  EXPECT_EQ(place(kUnderflowBin, kNanBin, kClamp), Pair(-1, kNanBin));
}

}  // namespace
}  // namespace gridfold::kernels
