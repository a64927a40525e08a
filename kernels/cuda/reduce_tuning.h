// Launch constants of reductions, shared by the host's geometry and the kernels' launch bounds.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_TUNING_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_TUNING_H_

#include <cstdint>

namespace gridfold::kernels::cuda {

struct ReduceTuning {
  static constexpr uint32_t kBlockThreads = 256;
  static constexpr uint32_t kWarpThreads = 32;
  static constexpr uint32_t kWarps = kBlockThreads / kWarpThreads;

  // Blocks that a multiprocessor holds at once. With four 16-byte loads of each thread in flight, 4
  // blocks keep 64 KiB under way, more than twice what covers the latency of HBM3 at full rate; the
  // sets of several parts need the registers of twice as many threads, and still keep 32 KiB.
  static constexpr uint32_t kResidentBlocksOnePart = 4;
  static constexpr uint32_t kResidentBlocksManyParts = 2;

  static constexpr uint32_t kVectorBytes = 16;
  static constexpr uint32_t kVectorsInFlight = 4;

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

// For a set of parts as VisitPartSet gives it.
constexpr uint32_t ReduceResidentBlocks(uint32_t parts) {
  const bool one_part = (parts & (parts - 1)) == 0;
  return one_part ? ReduceTuning::kResidentBlocksOnePart : ReduceTuning::kResidentBlocksManyParts;
}

// Axis 0: rows that a thread has under way. A warp's load of a row is small where elements are.
constexpr uint32_t ReduceRowsInFlight(uint32_t element_bytes) {
  const uint32_t of_a_vector = ReduceTuning::kVectorBytes / element_bytes;
  return of_a_vector > ReduceTuning::kRowsInFlightMin ? of_a_vector
                                                      : ReduceTuning::kRowsInFlightMin;
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_TUNING_H_
