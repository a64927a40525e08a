// Bins by cells, located by comparison where a cell has none, are what comparison with all edges
// decides.
#include "kernels/numerics/bins/cells.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/numerics/bins/layout.h"
#include "kernels/numerics/bins/layout_test.h"

namespace gridfold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The notes of all cells, and the edges as they are compared with.
template <class T>
struct Cells {
  using W = CellWide<T>;

  Cells(const std::vector<double>& edges, uint32_t cell_count)
      : table(edges), bin_count(static_cast<uint32_t>(edges.size()) - 1) {
    map = MakeBinCells<W>(edges, cell_count);
    for (const double edge : edges) compared.push_back(EdgeAs<W>(edge));
    compared.back() = EdgeAs<W>(LastEdgeForCells(edges.back()));
    std::vector<uint32_t> edges_inside(map.last + 1);
    for (const W edge : compared) ++edges_inside[CellOf(map, edge)];
    uint32_t before = 0;
    for (const uint32_t inside : edges_inside) {
      notes.push_back(CellNote(before, inside));
      before += inside;
    }
  }

  // Whether the cell of x had its bin.
  bool Expect(T x) const {
    const W wide = static_cast<W>(x);
    if (!std::isfinite(wide)) return false;
    const uint32_t bin = LocateInCell(notes[CellOf(map, wide)], compared.data(), wide);
    if (bin == kUnsureBin) return false;
    const int64_t located = bin == kBelowBins  ? kUnderflowBin
                            : bin == bin_count ? kOverflowBin
                                               : int64_t{bin};
    EXPECT_EQ(located, LocateBin(BinLayout::Table(table.data(), bin_count), x)) << RealOf(x);
    return true;
  }

  std::vector<double> table;
  uint32_t bin_count;
  std::vector<W> compared;
  BinCells<W> map;
  std::vector<BinCellNote> notes;
};

template <class T>
void ExpectAroundEdges(const std::vector<double>& edges, uint32_t cell_count) {
  const Cells<T> cells(edges, cell_count);
  std::mt19937_64 random(edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    const double next = edges[std::min(i + 1, edges.size() - 1)];
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    for (const double near : {edges[i], edges[i] + u * (next - edges[i])}) {
      if (std::isnan(near)) continue;
      for (const T x : ValuesAround<T>(near)) cells.Expect(x);
      if (testing::Test::HasFailure()) return;
    }
  }
}

std::vector<double> EdgesBy(uint32_t bin_count, double (*edge)(double)) {
  std::vector<double> edges(bin_count + 1);
  for (uint32_t i = 0; i <= bin_count; ++i) edges[i] = edge(i / static_cast<double>(bin_count));
  return edges;
}

std::vector<double> RandomEdges(uint32_t bin_count, double lower, double upper) {
  std::mt19937_64 random(bin_count);
  std::uniform_real_distribution<double> between(lower, upper);
  std::vector<double> edges(bin_count + 1);
  for (double& edge : edges) edge = between(random);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

template <class T>
class BinCellsTest : public testing::Test {};
using DoubleTypes = testing::Types<int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t, Float16,
                                   Bfloat16, float, double>;
TYPED_TEST_SUITE(BinCellsTest, DoubleTypes);

TYPED_TEST(BinCellsTest, EverySampleNearAnEdge) {
  for (const uint32_t bin_count : {1, 2, 3, 10, 100, 1024, 5000}) {
    for (const uint32_t cell_count : {4, 64, 8192}) {
      for (const std::vector<double>& edges :
           {EdgesBy(bin_count, [](double u) { return u; }),
            EdgesBy(bin_count, [](double u) { return 200 * u - 100; }),
            EdgesBy(bin_count, [](double u) { return std::pow(10, 9 * u - 6); }),
            EdgesBy(bin_count, [](double u) { return u * u * u * 3e4; }),
            EdgesBy(bin_count, [](double u) { return -std::exp(3 - 9 * u); }),
            EdgesBy(bin_count, [](double u) { return u * 0x1p-1060; }),
            EdgesBy(bin_count, [](double u) { return 1.5e308 * (u - 0.5); }),
            RandomEdges(bin_count, -40'000, 40'000), RandomEdges(bin_count, 5e8, 4e9)}) {
        ExpectAroundEdges<TypeParam>(edges, cell_count);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(BinCellsTest, EdgesThatAreInfinite) {
  for (const std::vector<double>& edges : {std::vector<double>{-kInfinity, kInfinity},
                                           {-kInfinity, 0, kInfinity},
                                           {0, kInfinity},
                                           {-kInfinity, -3, 1, 7, kInfinity},
                                           {1, 2, 3, kInfinity}}) {
    ExpectAroundEdges<TypeParam>(edges, 64);
  }
}

template <class T>
class FloatBinCellsTest : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatBinCellsTest, FloatTypes);

TYPED_TEST(FloatBinCellsTest, WhatIsOutsideIsToldByItsSide) {
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const std::vector<double>& edges :
       {std::vector<double>{0, 1, 5}, {-3, -1}, {0.125, 1, 50}, {0, 1024}}) {
    const Cells<TypeParam> cells(edges, 64);
    const TypeParam first = static_cast<TypeParam>(edges.front());
    const TypeParam last = static_cast<TypeParam>(edges.back());
    for (const TypeParam x : {TypeParam(-1e30), TypeParam(1e30), std::nextafter(first, -infinity),
                              std::nextafter(last, infinity)}) {
      EXPECT_TRUE(cells.Expect(x)) << x << " of " << edges.front();
    }
    EXPECT_TRUE(cells.Expect(first));
    EXPECT_TRUE(cells.Expect(last));
  }
}

TYPED_TEST(FloatBinCellsTest, AlmostAllSamplesHaveABin) {
  // What has none costs a kernel its speed.
  const auto expect = [](const std::vector<double>& edges, double share) {
    const Cells<TypeParam> cells(edges, 16'384);
    std::mt19937_64 random(8);
    int located = 0;
    constexpr int kSamples = 100'000;
    for (int i = 0; i < kSamples; ++i) {
      // Between two edges, whichever they are: each bin has as many samples.
      const size_t bin = random() % (edges.size() - 1);
      const double u = static_cast<double>(random() >> 11) * 0x1p-53;
      const double x = edges[bin] + u * (edges[bin + 1] - edges[bin]);
      located += cells.Expect(static_cast<TypeParam>(x)) ? 1 : 0;
    }
    EXPECT_GE(located, share * kSamples);
  };
  expect(EdgesBy(1024, [](double u) { return std::pow(10, 6 * u - 6); }), 0.9999);
  expect(EdgesBy(1024, [](double u) { return u + 0.3 * std::sin(3 * u); }), 0.9999);
  expect(RandomEdges(1024, 0, 1), 0.95);  // Small bins have as many samples as large ones.
  expect(EdgesBy(1024, [](double u) { return u * u; }), 0.9);
}

}  // namespace
}  // namespace gridfold::kernels
