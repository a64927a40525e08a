#include "kernels/cpu/base/pieces.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/contract/segments.h"

namespace gridfold::kernels::cpu {
namespace {

Grouping Rows(uint64_t count, uint64_t size) { return {GroupingKind::kAxis1, count, size, {}}; }

// Expects that the pieces go through all groups and elements in order, and none is too large.
void ExpectCovers(const Grouping& grouping, uint64_t block_elements) {
  uint64_t group = 0;
  uint64_t element = 0;
  for (const Piece& piece : CutIntoPieces(grouping, block_elements)) {
    EXPECT_EQ(piece.first_group, group);
    EXPECT_EQ(piece.begin, element);
    EXPECT_LE(piece.end - piece.begin, block_elements);
    if (piece.is_part_of_group()) {
      EXPECT_GT(piece.end, piece.begin);
      EXPECT_LE(piece.end, GroupBegin(grouping, group + 1));
      if (piece.end == GroupBegin(grouping, group + 1)) ++group;
    } else {
      EXPECT_EQ(piece.begin, GroupBegin(grouping, piece.first_group));
      EXPECT_EQ(piece.end, GroupBegin(grouping, piece.end_group));
      group = piece.end_group;
    }
    element = piece.end;
  }
  EXPECT_EQ(group, grouping.group_count);
  EXPECT_EQ(element, GroupBegin(grouping, grouping.group_count));
}

TEST(PiecesTest, CoverGroupsOfOneSize) {
  for (const uint64_t size : {0, 1, 63, 99, 100, 101, 200, 1000}) {
    for (const uint64_t count : {0, 1, 2, 77}) ExpectCovers(Rows(count, size), 100);
  }
}

TEST(PiecesTest, CoverRaggedSegments) {
  std::minstd_rand random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint64_t> offsets = {0};
    for (int g = 0; g < 100; ++g) {
      // Mostly short, some empty, a few long.
      const uint64_t size = random() % 10 == 0 ? random() % 1000 : random() % 5;
      offsets.push_back(offsets.back() + size);
    }
    ExpectCovers(SegmentsAt(std::move(offsets)), 1 + random() % 300);
  }
}

TEST(PiecesTest, BoundTheGroupsOfAPiece) {
  for (const Piece& piece : CutIntoPieces(Rows(1'000'000, 0), 6400)) {
    EXPECT_LE(piece.end_group - piece.first_group, 100u);
  }
}

TEST(PiecesTest, AShortGroupAfterALongOneIsNotCut) {
  const auto pieces = CutIntoPieces(SegmentsAt({0, 250, 260, 270}), 100);
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_TRUE(pieces[2].is_part_of_group());
  EXPECT_FALSE(pieces[3].is_part_of_group());
  EXPECT_EQ(pieces[3].first_group, 1u);
  EXPECT_EQ(pieces[3].end_group, 3u);
}

}  // namespace
}  // namespace gridfold::kernels::cpu
