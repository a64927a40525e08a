// These are the launch constants of reductions, but for those of sums in pairs (pair_tuning.h),
// shared by the host's geometry and the kernels' launch bounds. kernels/docs/reductions_*.md have
// the measurements of those that were measured.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_TUNING_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_TUNING_H_

#include <cstdint>

#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/arithmetic/element.h"
#include "kernels/numerics/statistics/reduction_state.h"

namespace gridfold::kernels::cuda {

struct ReduceTuning {
  static constexpr uint32_t kBlockThreadsMax = 1024;
  static constexpr uint32_t kBlockThreads = 256;  // Of tiles and columns, without words.
  static constexpr uint32_t kWarpThreads = 32;
  static constexpr uint32_t kWarpThreadsLog2 = 5;
  static constexpr uint32_t kWarpsMax = kBlockThreadsMax / kWarpThreads;
  static constexpr uint32_t kChunkThreadsMin = 128;
  static constexpr uint32_t kResidentBlocksMax = 4;  // Of a multiprocessor.

  // Elements that a thread is given where it takes them all itself: no more than any type's words
  // take, WordAdditionsMax.
  static constexpr uint64_t kAdditionsMax = 8192;

  // Shared memory of a multiprocessor for words, and what a block has besides. Two blocks at least,
  // where words are not too many.
  static constexpr uint32_t kWordBytesPerBlockMax = 108 * 1024;
  static constexpr uint32_t kWordBytesMax = 216 * 1024;
  static constexpr uint32_t kWordBytesOfBlocksMax = 192 * 1024;
  static constexpr uint32_t kOtherSharedBytesMax = 24 * 1024;
  static constexpr uint32_t kOtherSharedBytesOfBlocksMax = 8 * 1024;

  static constexpr uint32_t kVectorBytes = 16;
  static constexpr uint32_t kTileVectorsInFlight = 4;
  // Elements of all loads that a thread has under way.
  static constexpr uint32_t kGroupElementsMax = 64;
  // Threads of a multiprocessor, where each thread has windows of several moments.
  static constexpr uint32_t kWindowThreadsMax = 512;
  static constexpr uint32_t kWindowElementsMax = 32;
  // States in shared memory are apart by at most this much more than a state.
  static constexpr uint32_t kStateAlignment = 16;
  // What a thread has in registers takes at most this much more than a state.
  static constexpr uint64_t kRegisterExtraBytes = 48;

  // A chunk is what one block reduces at a time; smaller ones cost more to join than to read.
  static constexpr uint64_t kChunkBytesMin = 16 * 1024;
  // Chunks for each resident block, for an even end: of equal groups, and of queued segments.
  static constexpr uint64_t kChunksPerBlock = 4;
  static constexpr uint64_t kQueuedChunksPerBlock = 8;

  // Groups of up to this size are reduced by lanes of one warp, the others by blocks: where there
  // are enough groups to keep every warp busy, and where there are not.
  static constexpr uint64_t kTileGroupBytesMaxMany = 64 * 1024;
  static constexpr uint64_t kTileGroupBytesMaxFew = 4 * 1024;
  // A lane of a tile is to read about this much of its group.
  static constexpr uint64_t kTileBytesPerLane = 64;
  // Grid of the tile kernel, for each resident block: more than one, so that the hardware's
  // scheduler evens out groups of different lengths.
  static constexpr uint64_t kTileBlocksPerResident = 8;
  // Bytes that a warp is to take, and so the grid, where warps load groups of long arrays turn by
  // turn. Multiprocessors do not read equally fast, and of few turns the first loads, for which a
  // block has nothing to do meanwhile, are too many. Rows of 2 GiB on an H100 (kernel_benchmark
  // --only matrices --rows tile): sums and extremes had 0.86 to 0.97 of the read ceiling with 8 and
  // 4 blocks for each resident one, 0.92 to 1.01 so.
  static constexpr uint64_t kTurnWarpBytes = 12 * 1024;

  // Axis 0: neighbouring threads read neighbouring columns, at least this many bytes of a row and
  // no fewer columns than a warp has lanes.
  static constexpr uint64_t kColumnTileBytes = 128;
  static constexpr uint32_t kRowsInFlightMin = 8;
  // Rows are shared out among a tile's threads only where each gets this many.
  static constexpr uint64_t kRowsPerThreadMin = 16;
  // Rows are split among blocks for this many items a resident block, but only so far that reading
  // a split takes this many times the bytes of its partial states.
  static constexpr uint64_t kColumnItemsPerBlock = 2;
  static constexpr uint64_t kSplitBytesPerPartialByte = 16;
};

// The most blocks of so many threads where warps load groups of so many bytes turn by turn.
constexpr uint64_t TurnBlocksMax(uint64_t resident_blocks, uint64_t block_threads, uint64_t bytes) {
  const uint64_t warps = block_threads / ReduceTuning::kWarpThreads;
  const uint64_t by_bytes = bytes / (warps * ReduceTuning::kTurnWarpBytes);
  const uint64_t blocks_min = resident_blocks * ReduceTuning::kTileBlocksPerResident;
  return by_bytes > blocks_min ? by_bytes : blocks_min;
}

// Columns of words of so many threads, of which `sharers` or fewer share a column: whole warps of
// columns, which warps join.
constexpr uint32_t WordColumnsOf(uint32_t threads, uint32_t sharers) {
  constexpr uint32_t kLanes = ReduceTuning::kWarpThreads;
  return (threads + sharers * kLanes - 1) / (sharers * kLanes) * kLanes;
}
// The most threads that so many columns do for.
constexpr uint32_t ThreadsOfWordColumns(uint32_t columns, uint32_t sharers) {
  return columns / ReduceTuning::kWarpThreads * ReduceTuning::kWarpThreads * sharers;
}

// Several statistics of columns (reduce/columns/moment_columns.cuh).
struct MomentTuning {
  // Columns of fewer bytes or rows have ReduceColumns alone.
  static constexpr uint64_t kBytesMin = 4 << 20;
  static constexpr uint64_t kRowsMin = 64;
  // Where there are columns for all threads they may have fewer rows: four statistics of 64 MiB of
  // 2^20 columns take 100 us in place of 207 as rows of float16, 81 for 136 of float32 and 100 for
  // 116 of float64 (H200, route_report.py --mib 64).
  static constexpr uint64_t kManyColumns = 800'000;
  static constexpr uint64_t kRowsMinOfManyColumns = 8;
  static constexpr uint64_t kHalfRowsMinOfManyColumns = 2;  // 86 us in place of 108 (as above).
  // Columns of so many bytes and fewer are taken sooner as rows: of float64 [1500, 2567] 58 us in
  // place of 226, of float32 [3993, 629] 51 in place of 81 (H200, shape_benchmark.py --strategies),
  // 64 columns of 4 MiB of halves half, of 16 MiB 0.75 (route_report.py --mib 4, 16). But of few
  // columns of float64 rows take longer: 64 of 16 MiB 1.8, 4 of 4 MiB 1.5 times.
  static constexpr uint64_t kDoublesAsRowsBytesMax = (32 << 20) - 1;
  static constexpr uint64_t kFewDoubleColumns = 64;
  static constexpr uint64_t kAsRowsBytesMax = 16
                                              << 20;  // Of floats, and of some columns of halves.
  static constexpr uint64_t kFewHalfColumns = 4;
  static constexpr uint64_t kFewHalfColumnBytesMax = 4 << 20;
  static constexpr uint64_t kManyHalfColumns = 4096;
  static constexpr uint64_t kPartialBytes = 80;  // What a split leaves for a column.
  // 127 bits hold the sum of the squares of so many rows.
  static constexpr uint64_t kRowsMax = uint64_t{1} << 29;
  // The next constants are for float64 (reduce/columns/double_moment_columns.cuh). 192 bits hold
  // the sum of the squares of so many rows.
  static constexpr uint64_t kDoubleRowsMax = uint64_t{1} << 32;
  static constexpr uint64_t kDoublePartialBytes = 96;
  static constexpr uint32_t kDoubleTurnsMax = 1024;
  static constexpr uint64_t kDoubleOutlierBytes = 16;
};

// What a thread takes of a row, two columns, so that a turn has many rows of each: what a turn
// costs besides its elements counts, and so do registers for each column. 2 GiB of 64 columns
// (kernel_benchmark --only matrices): four columns of four float32 rows 0.575 of the read ceiling,
// two of eight 0.705 (H200); four of eight float16 rows 0.585, two of sixteen 0.79 (H100).
struct MomentColumnShape {
  uint32_t vector_bytes;
  uint32_t rows;       // Of a turn.
  uint32_t turns_max;  // Of a thread.
};
constexpr MomentColumnShape MomentColumnShapeOf(uint32_t element_bytes) {
  if (element_bytes == sizeof(float)) return {8, 8, 2048};
  return {4, 16, 2048};
}

// The most elements of a tile of `tile_elements` that are listed, to be added on their own. Of
// ordinary ones a few in 2^24 lie outside of the window. A list takes no more than a part of what
// the elements do.
constexpr uint32_t ColumnOutliersMax(uint32_t element_bytes, uint64_t tile_elements) {
  const bool is_double = element_bytes == sizeof(double);
  const uint64_t least = is_double ? 32 : 256;
  const uint64_t most = is_double ? 4096 : least;
  const uint64_t few = tile_elements / 16 < least ? tile_elements / 16 : least;
  const uint64_t wanted = tile_elements >> 20;
  return static_cast<uint32_t>(wanted < few ? few : wanted > most ? most : wanted);
}

// Sums of strips of short segments (reduce/groups/strip_sums.cuh).
struct StripTuning {
  // A warp, which makes room for the next as soon as it is done.
  static constexpr uint32_t kThreads = 32;
  static constexpr uint32_t kResidentBlocks = 24;  // What their registers leave room for.
  // Vectors of a lane in a turn, and turns of a warp's window: one that is added up, and others on
  // their way. H200, means of 256 and 16 elements: 5, 7 and 9 vectors 278, 273, 272 and 365, 366,
  // 370 us.
  static constexpr uint32_t kLaneVectors = 7;
  static constexpr uint32_t kWindowTurns = 2;
  // Turns begin at multiples of this.
  static constexpr uint32_t kLineBytes = 128;
  // Segments of more elements are not added up turn by turn.
  static constexpr uint32_t kSegmentElementsMax = 16 * 1024;
  // Where a turn's sums do not hold, so many segments or more are summed by a lane each, fewer by
  // all lanes.
  static constexpr uint32_t kSegmentsByLanesMin = 8;
  // Segments of up to this size on average; those of one size, of which lanes of a warp read as
  // many vectors each, only up to the other.
  static constexpr uint64_t kSegmentBytesMax = 2048;
  static constexpr uint64_t kEqualSegmentBytesMax = 64;
  // A strip is about this long, and no shorter than as many segments as a warp has lanes.
  static constexpr uint64_t kStripBytes = 64 * 1024;
};

// Columns that are taken in vectors of a word or an element (reduce/columns/kernels.cuh).
struct ColumnVectorTuning {
  static constexpr uint32_t kRowsInFlight = 16;  // Of a lane.
  // Rows that a thread takes by itself, four times as many of many columns: argmax of bfloat16
  // [45, 129,418] in 20 us in place of 101, sums of squares of uint8 [486, 59,122] in 53 in place
  // of 131, minima of uint8 [1023, 58,200] in 65 in place of 79 (H200, shape_benchmark.py
  // --strategies).
  static constexpr uint64_t kBriefRowsMax = 320;
  // Warps side by side: rows that are not aligned to sectors have their ends in both, and the more
  // columns a block has, the more is left to join. H200, 2 GiB of 1,000 columns of int8: 560 us;
  // one warp 695, four 570, eight 613.
  static constexpr uint32_t kWarpsMax = 2;
};
// Bytes of a row that a lane takes.
constexpr uint32_t ColumnVectorBytes(uint32_t element_bytes) {
  return element_bytes < sizeof(uint32_t) ? sizeof(uint32_t) : element_bytes;
}

// Strips of short groups of integers (reduce/groups/integer_strips.cuh), in windows of the same
// form.
struct IntegerStripTuning {
  static constexpr uint32_t kResidentBlocks = 20;
  static constexpr uint32_t kSharedBytesMax = 220 * 1024;  // Of a multiprocessor.
  static constexpr uint32_t ResidentBlocksOf(uint32_t shared_bytes) {
    const uint32_t blocks = kSharedBytesMax / (shared_bytes + 1024);
    return blocks < kResidentBlocks ? blocks : kResidentBlocks;
  }
  // A strip is about this long. So many groups have fewer than 2^31 elements. H200, rows of 1,000
  // int8: 0.93 of the read ceiling; 64 KiB 0.90, 256 KiB 0.85.
  static constexpr uint64_t kStripBytes = 32 * 1024;
  static constexpr uint64_t kStripGroupsMax = 16 * 1024;
  static_assert(kStripGroupsMax * ReduceTuning::kTileGroupBytesMaxMany < uint64_t{1} << 31);
};

// Extremes of groups by lanes of a warp (reduce/groups/row_extremes.cuh).
struct ExtremeTuning {
  static constexpr uint32_t kThreads = 128;
  static constexpr uint32_t kResidentBlocks = 6;
  // Bytes that a warp has of its groups in shared memory, twice, and groups that it takes together.
  // H200, rows of 1,000 int8: 0.78 of the read ceiling; 2 KiB 0.52.
  static constexpr uint32_t kTurnBytes = 4096;
  static constexpr uint32_t kTurnGroupsMax = 256;
  // A lane is to read about so much of its group, and less of segments, some of which are longer.
  static constexpr uint64_t kBytesPerLane = kTurnBytes / ReduceTuning::kWarpThreads;
  static constexpr uint64_t kSegmentBytesPerLane = kBytesPerLane / 2;
  // Groups of so few elements are looked at one by one.
  static constexpr uint64_t kBriefElementsMax = 8;
  // Vectors under way for a lane, of groups that are longer than a turn.
  static constexpr uint32_t kLongVectorsInFlight = 8;
};

// Several statistics of short groups in fixed point (reduce/groups/fixed_point_tiles.cuh).
struct FixedPointTuning {
  static constexpr uint32_t kThreads = 128;
  static constexpr uint32_t kResidentBlocks = 4;
  // A lane is to read about this much of its group; or less, where groups are few.
  static constexpr uint64_t kBytesPerLane = 512;
  static constexpr uint64_t kBytesPerLaneMin = 64;
  // Strips that there are to be for each warp; if need be of fewer groups than it has lanes.
  static constexpr uint64_t kStripsPerWarpMin = 2;
  // Where the first so many groups of a strip do not fit fixed point, no others are tried.
  static constexpr uint32_t kTriesMin = 4;
  // Groups of segments that give a lane more than this are left to a whole warp.
  static constexpr uint32_t kLaneVectorsMax = 64;
};

// Several statistics of short groups in pairs (reduce/groups/pair_tiles.cuh).
struct PairTileTuning {
  static constexpr uint32_t kThreads = 128;
  static constexpr uint32_t kResidentBlocks = 4;
  static constexpr uint32_t kLaneElements = 16;  // Of a lane's turn.
  // A lane is to read about this much of its group; or less, where groups are few.
  static constexpr uint64_t kBytesPerLane = 128;
  static constexpr uint64_t kBytesPerLaneMin = 32;
};

// Columns of more rows have ReduceColumns alone.
constexpr uint64_t MomentColumnRowsMax(uint32_t element_bytes) {
  return element_bytes == sizeof(double) ? MomentTuning::kDoubleRowsMax : MomentTuning::kRowsMax;
}

// Blocks of a kernel, for elements of type T and a set of parts as VisitPartSet gives it.
struct ReduceShape {
  uint32_t threads;
  uint32_t resident_blocks;    // Of a multiprocessor.
  uint32_t vectors_in_flight;  // Loads that a thread has under way.
};

// Tiles and columns.
// 64 KiB of loads under way are more than twice what covers the latency of HBM3 at full rate; the
// sets of several parts need the registers, or the shared memory, of twice as many threads.
template <class T>
constexpr ReduceShape ReduceShapeOf(uint32_t parts) {
  const uint32_t words = MomentWordCount<T>(parts);
  if (words == 0) {
    const bool one_part = (parts & (parts - 1)) == 0;
    return {ReduceTuning::kBlockThreads, one_part ? 4u : 2u, 4};
  }
  if (parts == kSumPart && sizeof(T) < 8) return {384, 4, 4};
  uint32_t threads = ReduceTuning::kBlockThreads;
  while (threads > 64 && threads * words * 8 > ReduceTuning::kWordBytesPerBlockMax) threads /= 2;
  // kWindowThreadsMax threads have registers for windows.
  const uint32_t by_words = ReduceTuning::kWordBytesMax / (threads * words * 8);
  const uint32_t by_registers = ReduceTuning::kWindowThreadsMax / threads;
  const uint32_t resident = by_words < by_registers ? by_words : by_registers;
  return {threads, resident, threads * resident >= 512 ? 4u : 8u};
}

// Whether a block looks for nothing but extremes, of elements of which a turn's are found in fewer
// instructions than their places (reduce/core/extreme_turns.cuh).
template <class T>
constexpr bool HasExtremeTurns(uint32_t parts) {
  return parts == kExtremesPart && (FloatingElement<T> || sizeof(T) != 4);
}

// Long groups: one block fills a multiprocessor, since the hardware favours the older of several,
// which is then done early, and the rest cannot keep memory busy.
template <class T>
constexpr ReduceShape BlockShapeOf(uint32_t parts) {
  const uint32_t words = MomentWordCount<T>(parts);
  const bool one_part = (parts & (parts - 1)) == 0;
  // Where a window's sums are long as well, what does not fit 128 registers is read from memory in
  // every turn: for float64, fewer threads take less time than that.
  const uint32_t by_registers = one_part ? 1024 : WordSharersOf<T>(parts) > 1 ? 384 : 512;
  // Loads under way need what shared memory leaves to L1. Fewer columns of float64's words would be
  // fewer by four warps.
  constexpr uint32_t kWordBytes =
      sizeof(T) == 8 ? ReduceTuning::kWordBytesMax : ReduceTuning::kWordBytesOfBlocksMax;
  const uint32_t by_words =
      words == 0 ? by_registers
                 : ThreadsOfWordColumns(kWordBytes / (words * 8), WordSharersOf<T>(parts));
  const uint32_t threads = by_words < by_registers ? by_words : by_registers;
  // Extremes alone are taken vector by vector too (reduce/core/turn_takers.cuh). With as many
  // threads as leave each 80 registers the loop keeps nothing in memory; 96 KiB are under way all
  // the time.
  if (HasExtremeTurns<T>(parts)) return {768, 1, 8};
  // Several statistics of integers are summed vector by vector (reduce/core/integer_turns.cuh).
  if (words == 0 && parts == kCorePartSet) return {threads, 1, 8};
  // Windows keep a turn's elements in registers, those of 16 bits as they were loaded.
  const uint32_t elements_max = words > 0 && !one_part && sizeof(T) > 2
                                    ? ReduceTuning::kWindowElementsMax
                                    : ReduceTuning::kGroupElementsMax;
  const uint32_t in_flight_max = elements_max * sizeof(T) / ReduceTuning::kVectorBytes;
  const uint32_t in_flight = one_part || words > 0 ? 8 : 4;
  return {threads, 1, in_flight < in_flight_max ? in_flight : in_flight_max};
}

// Axis 0: rows that a thread has under way. A warp's load of a row is small where elements are.
constexpr uint32_t ReduceRowsInFlight(uint32_t element_bytes) {
  const uint32_t of_a_vector = ReduceTuning::kVectorBytes / element_bytes;
  return of_a_vector > ReduceTuning::kRowsInFlightMin ? of_a_vector
                                                      : ReduceTuning::kRowsInFlightMin;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_TUNING_H_
