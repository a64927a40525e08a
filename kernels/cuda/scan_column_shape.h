// How a scan along axis 0 is cut. Plain C++, for host and device.
//
// Columns make strips that a warp's lanes hold beside each other; a strip is cut into the tiles of
// numerics/scan_tree.h. Where columns are fewer than lanes there is one strip, and a lane takes one
// of a warp's runs. Turns are tiles: all strips' first ones, then all strips' second ones and so
// on, so that neighbouring blocks read neighbouring memory and a tile follows those it waits for.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_SHAPE_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_SHAPE_H_

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/grid.h"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels::cuda {

struct ColumnScanShape {
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint32_t runs = 1;           // Of a warp in each column.
  uint32_t strip_columns = 1;  // At most; runs * strip_columns lanes of a warp are used.
  uint32_t strip_count = 1;
  uint32_t tile_rows = 1;
  uint32_t tile_count = 0;  // Of a strip.

  constexpr uint64_t turn_count() const { return uint64_t{strip_count} * tile_count; }
  constexpr uint32_t block_count() const {
    return static_cast<uint32_t>(CeilDivide(tile_count, kScanTilesPerBlock));
  }
};

// Requires rows and columns > 0, and not more than kScanElementsMax elements.
constexpr ColumnScanShape ColumnScanShapeOf(uint64_t rows, uint64_t columns) {
  ColumnScanShape shape{.rows = rows, .columns = columns};
  shape.runs = static_cast<uint32_t>(ScanColumnRuns(columns));
  shape.strip_count = static_cast<uint32_t>(CeilDivide(columns, kScanLanes));
  // Strips of about one width: a narrow last one would take as long as the others. Where there are
  // several they begin at multiples of 32 bytes, if rows do and elements have four.
  const uint64_t even = CeilDivide(columns, shape.strip_count);
  shape.strip_columns =
      static_cast<uint32_t>(shape.strip_count == 1 ? columns : CeilDivide(even, 8) * 8);
  shape.tile_rows = static_cast<uint32_t>(ScanColumnTileRows(columns));
  shape.tile_count = static_cast<uint32_t>(CeilDivide(rows, shape.tile_rows));
  return shape;
}

// How many values the tiles of all columns tell each other; see scan_column_chain.cuh. What ends a
// column is told nobody.
struct ColumnLookBackSizes {
  explicit constexpr ColumnLookBackSizes(const ColumnScanShape& shape)
      : tiles(shape.columns * (shape.tile_count - 1)),
        blocks(shape.columns * (shape.block_count() - 1)) {}

  constexpr uint64_t values() const { return tiles + 2 * blocks; }

  uint64_t tiles;
  uint64_t blocks;
};

// Threads of a block, which scans a tile at a time.
inline constexpr int kColumnScanThreads = kScanColumnWarps * kScanLanes;

// Elements are copied to shared memory by vectors of so many bytes where they can be.
inline constexpr uint32_t kColumnVectorBytes = 16;

// Shared memory of a warp's runs where it has one of each column: vectors that cover the rows.
constexpr uint32_t WideColumnRowBytes(uint32_t element_size) {
  return kScanLanes * element_size + kColumnVectorBytes;
}
constexpr uint32_t WideColumnPanelBytes(uint32_t element_size) {
  return kScanColumnItems * WideColumnRowBytes(element_size);
}

// An element's place in shared memory where a warp has several runs of a column; its result takes
// it afterwards.
constexpr uint32_t ColumnSlotBytes(uint64_t element_size, uint64_t output_size) {
  return static_cast<uint32_t>(std::max({uint64_t{4}, element_size, output_size}));
}
// Slots between such runs: lanes that take the same row of their runs meet in no bank. Of one
// column lanes take vectors, and the gap is one of these.
constexpr uint32_t NarrowColumnGap(uint32_t runs) { return kScanLanes / runs; }
constexpr uint32_t NarrowColumnPanelSlots(uint32_t slot_bytes) {
  return kScanLanes * (kScanColumnItems + kColumnVectorBytes / slot_bytes);
}

// 227 KiB for blocks' own use, and one of each for the system's (CUDA programming guide, compute
// capability 9.0).
inline constexpr uint32_t kColumnSharedBytes = 228 * 1024;
inline constexpr uint32_t kColumnSystemBytes = 1024;

// Blocks of a multiprocessor: as many as have room and registers, of which kernels for narrow
// panels need more. Tiles that are on their way while a block scans another were no faster than
// more blocks.
constexpr int ColumnScanBlocks(uint32_t shared_bytes, bool is_narrow) {
  return std::min(static_cast<int>(kColumnSharedBytes / (shared_bytes + kColumnSystemBytes)),
                  is_narrow ? 4 : 6);
}

// Threads of a block where a thread goes down whole columns.
inline constexpr int kWholeColumnsThreads = 128;

// Rows whose loads such a thread has in flight together; it reads row_bytes of each.
constexpr uint32_t WholeColumnsBatch(uint64_t row_bytes) { return row_bytes >= 8 ? 4 : 8; }

// Bytes in flight that keep the memory of a multiprocessor busy, with as many again for threads
// that are not loading.
inline constexpr uint64_t kWholeColumnsBytesInFlight = uint64_t{32} * 1024;

// Whether so many threads that go down whole columns keep the device busy.
constexpr bool WholeColumnsSuffice(uint64_t threads, uint64_t row_bytes, int multiprocessors) {
  return threads * row_bytes * WholeColumnsBatch(row_bytes) >=
         kWholeColumnsBytesInFlight * static_cast<uint64_t>(multiprocessors);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_SHAPE_H_
