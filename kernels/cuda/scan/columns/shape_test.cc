// How scans along axis 0 are cut; without a device.
#include "kernels/cuda/scan/columns/shape.h"

#include <numeric>
#include <set>

#include "gtest/gtest.h"

namespace gridfold::kernels::cuda {
namespace {

TEST(ColumnScanShapeTest, TilesOfKnownShapes) {
  struct Case {
    uint64_t rows, columns;
    uint32_t runs, strip_columns, strip_count, tile_rows, tile_count;
  };
  for (const Case& c :
       {Case{uint64_t{1} << 26, 4, 8, 4, 1, 2048, 32'768}, Case{4096, 2, 16, 2, 1, 4096, 1},
        Case{4097, 2, 16, 2, 1, 4096, 2}, Case{1000, 3, 8, 3, 1, 2048, 1},
        Case{10'000, 16, 2, 16, 1, 512, 20}, Case{10'000, 17, 1, 17, 1, 256, 40},
        Case{257, 32, 1, 32, 1, 256, 2}, Case{256, 33, 1, 20, 2, 256, 1},
        Case{256, 1000, 1, 32, 32, 256, 1}, Case{256, 65, 1, 24, 3, 256, 1},
        Case{65, uint64_t{1} << 25, 1, 32, 1 << 20, 256, 1}}) {
    const ColumnScanShape shape = ColumnScanShapeOf(c.rows, c.columns);
    SCOPED_TRACE(testing::Message() << c.rows << " x " << c.columns);
    EXPECT_EQ(shape.runs, c.runs);
    EXPECT_EQ(shape.strip_columns, c.strip_columns);
    EXPECT_EQ(shape.strip_count, c.strip_count);
    EXPECT_EQ(shape.tile_rows, c.tile_rows);
    EXPECT_EQ(shape.tile_count, c.tile_count);
    EXPECT_EQ(shape.turn_count(), uint64_t{c.strip_count} * c.tile_count);
  }
}

TEST(ColumnScanShapeTest, StripsCoverAllColumnsAndWarpsHoldAStrip) {
  for (const uint32_t columns_max : {32u, 64u}) {
    for (uint64_t columns = 2; columns < 3000; ++columns) {
      const ColumnScanShape shape = ColumnScanShapeOf(1000, columns, columns_max);
      ASSERT_GE(uint64_t{shape.strip_count} * shape.strip_columns, columns);
      ASSERT_LT(uint64_t{shape.strip_count - 1} * shape.strip_columns, columns) << "an empty strip";
      ASSERT_LE(shape.runs * shape.strip_columns, columns_max);
      // Several runs are for one strip, and more would not find room.
      if (shape.strip_count == 1) {
        ASSERT_GT(2 * shape.runs * shape.strip_columns, 32);
      } else {
        ASSERT_EQ(shape.runs, 1);
        ASSERT_EQ(shape.strip_columns % 4, 0) << "a strip begins within a vector";
        if (columns % 8 == 0) {
          ASSERT_EQ(shape.strip_columns % (columns_max / 4), 0) << "or within 32 bytes";
        }
      }
    }
  }
}

TEST(ColumnScanShapeTest, LanesHoldTwoColumnsWhereResultsOrRowsAreLong) {
  EXPECT_EQ(LaneColumns(PanelLayout::kWide, 4, 8, 8), 2);
  EXPECT_EQ(LaneColumns(PanelLayout::kWide, 4, 4, 8), 1);
  EXPECT_EQ(LaneColumns(PanelLayout::kWide, 8, 8, 8), 1);
  EXPECT_EQ(LaneColumns(PanelLayout::kWide, 4, 8, 24), 1) << "long values";
  EXPECT_EQ(LaneColumns(PanelLayout::kLongRows, 4, 4, 8), 2);
  EXPECT_EQ(LaneColumns(PanelLayout::kNarrow, 4, 8, 8), 1);
}

TEST(ColumnScanShapeTest, LongRowsHaveAKernelWhereElementsAndResultsHaveFourBytes) {
  EXPECT_TRUE(HasLongRowsKernel(4, 4, 8));
  EXPECT_TRUE(HasLongRowsKernel(4, 4, 4));
  EXPECT_FALSE(HasLongRowsKernel(4, 8, 8));
  EXPECT_FALSE(HasLongRowsKernel(8, 8, 8));
  EXPECT_FALSE(HasLongRowsKernel(4, 4, 24)) << "long values";
}

// A block's next turn of a strip is as many tiles on as there are blocks.
TEST(ColumnScanShapeTest, BlocksGoThroughAllStrips) {
  for (const uint64_t columns : {4, 33, 64, 100, 512, 1000, 4192, 16'384}) {
    const ColumnScanShape shape = ColumnScanShapeOf(1'000'000, columns);
    for (const uint64_t resident : {1, 2, 131, 132, 264}) {
      const uint64_t blocks = ColumnGridBlocks(shape, resident);
      ASSERT_GE(blocks, 1);
      ASSERT_LE(blocks, resident);
      EXPECT_EQ(std::gcd(blocks, shape.strip_count), 1) << columns << " columns, " << resident;
    }
  }
  EXPECT_EQ(ColumnGridBlocks(ColumnScanShapeOf(512, 64), 132), 4) << "a turn for each block";
  EXPECT_EQ(ColumnGridBlocks(ColumnScanShapeOf(1'000'000, 64), 132), 131);
  EXPECT_EQ(ColumnGridBlocks(ColumnScanShapeOf(1'000'000, 24), 132), 132) << "one strip";
}

TEST(ColumnScanShapeTest, FewStripsAreKept) {
  EXPECT_TRUE(ColumnScanShapeOf(1000, 512).has_kept_strips());
  EXPECT_FALSE(ColumnScanShapeOf(1000, 513).has_kept_strips());
  EXPECT_TRUE(ColumnScanShapeOf(1000, 513, 64).has_kept_strips());
}

// Banks have 4 bytes, and 32 of them are met at once.
TEST(ColumnScanShapeTest, LanesOfANarrowPanelMeetInNoBank) {
  for (uint32_t columns = 2; columns <= 32; ++columns) {
    const uint32_t runs = ScanColumnRuns(columns);
    const uint32_t run_slots = columns * kScanColumnItems + NarrowColumnGap(runs);
    ASSERT_LE(runs * run_slots, kNarrowColumnPanelSlots);
    ASSERT_EQ(NarrowColumnPanelBytes(8, ColumnScanShapeOf(1000, columns)), runs * run_slots * 8);
    ASSERT_EQ(NarrowColumnPanelBytes(1, ColumnScanShapeOf(1000, columns)) % 16, 0);
    std::set<uint32_t> banks;
    for (uint32_t lane = 0; lane < runs * columns; ++lane) {
      banks.insert((lane / columns * run_slots + lane % columns) % 32);
    }
    EXPECT_EQ(banks.size(), runs * columns) << columns << " columns";
  }
}

// Rows begin anywhere in a vector, or aligned strips of them where a quarter of one may end.
TEST(ColumnScanShapeTest, VectorsThatCoverARowFindRoom) {
  for (const uint32_t strip_max : {32u, 64u}) {
    for (const uint32_t size : {1, 2, 4, 8}) {
      const uint32_t row_bytes = WideColumnRowBytes(size, strip_max);
      const uint32_t columns_max = MisalignedStripColumns(size, strip_max);
      ASSERT_GE(columns_max, 16);
      for (uint32_t shift = 0; shift < 16; shift += size) {
        EXPECT_LE((shift + columns_max * size + 15) / 16 * 16, row_bytes);
      }
      EXPECT_LE((strip_max / 4 * size % 16 + strip_max * size + 15) / 16 * 16, row_bytes);
    }
  }
}

TEST(ColumnScanShapeTest, StripsAreNoWiderThanTheyMayBe) {
  for (const uint32_t columns_max : {16u, 25u, 29u, 31u, 32u}) {
    for (uint64_t columns = 2; columns < 3000; ++columns) {
      const ColumnScanShape shape = ColumnScanShapeOf(1000, columns, columns_max);
      ASSERT_LE(shape.strip_columns, columns_max);
      ASSERT_GE(uint64_t{shape.strip_count} * shape.strip_columns, columns);
      ASSERT_LT(uint64_t{shape.strip_count - 1} * shape.strip_columns, columns) << "an empty strip";
    }
  }
}

TEST(ColumnScanShapeTest, OneStripIsNarrowUnlessItsElementsAreSmall) {
  EXPECT_TRUE(IsNarrow(ColumnScanShapeOf(1000, 16), 1));
  EXPECT_FALSE(IsNarrow(ColumnScanShapeOf(1000, 17), 2));
  EXPECT_TRUE(IsNarrow(ColumnScanShapeOf(1000, 17), 4));
  EXPECT_TRUE(IsNarrow(ColumnScanShapeOf(1000, 32), 8));
  EXPECT_FALSE(IsNarrow(ColumnScanShapeOf(1000, 33), 8));
  EXPECT_FALSE(IsNarrow(ColumnScanShapeOf(1000, 33, 64), 4)) << "two columns of a lane";
}

// Small turns leave two blocks three of them, and those of strips of 256 bytes one block.
TEST(ColumnScanShapeTest, BlocksKeepTurnsUnlessValuesAreLong) {
  constexpr PanelLayout kWide = PanelLayout::kWide;
  EXPECT_EQ(ColumnBlockShapeOf(kWide, 37 * 1024, 2, 8).blocks, 2);
  EXPECT_EQ(ColumnScanTurns(37 * 1024, ColumnBlockBytes(2)), 3);
  EXPECT_EQ(ColumnBlockShapeOf(kWide, 70 * 1024, 8, 8).blocks, 1);
  EXPECT_EQ(ColumnScanTurns(70 * 1024, ColumnBlockBytes(1)), 3);
  EXPECT_EQ(ColumnBlockShapeOf(kWide, 70 * 1024, 8, 16).teams, 3);
  EXPECT_EQ(ColumnBlockShapeOf(kWide, 70 * 1024, 8, 24).blocks, 3);
  EXPECT_EQ(ColumnScanTurns(70 * 1024, ColumnBlockBytes(3)), 1);
}

TEST(ColumnScanShapeTest, OneBlockHasTheTeamsOfLongRowsAndOfValuesThatTakeLong) {
  EXPECT_EQ(ColumnBlockShapeOf(PanelLayout::kLongRows, 70 * 1024, 4, 8, 2).blocks, 1);
  EXPECT_EQ(ColumnBlockShapeOf(PanelLayout::kLongRows, 70 * 1024, 4, 8, 2).teams, 3);
  EXPECT_EQ(ColumnBlockShapeOf(PanelLayout::kWide, 35 * 1024, 4, 8, 1, false).blocks, 1);
  EXPECT_EQ(ColumnBlockShapeOf(PanelLayout::kWide, 35 * 1024, 4, 8, 1, false).teams, 2);
}

TEST(ColumnScanShapeTest, AMultiprocessorHasRoomForTheTurnsOfItsBlocks) {
  for (const PanelLayout layout : {PanelLayout::kWide, PanelLayout::kNarrow}) {
    for (const uint32_t value_bytes : {8, 16, 24}) {
      for (const uint32_t size : {4, 8}) {
        for (uint32_t turn_bytes = 1024; turn_bytes < 37 * 1024 * size / 4; turn_bytes += 512) {
          const ColumnBlockShape shape = ColumnBlockShapeOf(layout, turn_bytes, size, value_bytes);
          const uint32_t turns = ColumnScanTurns(turn_bytes, ColumnBlockBytes(shape.blocks));
          ASSERT_GE(turns, shape.teams);
          ASSERT_LE(shape.blocks * (turns * turn_bytes + kColumnSystemBytes), kColumnSharedBytes);
        }
      }
    }
  }
}

TEST(ColumnScanShapeTest, LastTilesAndBlocksTellNobody) {
  const auto sizes = [](uint64_t rows, uint64_t columns) {
    return ColumnLookBackSizes(ColumnScanShapeOf(rows, columns));
  };
  EXPECT_EQ(sizes(256, 100).values(), 0);
  EXPECT_EQ(sizes(257, 100).tiles, 100);
  EXPECT_EQ(sizes(257, 100).blocks, 0);
  EXPECT_EQ(sizes(2049, 4).tiles, 8) << "a line of its own";
  EXPECT_EQ(sizes(8192, 100).tiles, 31 * 100);
  EXPECT_EQ(sizes(8192, 100).blocks, 0);
  EXPECT_EQ(sizes(8193, 100).tiles, 32 * 100);
  EXPECT_EQ(sizes(8193, 100).blocks, 100);
  EXPECT_EQ(sizes(8193, 100).values(), 34 * 100);
}

TEST(ColumnScanShapeTest, LanesThatKnowMuchHaveShortBlocks) {
  EXPECT_EQ(WholeColumnsThreads(80), 256);
  EXPECT_EQ(WholeColumnsThreads(160), 128);
}

TEST(ColumnScanShapeTest, WholeColumnsSufficeWhereTheirLoadsFillEveryMultiprocessor) {
  // Vectors of 16 bytes, four rows in flight: 512 threads are 32 KiB.
  EXPECT_TRUE(WholeColumnsSuffice(512, 16, 1));
  EXPECT_FALSE(WholeColumnsSuffice(511, 16, 1));
  // Eight rows of four bytes.
  EXPECT_TRUE(WholeColumnsSuffice(1024 * 132, 4, 132));
  EXPECT_FALSE(WholeColumnsSuffice(1024 * 132 - 1, 4, 132));
}

}  // namespace
}  // namespace gridfold::kernels::cuda
