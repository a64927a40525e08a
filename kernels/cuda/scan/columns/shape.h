// A ColumnScanShape says how a scan along axis 0 is cut. Plain C++, for host and device.
//
// Columns make strips that a warp's lanes hold beside each other; a strip is cut into the tiles of
// numerics/scans/tree.h. Where columns are fewer than lanes there is one strip, and a lane takes
// one of a warp's runs; where they are many, a lane may hold two, kScanLanes apart. Turns are
// tiles: all strips' first ones, then all strips' second ones and so on, so that neighbouring
// blocks read neighbouring memory and a tile follows those it waits for.
//
// Strips meet at lines of memory where rows do not begin at multiples of 128 bytes. Such lines are
// cheap if both parts come while they are in L2, so neighbouring strips are kept side by side: each
// block goes through all strips, and a tile is written when its neighbours have been read.
//
// Example, 100,000 rows of 100 columns, 32 lanes:
//
//   four strips of 25 columns and more (a multiple of four: 28, 28, 28 and 16)
//   tiles of 64 * 4 = 256 rows: 391 tiles a strip, 1,564 turns
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_SHAPE_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_SHAPE_H_

#include <cstdint>
#include <numeric>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/numerics/arithmetic/min_max.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

// The most strips of which blocks keep what precedes their next tile.
inline constexpr uint32_t kKeptStrips = 16;

struct ColumnScanShape {
  uint64_t rows = 0;
  uint64_t columns = 0;
  uint32_t runs = 1;           // Of a warp in each column.
  uint32_t strip_columns = 1;  // At most; runs * strip_columns lanes of a warp are used.
  uint32_t strip_count = 1;
  uint32_t tile_rows = 1;
  uint32_t tile_count = 0;  // Of a strip.
  // Columns from a tile's values for others to the next tile's: a line of 128 bytes at least, or
  // all would meet at a line of several.
  uint64_t word_columns = 1;
  bool shares_lines = false;  // Whether strips write, or read, parts of a line.

  constexpr uint64_t turn_count() const { return uint64_t{strip_count} * tile_count; }
  // Whether the tiles of a strip that are worked on at a time are less than a block of tiles.
  constexpr bool has_many_strips() const { return strip_count >= kScanTilesPerBlock / 2; }
  constexpr bool has_kept_strips() const { return strip_count <= kKeptStrips; }
  constexpr uint32_t block_count() const {
    return static_cast<uint32_t>(CeilDivide(tile_count, kScanTilesPerBlock));
  }
};

// Requires rows > 0, columns > 1, and not more than kScanElementsMax elements. A strip is to have
// `strip_columns_max` at most, 16 or more.
constexpr ColumnScanShape ColumnScanShapeOf(uint64_t rows, uint64_t columns,
                                            uint32_t strip_columns_max = kScanLanes) {
  ColumnScanShape shape{.rows = rows, .columns = columns};
  shape.runs = static_cast<uint32_t>(ScanColumnRuns(columns));
  shape.strip_count = static_cast<uint32_t>(CeilDivide(columns, strip_columns_max));
  // Strips of about one width: a narrow last one would take as long as the others. Where there are
  // several whole ones they begin at multiples of 32 bytes, if rows do and elements have four, or
  // of vectors.
  const uint64_t even = CeilDivide(columns, shape.strip_count);
  const bool is_rounded = shape.strip_count > 1 && strip_columns_max % kScanLanes == 0;
  const uint32_t unit = !is_rounded ? 1 : columns % 8 == 0 ? strip_columns_max / 4 : 4;
  shape.strip_columns = static_cast<uint32_t>(CeilDivide(even, unit) * unit);
  shape.tile_rows = static_cast<uint32_t>(ScanColumnTileRows(columns));
  shape.tile_count = static_cast<uint32_t>(CeilDivide(rows, shape.tile_rows));
  shape.word_columns = Max(columns, kLookBackBlockPitch);
  return shape;
}

// How many values the tiles of all columns tell each other; see chain.cuh. What ends a
// column is told nobody.
struct ColumnLookBackSizes {
  explicit constexpr ColumnLookBackSizes(const ColumnScanShape& shape)
      : tiles(shape.word_columns * (shape.tile_count - 1)),
        blocks(shape.word_columns * (shape.block_count() - 1)) {}

  constexpr uint64_t values() const { return tiles + 2 * blocks; }

  uint64_t tiles;
  uint64_t blocks;
};

// Threads that scan a tile.
inline constexpr int kColumnScanThreads = kScanColumnWarps * kScanLanes;

// Elements are copied to shared memory by vectors of so many bytes where they can be.
inline constexpr uint32_t kColumnVectorBytes = 16;

// How a warp takes its part of a tile: as runs that lie one behind the other, or as one run of each
// column of a strip, whose width may be chosen for rows that are long.
enum class PanelLayout { kNarrow, kWide, kLongRows };

// The least columns for which a kernel for long rows is taken, where there is one.
// `is_associative`: of the operator; if it is not, values take longer to scan.
constexpr uint64_t LongRowColumns(bool is_associative) { return is_associative ? 8192 : 1024; }
constexpr bool HasLongRowsKernel(uint32_t element_size, uint32_t output_size,
                                 uint32_t value_bytes) {
  return element_size == 4 && output_size == 4 && value_bytes <= 8;
}

// Columns of a lane. Two, so that 256 bytes of a row are read at a time, where results are long
// enough that few warps keep memory busy, or rows so long that pieces of them are far apart.
constexpr uint32_t LaneColumns(PanelLayout layout, uint32_t element_size, uint32_t output_size,
                               uint32_t value_bytes) {
  if (layout == PanelLayout::kNarrow) return 1;
  if (layout == PanelLayout::kLongRows) return 2;
  return element_size == 4 && output_size == 8 && value_bytes == 8 ? 2 : 1;
}

// Shared memory of a warp's runs where it has one of each column: vectors that cover the rows of a
// strip of up to `strip_columns_max`, kScanLanes or a multiple.
constexpr uint32_t WideColumnRowBytes(uint32_t element_size, uint32_t strip_columns_max) {
  return Max(strip_columns_max * element_size, uint32_t{64});
}
// Columns of a strip whose vectors have room wherever in a vector the strip's rows begin.
constexpr uint32_t MisalignedStripColumns(uint32_t element_size, uint32_t strip_columns_max) {
  const uint32_t room =
      WideColumnRowBytes(element_size, strip_columns_max) - (kColumnVectorBytes - element_size);
  return Min(room / element_size, strip_columns_max);
}
constexpr uint32_t WideColumnPanelBytes(uint32_t element_size, uint32_t strip_columns_max) {
  return kScanColumnItems * WideColumnRowBytes(element_size, strip_columns_max);
}

// An element's place in shared memory where a warp has several runs of a column. Its result takes
// it afterwards, if it is no longer.
constexpr uint32_t ColumnSlotBytes(uint32_t element_size) { return Max(uint32_t{4}, element_size); }
// Slots between such runs: lanes that take the same row of their runs meet in no bank.
constexpr uint32_t NarrowColumnGap(uint32_t runs) { return kScanLanes / runs; }
inline constexpr uint32_t kNarrowColumnPanelSlots = kScanLanes * (kScanColumnItems + 1);
// Shared memory of a warp's runs there.
constexpr uint32_t NarrowColumnPanelBytes(uint32_t element_size, const ColumnScanShape& shape) {
  const auto run = static_cast<uint32_t>(shape.columns) * kScanColumnItems;
  return shape.runs * (run + NarrowColumnGap(shape.runs)) * ColumnSlotBytes(element_size);
}

// 227 KiB for blocks' own use, and one of each for the system's (CUDA programming guide, compute
// capability 9.0).
inline constexpr uint32_t kColumnSharedBytes = 228 * 1024;
inline constexpr uint32_t kColumnSystemBytes = 1024;

// Warps that join totals: one is soon busy all the time, by measurement of whole rings.
inline constexpr uint32_t kColumnJoiners = 2;

// Blocks of a multiprocessor, and the scanning warps of each: teams to which turns are dealt out.
// Beside them there is a warp that publishes, one that looks back, and kColumnJoiners; see
// scan/base/turn_ring.cuh.
struct ColumnBlockShape {
  uint32_t blocks;
  uint32_t teams;
  uint32_t lane_columns;

  constexpr uint32_t threads() const {
    return teams * kColumnScanThreads + (1 + (1 + kColumnJoiners) * lane_columns) * kScanLanes;
  }
};

// The turns that a block keeps: one is loaded and one written while another waits for what precedes
// it, and more of them where they are small.
inline constexpr uint32_t kColumnTurnsMax = 12;
constexpr uint32_t ColumnScanBlocks(uint32_t turn_bytes, uint32_t turns_wanted) {
  const uint32_t fit = kColumnSharedBytes / (turns_wanted * turn_bytes + kColumnSystemBytes);
  return Clamp(fit, uint32_t{1}, uint32_t{3});
}
constexpr uint32_t ColumnBlockBytes(uint32_t blocks) {
  return kColumnSharedBytes / blocks - kColumnSystemBytes;
}
constexpr uint32_t ColumnScanTurns(uint32_t turn_bytes, uint32_t block_bytes) {
  return Min(block_bytes / turn_bytes, kColumnTurnsMax);
}
// One block, whose turns are near each other, where few columns wait for each other longest, or
// values take long to scan; long values are bound by instructions and want more scanning warps
// rather than turns.
constexpr ColumnBlockShape ColumnBlockShapeOf(PanelLayout layout, uint32_t turn_bytes_max,
                                              uint32_t element_size, uint32_t value_bytes,
                                              uint32_t lane_columns = 1,
                                              bool is_associative = true) {
  const bool is_narrow = layout == PanelLayout::kNarrow;
  if (is_narrow && value_bytes <= 16) return {1, element_size > 4 ? 1u : 2u, lane_columns};
  if (layout == PanelLayout::kLongRows) return {1, 3, lane_columns};
  if (element_size > 4 && value_bytes == 16) return {1, 3, lane_columns};
  if (element_size == 4 && lane_columns == 1 && !is_associative) return {1, 2, lane_columns};
  return {ColumnScanBlocks(turn_bytes_max, value_bytes > 8 ? 1 : 3), 1, lane_columns};
}

// Blocks of a grid of which `resident` are worked on at a time. Their number and that of the strips
// have no divisor in common, so that each block goes through all strips: those that have no block
// in common would drift apart.
constexpr uint32_t ColumnGridBlocks(const ColumnScanShape& shape, uint64_t resident) {
  if (shape.turn_count() <= resident) return static_cast<uint32_t>(shape.turn_count());
  auto blocks = static_cast<uint32_t>(resident);
  while (std::gcd(blocks, shape.strip_count) > 1) --blocks;
  return blocks;
}

// Whether the one strip is taken as runs that lie one behind the other. Smaller elements are copied
// by way of registers there, and take places of four bytes.
constexpr bool IsNarrow(const ColumnScanShape& shape, uint32_t element_size) {
  return shape.runs > 1 || (shape.columns <= kScanLanes && element_size >= 4);
}

// Threads of a block where a thread goes down whole columns: a long row, unless what a thread knows
// of its columns takes so many registers that long blocks leave some unused.
constexpr uint32_t WholeColumnsThreads(uint64_t walk_bytes) { return walk_bytes > 80 ? 128 : 256; }

// Rows whose loads such a thread has in flight together; it reads row_bytes of each.
constexpr uint32_t WholeColumnsBatch(uint64_t row_bytes) { return row_bytes >= 8 ? 4 : 8; }
// More of them where lanes shift what they read, as far as the code does not become long.
constexpr uint32_t ShiftedColumnsBatch(uint64_t row_bytes, uint32_t columns) {
  return Min(row_bytes >= 16 ? uint32_t{8} : uint32_t{16}, 32 / columns);
}

// Bytes in flight that keep the memory of a multiprocessor busy, with as many again for threads
// that are not loading.
inline constexpr uint64_t kWholeColumnsBytesInFlight = uint64_t{32} * 1024;

// Whether so many threads that go down whole columns keep the device busy.
constexpr bool WholeColumnsSuffice(uint64_t threads, uint64_t row_bytes, int multiprocessors) {
  return threads * row_bytes * WholeColumnsBatch(row_bytes) >=
         kWholeColumnsBytesInFlight * static_cast<uint64_t>(multiprocessors);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_SHAPE_H_
