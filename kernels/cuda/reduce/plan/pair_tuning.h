// Launch constants of sums in pairs (reduce/core/pairs.cuh), as tuning.h has those of other
// kernels.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_PAIR_TUNING_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_PAIR_TUNING_H_

#include <cstdint>

#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"

namespace gridfold::kernels::cuda {

// Sums of groups in pairs (reduce/core/pairs.cuh).
struct PairTuning {
  // Shallow columns, whose rows are few.
  static constexpr uint32_t kThreads = 256;
  static constexpr uint32_t kResidentBlocks = 4;
  static constexpr uint32_t kVectorsInFlight = 4;
  // Groups by lanes of a warp, and of one vector each. Vectors of a lane of a warp: the next ones
  // take the place of those that are added.
  static constexpr uint32_t kGroupThreads = 128;
  static constexpr uint32_t kGroupResidentBlocks = 5;
  static constexpr uint32_t kGroupVectorsInFlight = 8;
  static constexpr uint32_t kVectorResidentBlocks = 8;
  // Rows of up to as many vectors as a warp has lanes are read by whole warps, where each has so
  // many turns.
  static constexpr uint32_t kRowVectorsInFlight = 8;
  static constexpr uint64_t kRowTurnsMin = 2;
  // A lane is to read about so much of its group: the fewer lanes, the less there is to join. More
  // of a segment, in whose last vectors there is less for most lanes.
  static constexpr uint64_t kBytesPerLane = 128;
  static constexpr uint64_t kSegmentBytesPerLane = 256;
  // Where some segments are too long for a warp, those of more than this are left to blocks, which
  // begin when the last warp is done. As many as GeometryScratchBytesMax takes for possible.
  static constexpr uint64_t kQueuedGroupBytesMin = 16 * 1024;
  // Groups that give a lane more elements than this are left to the whole warp.
  static constexpr uint32_t kLaneElementsMax = 256;

  // Groups by a block each, of so many elements at most. A single group of more than
  // kBlockElementsMaxAlone is shared by several: one block reads that many in less time than others
  // take to meet, but converts only 16 elements a clock.
  static constexpr uint64_t kBlockElementsMax = 64 * 1024;
  static constexpr uint64_t kBlockElementsMaxAlone = 16 * 1024;
  static constexpr uint64_t kBlockElementsShared = 4 * 1024;
  static_assert(kBlockElementsMax / kBlockElementsShared <= ReduceTuning::kWarpThreads);
  static constexpr uint64_t kBlockPartialBytes = 24;
  static constexpr uint32_t kBlockThreads = 512;
  static constexpr uint32_t kBlockVectorsInFlight = 8;
  static constexpr uint32_t kBlockPieces = 4;

  // Columns. A block of kColumnThreads fills a multiprocessor where rows are split, several smaller
  // ones where tiles are many and one reads while another joins.
  static constexpr uint32_t kColumnThreads = 512;
  static constexpr uint32_t kColumnWarpsMax = 16;
  static constexpr uint32_t kColumnThreadsOfMany = 128;
  static constexpr uint64_t kManyColumnTilesPerMultiprocessor = 8;
  static constexpr uint32_t kTileColumnsMax = 128;
  static constexpr uint32_t kTileColumnsMin = 32;
  // Rows are split for as many blocks as keep this share of the multiprocessors busy to the end.
  static constexpr double kBusyShareMin = 0.94;
  static constexpr uint64_t kRowsPerSplitMax = uint64_t{1} << 26;  // PairHolds.
  // Bytes of what a split leaves for a column: a pair, a state and a range.
  static constexpr uint64_t kColumnPartialBytes = 80;
  // Float64 columns of fewer bytes or rows have one kernel alone.
  static constexpr uint64_t kDoubleColumnBytesMin = 4 << 20;
  static constexpr uint64_t kDoubleColumnRowsMin = 8;
  static constexpr uint64_t kDoubleColumnPartialBytes = 32;  // What a split leaves for a column.
  // A thread takes all rows of its columns: where these are few, which are called shallow, more
  // where there are columns for so many waves of threads; and where there are tiles for so many
  // waves of warps.
  static constexpr uint64_t kShallowRowsMax = 64;
  static constexpr uint64_t kShallowRowsMaxOfMany = 128;
  static constexpr uint64_t kShallowWavesMin = 4;
  static constexpr uint32_t kShallowRowsInFlight = 4;
  static constexpr uint32_t kShallowResidentBlocks = 3;
  static constexpr uint32_t kWholeColumnThreads = 128;
  static constexpr uint32_t kWholeColumnResidentBlocks = 4;
  static constexpr uint64_t kWholeColumnWavesMin = 3;
  // Groups of up to so many elements are added to words together, by a few lanes each.
  static constexpr uint32_t kBriefGroupElementsMax = 512;
  // Elements of a column, and vectors of a group, that a thread has under way where it adds them to
  // words. With more of them functions would leave fewer registers to what calls them.
  static constexpr uint32_t kWordLoadsInFlight = 16;
  static constexpr uint32_t kShallowWordLoadsInFlight = 8;
  static constexpr uint32_t kWordVectorsInFlight = 4;
  // Columns of words that the lanes of a warp share, of float64.
  static constexpr uint32_t kDoubleWordColumns = 8;
};

// Blocks of kGroupThreads that a multiprocessor has registers for: sums of float64 take more.
constexpr uint32_t GroupResidentBlocks(uint32_t element_bytes) {
  return element_bytes == sizeof(double) ? PairTuning::kGroupResidentBlocks - 1
                                         : PairTuning::kGroupResidentBlocks;
}

// Blocks that a multiprocessor has registers for where a thread takes vectors of so many groups.
constexpr uint32_t VectorResidentBlocks(uint32_t groups) {
  return groups == 1 ? PairTuning::kVectorResidentBlocks : PairTuning::kVectorResidentBlocks - 2;
}

// Words of a warp that sums groups which pairs do not hold.
constexpr uint32_t GroupWordBytes(uint32_t element_bytes) {
  const uint32_t words = element_bytes == sizeof(double)
                             ? kDoubleSumWords * PairTuning::kDoubleWordColumns
                             : kSingleSumWords * ReduceTuning::kWarpThreads;
  return words * static_cast<uint32_t>(sizeof(int64_t));
}

// Rows that a thread has under way where columns are summed in pairs.
constexpr uint32_t ColumnSumRowsInFlight(uint32_t element_bytes) {
  return element_bytes < 8 ? 2 * element_bytes : 8;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_PAIR_TUNING_H_
