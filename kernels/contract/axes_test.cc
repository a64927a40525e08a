#include "kernels/contract/axes.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/contract/rearrangement.h"

namespace gridfold::kernels {
namespace {

constexpr ElementType kType = ElementType::kInt16;

AxesPlan Plan(const Shape& shape, AxisSet axes) { return PlanAxes({kType, shape}, axes); }

void ExpectMatrix(const AxesPlan& plan, GroupingKind grouping, uint64_t rows, uint64_t columns) {
  EXPECT_EQ(plan.grouping, grouping);
  EXPECT_TRUE(plan.array.is_matrix);
  EXPECT_EQ(plan.array.rows, rows);
  EXPECT_EQ(plan.array.columns, columns);
}

TEST(AxesTest, NeighboursThatAreTreatedAlikeAreOne) {
  ExpectMatrix(Plan({2, 3, 5, 7}, 0b0011), GroupingKind::kAxis0, 6, 35);
  ExpectMatrix(Plan({2, 3, 5, 7}, 0b1110), GroupingKind::kAxis1, 2, 105);
  ExpectMatrix(Plan({2, 1, 5, 1}, 0b1010), GroupingKind::kAxis1, 10, 1);
  EXPECT_FALSE(Plan({2, 1, 5, 1}, 0b1010).rearrangement.has_value());
  EXPECT_EQ(Plan({2, 3}, 0b11).grouping, GroupingKind::kWhole);
  EXPECT_EQ(Plan({}, 0).grouping, GroupingKind::kWhole);
  EXPECT_EQ(Plan({}, 0).array.element_count, 1u);
}

TEST(AxesTest, TheInnermostDimensionStaysInnermost) {
  const AxesPlan columns = Plan({2, 3, 5}, 0b010);
  ExpectMatrix(columns, GroupingKind::kAxis0, 3, 10);
  ASSERT_TRUE(columns.rearrangement.has_value());
  EXPECT_EQ(columns.rearrangement->run, 5u);
  const AxesPlan rows = Plan({2, 3, 5}, 0b101);
  ExpectMatrix(rows, GroupingKind::kAxis1, 3, 10);
  ASSERT_TRUE(rows.rearrangement.has_value());
  EXPECT_EQ(rows.rearrangement->run, 5u);
}

void ExpectInPlace(const Shape& shape, AxisSet axes, const ArrayDescription& array,
                   GroupingKind grouping, const StateGrid& states) {
  const AxesPlan plan = Plan(shape, axes);
  ASSERT_TRUE(plan.in_place.has_value());
  EXPECT_EQ(plan.in_place->grouping, grouping);
  EXPECT_EQ(plan.in_place->states, states);
  const ArrayDescription& actual = plan.in_place->array;
  EXPECT_EQ(actual.element_count, array.element_count);
  EXPECT_EQ(actual.matrices, array.matrices);
  EXPECT_EQ(actual.rows, array.rows);
  EXPECT_EQ(actual.columns, array.columns);
}

TEST(AxesTest, OtherPatternsCanBeReducedInPlace) {
  const auto stack = [](uint64_t matrices, uint64_t rows, uint64_t columns) {
    return ArrayDescription::Stack(kType, matrices, rows, columns);
  };
  const auto rows = [](uint64_t count, uint64_t size) {
    return ArrayDescription::Matrix(kType, count, size);
  };
  ExpectInPlace({2, 3, 5}, 0b010, stack(2, 3, 5), GroupingKind::kAxis0, {1, 1, 10, 3});
  ExpectInPlace({2, 3, 5, 7}, 0b0101, stack(6, 5, 7), GroupingKind::kAxis0, {1, 2, 21, 5});
  ExpectInPlace({2, 3, 5, 7, 11}, 0b01010, stack(30, 7, 11), GroupingKind::kAxis0, {2, 3, 55, 7});
  ExpectInPlace({2, 3, 5}, 0b101, rows(6, 5), GroupingKind::kAxis1, {1, 2, 3, 5});
  ExpectInPlace({2, 3, 5, 7}, 0b1010, rows(30, 7), GroupingKind::kAxis1, {2, 3, 5, 7});
  EXPECT_FALSE(Plan({2, 3, 5, 7, 11}, 0b10101).in_place.has_value());
  EXPECT_FALSE(Plan({2, 3}, 0b01).in_place.has_value());
  EXPECT_FALSE(PlanContiguousAxes({kType, {2, 3, 5}}, 0b001).in_place.has_value());
}

TEST(AxesTest, WithoutElementsThereAreGroupsAllTheSame) {
  ExpectMatrix(Plan({4, 0, 6}, 0b010), GroupingKind::kAxis1, 24, 0);
  ExpectMatrix(Plan({0, 3, 6}, 0b010), GroupingKind::kAxis1, 0, 3);
  constexpr uint64_t kMany = uint64_t{1} << 40;
  EXPECT_EQ(Plan({kMany, kMany, 0}, 0b100).array.rows, UINT64_MAX);
}

TEST(AxesTest, ResultsHaveTheOtherExtents) {
  EXPECT_EQ(ReducedShape({2, 3, 5}, 0b101, false), Shape({3}));
  EXPECT_EQ(ReducedShape({2, 3, 5}, 0b101, true), Shape({1, 3, 1}));
  EXPECT_EQ(ReducedShape({2, 3}, 0b11, false), Shape());
  EXPECT_EQ(ReducedShape({}, 0, true), Shape());
}

// The rearranged places of elements, one after the other.
std::vector<uint64_t> Permute(const Shape& shape, const std::vector<int>& order) {
  std::vector<uint64_t> strides(order.size());
  uint64_t stride = 1;
  for (size_t d = order.size(); d-- > 0; stride *= shape[static_cast<int>(d)]) strides[d] = stride;
  std::vector<uint64_t> from = {0};
  for (const int d : order) {
    std::vector<uint64_t> next;
    for (const uint64_t begin : from) {
      for (uint64_t i = 0; i < shape[d]; ++i) {
        next.push_back(begin + i * strides[static_cast<size_t>(d)]);
      }
    }
    from = std::move(next);
  }
  return from;
}

// What tiles say of each element's way: to[i] is where the element of the input at that place goes.
std::vector<uint64_t> SourcesOf(const RearrangementTiles& tiles, uint64_t element_bytes) {
  const uint64_t unit = tiles.unit_bytes;
  std::vector<uint64_t> sources(tiles.order.element_count() * unit / element_bytes, UINT64_MAX);
  for (uint64_t t = 0; t < tiles.tile_count; ++t) {
    const RearrangementTile tile = TileAt(tiles, t);
    EXPECT_LE(uint64_t{tile.run} * tile.extents[0] * tile.extents[1], kRearrangementTileUnits);
    for (uint64_t y = 0; y < tile.extents[1]; ++y) {
      for (uint64_t x = 0; x < tile.extents[0]; ++x) {
        for (uint64_t r = 0; r < tile.run; ++r) {
          const auto& dimensions = tiles.order.dimensions;
          const uint64_t from =
              tile.from + x * dimensions[0].from_stride + y * dimensions[1].from_stride + r;
          const uint64_t to =
              tile.to + x * dimensions[0].to_stride + y * dimensions[1].to_stride + r;
          // The units of an element that ends a unit, or all those in one.
          for (uint64_t byte = 0; byte < unit; ++byte) {
            if ((to * unit + byte) % element_bytes != 0) continue;
            EXPECT_EQ(sources.at((to * unit + byte) / element_bytes), UINT64_MAX);
            sources.at((to * unit + byte) / element_bytes) = (from * unit + byte) / element_bytes;
          }
        }
      }
    }
  }
  return sources;
}

TEST(RearrangementTest, TilesMoveEveryElementOnceToItsPlace) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<int> order(random() % 9);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Shape shape;
    uint64_t room = 20'000;
    for (size_t d = 0; d < order.size(); ++d) {
      shape.Append(1 + random() % std::min<uint64_t>(room, random() % 4 == 0 ? 300 : 4));
      room /= shape[static_cast<int>(d)];
    }
    SCOPED_TRACE(
        testing::PrintToString(std::vector(shape.extents().begin(), shape.extents().end())) +
        testing::PrintToString(order));
    const Rearrangement planned = PlanRearrangement(shape, order);
    ASSERT_EQ(planned.element_count(), shape.element_count());
    const std::vector<uint64_t> expected = Permute(shape, order);
    const uint64_t element_bytes = uint64_t{1} << random() % 4;
    const auto at = [&](uint64_t address) { return reinterpret_cast<const void*>(address); };
    for (const uint64_t misaligned : {uint64_t{0}, element_bytes, uint64_t{1}}) {
      const RearrangementTiles tiles =
          CutRearrangement(planned, element_bytes, at(256), at(256 + misaligned));
      EXPECT_EQ(SourcesOf(tiles, element_bytes), expected);
    }
    std::vector<uint64_t> back(expected.size());
    const RearrangementTiles inverse =
        CutRearrangement(planned.Inverse(), element_bytes, at(256), at(256));
    const std::vector<uint64_t> sources = SourcesOf(inverse, element_bytes);
    for (size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(expected[sources[i]], i);
  }
}

TEST(RearrangementTest, WithoutElementsThereAreNoTiles) {
  const Rearrangement planned = PlanRearrangement({3, 0, 2}, std::array{1, 0, 2});
  EXPECT_EQ(planned.element_count(), 0u);
  EXPECT_EQ(CutRearrangement(planned, 4, nullptr, nullptr).tile_count, 0u);
}

// Runs that are wide in bytes move in units as wide as addresses allow.
TEST(RearrangementTest, UnitsAreAsWideAsRunsAndAddresses) {
  const Rearrangement planned = PlanRearrangement({4, 5, 6}, std::array{1, 0, 2});
  const auto unit = [&](uint64_t element_bytes, uint64_t address) {
    return CutRearrangement(planned, element_bytes, nullptr, reinterpret_cast<const void*>(address))
        .unit_bytes;
  };
  EXPECT_EQ(unit(8, 256), 16u);
  EXPECT_EQ(unit(8, 264), 8u);
  EXPECT_EQ(unit(2, 256), 4u);
  EXPECT_EQ(unit(1, 256), 2u);
  EXPECT_EQ(unit(1, 257), 1u);
}

}  // namespace
}  // namespace gridfold::kernels
