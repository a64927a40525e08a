// Which groups a stream carries, and what it says of the array.
#include "client/library/streamed_groups.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Extents = std::vector<uint64_t>;

class StreamedGroupsTest : public testing::Test {
 protected:
  ArrayView ArrayOf(const Extents& shape) {
    uint64_t count = 1;
    for (const uint64_t extent : shape) count *= extent;
    elements_.resize(count);
    return ArrayView(elements_).WithShape(shape);
  }

  bool CanStream(const Extents& shape, Grouping grouping, bool keep_dimensions = false) {
    return CanStreamGroups(ArrayOf(shape),
                           {.grouping = std::move(grouping), .keep_dimensions = keep_dimensions});
  }

  std::vector<int8_t> elements_;
};

TEST_F(StreamedGroupsTest, AStreamKnowsItsRows) {
  const ArrayView flat(elements_);
  EXPECT_EQ(ToStreamed(flat).column_count, 0u);
  EXPECT_THAT(ToStreamed(flat).row_shape, IsEmpty());
  EXPECT_EQ(ToStreamed(ArrayOf({2, 7})).column_count, 7u);
  EXPECT_THAT(ToStreamed(ArrayOf({2, 7})).row_shape, IsEmpty());
  EXPECT_EQ(ToStreamed(ArrayOf({2, 3, 4})).column_count, 0u);
  EXPECT_THAT(ToStreamed(ArrayOf({2, 3, 4})).row_shape, ElementsAre(3, 4));
}

TEST_F(StreamedGroupsTest, DimensionsAreReducedBeforeOneOrFromItOn) {
  EXPECT_TRUE(CanStream({2, 3, 4}, WholeArray{}, /*keep_dimensions=*/true));
  for (const auto& axes : {std::vector<int32_t>{}, {0}, {0, 1}, {-1, 1}, {2}, {2, 0, 1}}) {
    EXPECT_TRUE(CanStream({2, 3, 4}, Axes{axes}));
  }
  EXPECT_FALSE(CanStream({2, 3, 4}, Axes{{1}}));
  EXPECT_FALSE(CanStream({2, 3, 4}, Axes{{0, -1}}));
  EXPECT_FALSE(CanStream({2, 3, 4}, Axis{1}));
  EXPECT_TRUE(CanStream({2, 3, 4}, Axis{2}));
  EXPECT_TRUE(CanStream({5}, Axis{0}));
}

// The first one may have any extent when a stream begins.
TEST_F(StreamedGroupsTest, ExtentsOfOneAreEither) {
  EXPECT_TRUE(CanStream({2, 1, 4}, Axes{{0, 2}}));
  EXPECT_TRUE(CanStream({2, 3, 1}, Axes{{1}}));
  EXPECT_TRUE(CanStream({2, 3, 1, 1}, Axes{{0, 2}}));
  EXPECT_FALSE(CanStream({1, 3, 4}, Axes{{1}}));
}

TEST_F(StreamedGroupsTest, WhatIsNoAxisIsLeftToTheServer) {
  EXPECT_FALSE(CanStream({2, 3, 4}, Axes{{3}}));
  EXPECT_FALSE(CanStream({2, 3, 4}, Axes{{-4}}));
  EXPECT_FALSE(CanStream({2, 3, 4}, Axes{{0, -3}}));
  EXPECT_FALSE(CanStream({2, 3, 4}, Axis{3}));
  EXPECT_FALSE(CanStream({2, 0, 4}, Axes{{0}}));
  EXPECT_FALSE(CanStream({}, WholeArray{}));
}

TEST_F(StreamedGroupsTest, SegmentsAreOfOneDimension) {
  EXPECT_TRUE(CanStream({4}, Segments{{0, 4}}));
  EXPECT_FALSE(CanStream({4}, Segments{{0, 4}}, /*keep_dimensions=*/true));
  EXPECT_FALSE(CanStream({2, 2}, Segments{{0, 4}}));
}

TEST_F(StreamedGroupsTest, GroupsThatGoOnAreCounted) {
  const ArrayView array = ArrayOf({2, 3, 4});
  EXPECT_EQ(GroupsAcrossRows(array, WholeArray{}), 1u);
  EXPECT_EQ(GroupsAcrossRows(array, Axis{0}), 12u);
  EXPECT_EQ(GroupsAcrossRows(array, Axes{{0, 1}}), 4u);
  EXPECT_EQ(GroupsAcrossRows(array, Axes{{-1}}), 0u);
  EXPECT_EQ(GroupsAcrossRows(array, Segments{{0, 24}}), 0u);
}

}  // namespace
}  // namespace gridfold::client
