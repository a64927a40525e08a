#include "kernels/contract/rearrangement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/contract/axes.h"
#include "kernels/contract/strided_view.h"

namespace gridfold::kernels {
namespace {

// Where a view's elements are, in its row-major order.
std::vector<int64_t> PlacesOf(const StridedView& view) {
  std::vector<int64_t> places = {static_cast<int64_t>(view.first)};
  for (const StridedDimension& dimension : view.dimensions) {
    std::vector<int64_t> next;
    for (const int64_t begin : places) {
      for (uint64_t i = 0; i < dimension.extent; ++i) {
        next.push_back(begin + static_cast<int64_t>(i) * dimension.stride);
      }
    }
    places = std::move(next);
  }
  return places;
}

// A view of a random array of some thousand elements at most: slices with steps in either
// direction, some dimensions left out, the others in any order.
StridedView RandomView(std::mt19937_64& random) {
  Shape shape;
  uint64_t room = 20'000;
  const uint64_t dimension_count = random() % 6;
  for (uint64_t d = 0; d < dimension_count; ++d) {
    shape.Append(1 + random() % std::min<uint64_t>(room, random() % 3 == 0 ? 300 : 5));
    room /= shape[static_cast<int>(d)];
  }
  StridedView view = WholeView(shape);
  std::erase_if(view.dimensions, [&](StridedDimension& dimension) {
    const uint64_t begin = random() % dimension.extent;
    const uint64_t step = 1 + random() % 3;
    if (random() % 8 == 0) {
      view.first += begin * static_cast<uint64_t>(dimension.stride);
      return true;
    }
    if (random() % 2 == 0) return false;
    const bool goes_back = random() % 2 == 0;
    const uint64_t reach = goes_back ? begin : dimension.extent - 1 - begin;
    view.first += begin * static_cast<uint64_t>(dimension.stride);
    dimension.extent = 1 + random() % (reach / step + 1);
    dimension.stride *= static_cast<int64_t>(step) * (goes_back ? -1 : 1);
    return false;
  });
  std::shuffle(view.dimensions.begin(), view.dimensions.end(), random);
  return view;
}

// What tiles say of each element of the result: where it comes from, counted from the first one's
// place in the input.
std::vector<int64_t> SourcesOf(const RearrangementTiles& tiles, uint64_t element_bytes) {
  constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min();
  const auto unit = static_cast<int64_t>(tiles.unit_bytes);
  const auto size = static_cast<int64_t>(element_bytes);
  std::vector<int64_t> sources(tiles.order.element_count() * tiles.unit_bytes / element_bytes,
                               kNowhere);
  for (uint64_t t = 0; t < tiles.tile_count; ++t) {
    const RearrangementTile tile = TileAt(tiles, t);
    EXPECT_LE(uint64_t{tile.run} * tile.extents[0] * tile.extents[1], kRearrangementTileUnits);
    for (int64_t y = 0; y < tile.extents[1]; ++y) {
      for (int64_t x = 0; x < tile.extents[0]; ++x) {
        for (int64_t r = 0; r < tile.run; ++r) {
          const auto& dimensions = tiles.order.dimensions;
          const int64_t from =
              tile.from + x * dimensions[0].from_stride + y * dimensions[1].from_stride + r;
          const int64_t to =
              tile.to + x * dimensions[0].to_stride + y * dimensions[1].to_stride + r;
          // The units of an element that ends a unit, or all those in one.
          for (int64_t byte = 0; byte < unit; ++byte) {
            if ((to * unit + byte) % size != 0) continue;
            int64_t& source = sources.at(static_cast<size_t>((to * unit + byte) / size));
            EXPECT_EQ(source, kNowhere);
            source = (from * unit + byte) / size;
          }
        }
      }
    }
  }
  return sources;
}

TEST(StridedViewTest, RangesHoldTheirElementsAndNoMore) {
  std::mt19937_64 random(12);
  for (int turn = 0; turn < 2'000; ++turn) {
    const StridedView view = RandomView(random);
    const std::vector<int64_t> places = PlacesOf(view);
    ASSERT_EQ(ShapeOf(view).element_count(), places.size());
    const auto [low, high] = std::minmax_element(places.begin(), places.end());
    const ElementRange range = RangeOf(view);
    EXPECT_EQ(range.first, static_cast<uint64_t>(*low));
    EXPECT_EQ(range.count, static_cast<uint64_t>(*high - *low) + 1);
    bool follow = true;
    for (size_t i = 1; i < places.size(); ++i) follow &= places[i] == places[i - 1] + 1;
    EXPECT_EQ(IsContiguous(view), follow);
  }
}

// Boxes from element to element of a view go over all of it, in order, and hold as much as they
// may.
TEST(StridedViewTest, BoxesFollowOneAnother) {
  std::mt19937_64 random(15);
  for (int turn = 0; turn < 500; ++turn) {
    const StridedView view = RandomView(random);
    if (view.dimensions.empty()) continue;
    const std::vector<int64_t> places = PlacesOf(view);
    const uint64_t count_max = 1 + random() % (places.size() + 3);
    std::vector<int64_t> boxed;
    while (boxed.size() < places.size()) {
      const std::vector<int64_t> box = PlacesOf(BoxOf(view, boxed.size(), count_max));
      ASSERT_FALSE(box.empty());
      ASSERT_LE(box.size(), count_max);
      boxed.insert(boxed.end(), box.begin(), box.end());
    }
    EXPECT_EQ(boxed, places);
  }
  const StridedView rows{0, {{10, 100}, {20, 2}}};
  EXPECT_EQ(ShapeOf(BoxOf(rows, 0, 65)), Shape({3, 20}));
  EXPECT_EQ(ShapeOf(BoxOf(rows, 0, 19)), Shape({19}));
  EXPECT_EQ(ShapeOf(BoxOf(rows, 19, 19)), Shape({1}));
  EXPECT_EQ(ShapeOf(BoxOf(rows, 180, 65)), Shape({1, 20}));
}

TEST(StridedViewTest, WithoutElementsThereIsNoRange) {
  constexpr uint64_t kMany = uint64_t{1} << 40;
  const StridedView whole = WholeView({kMany, kMany, 0, 3});
  EXPECT_EQ(RangeOf(whole).count, 0u);
  EXPECT_TRUE(IsContiguous(whole));
  EXPECT_EQ(ShapeOf(whole), Shape({kMany, kMany, 0, 3}));
  EXPECT_EQ(RangeOf(WholeView({})).count, 1u);
  EXPECT_TRUE(IsContiguous({3, {{0, 7}, {5, -2}}}));
}

TEST(RearrangementTest, TilesMoveEveryElementOnceToItsPlace) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 600; ++turn) {
    const StridedView view = RandomView(random);
    const Rearrangement planned = PlanRearrangement(view);
    std::vector<int64_t> expected = PlacesOf(view);
    ASSERT_EQ(planned.element_count(), expected.size());
    EXPECT_EQ(planned.from_first, view.first - RangeOf(view).first);
    EXPECT_EQ(planned.from_count, RangeOf(view).count);
    for (int64_t& place : expected) place -= static_cast<int64_t>(view.first);
    const uint64_t element_bytes = uint64_t{1} << random() % 4;
    const auto at = [&](uint64_t address) { return reinterpret_cast<const void*>(address); };
    for (const uint64_t misaligned : {uint64_t{0}, element_bytes, uint64_t{1}}) {
      const RearrangementTiles tiles =
          CutRearrangement(planned, element_bytes, at(1 << 20), at(256 + misaligned));
      EXPECT_EQ(SourcesOf(tiles, element_bytes), expected);
    }
  }
}

TEST(RearrangementTest, InversesBringEveryElementBack) {
  std::mt19937_64 random(13);
  for (int turn = 0; turn < 200; ++turn) {
    Shape shape;
    std::vector<int> order(random() % 7);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t d = 0; d < order.size(); ++d) shape.Append(1 + random() % 6);
    const Rearrangement planned = PlanRearrangement(shape, order);
    const auto sources_of = [](const Rearrangement& way) {
      return SourcesOf(CutRearrangement(way, 4, nullptr, nullptr), 4);
    };
    const std::vector<int64_t> there = sources_of(planned);
    const std::vector<int64_t> back = sources_of(planned.Inverse());
    ASSERT_EQ(there.size(), shape.element_count());
    for (size_t i = 0; i < back.size(); ++i) {
      EXPECT_EQ(there[static_cast<size_t>(back[i])], static_cast<int64_t>(i));
    }
  }
}

TEST(RearrangementTest, TheFirstElementIsWhereTheViewBegins) {
  const StridedView view{5, {{3, -2}}};
  const std::array<int32_t, 5> elements{};  // From the lowest one of the view on.
  EXPECT_EQ(FirstOf(PlanRearrangement(view), 4, elements.data()), &elements[4]);
}

// A tile takes whole rows of a view that has its rows in the order of memory.
TEST(RearrangementTest, NeighboursThatStayNeighboursAreTakenTogether) {
  const Rearrangement rows = PlanRearrangement(StridedView{0, {{100, 3'000}, {1'000, 2}}});
  const RearrangementTiles tiles = CutRearrangement(rows, 4, nullptr, nullptr);
  EXPECT_TRUE(tiles.keeps_neighbours());
  EXPECT_EQ(tiles.extents[1], 1'000u);
  EXPECT_EQ(tiles.extents[0], 4u);
  const Rearrangement columns = PlanRearrangement({100, 1'000}, std::array{1, 0});
  EXPECT_FALSE(CutRearrangement(columns, 4, nullptr, nullptr).keeps_neighbours());
  EXPECT_FALSE(CutRearrangement(columns.Inverse(), 4, nullptr, nullptr).keeps_neighbours());
  EXPECT_EQ(columns.Inverse().dimensions[0].to_stride, 1);
  const RearrangementTiles line =
      CutRearrangement(PlanRearrangement(StridedView{0, {{5'000, 2}}}), 4, nullptr, nullptr);
  EXPECT_TRUE(line.keeps_neighbours());
  EXPECT_EQ(line.extents[1], 4'096u);
}

// The groups of a reduction by brute force: of each, the places of its elements.
std::vector<std::vector<int64_t>> GroupsOf(const StridedView& view, AxisSet axes) {
  StridedView kept{view.first, {}};
  StridedView reduced{0, {}};
  for (size_t d = 0; d < view.dimensions.size(); ++d) {
    const bool is_reduced = (axes & AxisBit(static_cast<int>(d))) != 0;
    (is_reduced ? reduced : kept).dimensions.push_back(view.dimensions[d]);
  }
  std::vector<std::vector<int64_t>> groups;
  for (const int64_t first : PlacesOf(kept)) {
    groups.emplace_back();
    for (const int64_t place : PlacesOf(reduced)) groups.back().push_back(first + place);
  }
  return groups;
}

// The same of a plan of the elements from `first` on.
std::vector<std::vector<int64_t>> GroupsOf(const AxesPlan& plan, uint64_t first) {
  std::vector<int64_t> elements(plan.array.element_count);
  if (plan.rearrangement) {
    elements = SourcesOf(CutRearrangement(*plan.rearrangement, 1, nullptr, nullptr), 1);
    first += plan.rearrangement->from_first;
  } else {
    std::iota(elements.begin(), elements.end(), 0);
  }
  for (int64_t& element : elements) element += static_cast<int64_t>(first);
  if (plan.grouping == GroupingKind::kWhole) return {elements};
  const bool are_columns = plan.grouping == GroupingKind::kAxis0;
  std::vector<std::vector<int64_t>> groups(are_columns ? plan.array.columns : plan.array.rows);
  for (size_t i = 0; i < elements.size(); ++i) {
    groups[are_columns ? i % plan.array.columns : i / plan.array.columns].push_back(elements[i]);
  }
  return groups;
}

// The same of groups that are reduced where they stand.
std::vector<std::vector<int64_t>> GroupsOf(const GroupsInPlace& in_place, uint64_t first) {
  const ArrayDescription& array = in_place.array;
  const StateGrid& states = in_place.states;
  const bool are_columns = in_place.grouping == GroupingKind::kAxis0;
  const uint64_t matrix_pitch = array.pitches ? array.pitches->matrix : array.rows * array.columns;
  // Those that leave a state each.
  const auto inner_group = [&](uint64_t number) {
    const uint64_t of_matrix = are_columns ? array.columns : array.rows;
    const uint64_t begin = first + number / of_matrix * matrix_pitch;
    std::vector<int64_t> group;
    for (uint64_t i = 0; i < states.part_size; ++i) {
      const uint64_t row = are_columns ? i : number % of_matrix;
      const uint64_t column = are_columns ? number % of_matrix : i;
      group.push_back(static_cast<int64_t>(begin + row * array.row_pitch() + column));
    }
    return group;
  };
  std::vector<std::vector<int64_t>> groups(states.outer * states.inner);
  for (uint64_t g = 0; g < groups.size(); ++g) {
    for (uint64_t part = 0; part < states.parts; ++part) {
      const auto more =
          inner_group((g / states.inner * states.parts + part) * states.inner + g % states.inner);
      groups[g].insert(groups[g].end(), more.begin(), more.end());
    }
  }
  return groups;
}

TEST(ViewAxesTest, GroupsAreThoseOfTheView) {
  std::mt19937_64 random(14);
  int without_copy = 0;
  int in_place = 0;
  for (int turn = 0; turn < 6'000; ++turn) {
    const StridedView view = RandomView(random);
    const AxisSet axes =
        static_cast<AxisSet>(random()) & AllAxes(static_cast<int>(view.dimensions.size()));
    for (const bool keeps_order : {false, true}) {
      const AxesPlan plan = PlanViewAxes(ElementType::kInt32, view, axes, keeps_order);
      std::vector<std::vector<int64_t>> expected = GroupsOf(view, axes);
      const auto expect = [&](std::vector<std::vector<int64_t>> actual) {
        if (!keeps_order) {
          for (auto& group : expected) std::sort(group.begin(), group.end());
          for (auto& group : actual) std::sort(group.begin(), group.end());
        }
        ASSERT_EQ(actual, expected);
      };
      const uint64_t first = RangeOf(view).first;
      expect(GroupsOf(plan, first));
      if (plan.in_place) expect(GroupsOf(*plan.in_place, first));
      without_copy += plan.rearrangement ? 0 : 1;
      in_place += plan.in_place && plan.in_place->array.pitches ? 1 : 0;
    }
  }
  EXPECT_GT(without_copy, 1'000);
  EXPECT_GT(in_place, 500);
}

TEST(ViewAxesTest, TransposedAndReversedArraysNeedNoCopy) {
  const auto plan = [](const StridedView& view, AxisSet axes, bool keeps_order) {
    return PlanViewAxes(ElementType::kInt32, view, axes, keeps_order);
  };
  const auto is_copied = [&](const StridedView& view, AxisSet axes, bool keeps_order) {
    return plan(view, axes, keeps_order).rearrangement.has_value();
  };
  const StridedView transposed{0, {{640, 1}, {480, 640}}};
  EXPECT_FALSE(is_copied(transposed, 0b01, true));
  EXPECT_EQ(plan(transposed, 0b01, true).grouping, GroupingKind::kAxis1);
  EXPECT_FALSE(is_copied(transposed, 0b10, true));
  EXPECT_EQ(plan(transposed, 0b10, true).grouping, GroupingKind::kAxis0);
  EXPECT_FALSE(is_copied(transposed, 0b11, false));
  EXPECT_TRUE(is_copied(transposed, 0b11, true));  // In the other order.
  EXPECT_TRUE(is_copied(transposed, 0b00, false));
  const StridedView reversed{99, {{100, -1}}};
  EXPECT_FALSE(is_copied(reversed, 0b1, false));
  EXPECT_TRUE(is_copied(reversed, 0b1, true));
  EXPECT_TRUE(is_copied(reversed, 0b0, false));
  EXPECT_TRUE(is_copied({0, {{50, 2}}}, 0b1, false));  // Gaps.
  // One group, a row, where there is a further dimension.
  const StridedView row{99, {{1, 7}, {100, -1}}};
  EXPECT_FALSE(is_copied(row, 0b10, false));
  EXPECT_EQ(plan(row, 0b10, false).grouping, GroupingKind::kAxis1);
  EXPECT_EQ(plan(row, 0b11, false).grouping, GroupingKind::kWhole);
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
