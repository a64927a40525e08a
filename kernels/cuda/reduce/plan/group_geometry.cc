#include "kernels/cuda/reduce/plan/group_geometry.h"

#include <bit>

#include "kernels/cuda/reduce/plan/brief_extremes.h"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/plan/warp_extremes.h"

namespace gridfold::kernels::cuda {

namespace {

using Tuning = ReduceTuning;

// Threads for chunks of this size: as many as one turn of loads occupies.
uint32_t ChunkThreads(uint64_t chunk_bytes, const ReduceShape& shape, uint32_t threads_max) {
  const uint64_t busy =
      CeilDivide(chunk_bytes, uint64_t{Tuning::kVectorBytes} * shape.vectors_in_flight);
  return static_cast<uint32_t>(std::clamp<uint64_t>(RoundUp(busy, uint64_t{Tuning::kWarpThreads}),
                                                    std::min(Tuning::kChunkThreadsMin, threads_max),
                                                    threads_max));
}

// Plans strips of groups of integers: as many groups to a warp as make a strip, but so few that all
// warps have some.
void PlanStrips(const LayoutRequest& request, const LayoutRequest& blocks, uint64_t longest,
                uint64_t multiprocessors, ReductionGeometry& geometry) {
  constexpr uint64_t kLanes = Tuning::kWarpThreads;
  const uint64_t group_count = request.grouping.group_count;
  // But for the longest, which may be all there is.
  const uint64_t other_bytes = request.total_bytes() - longest * request.element_bytes;
  const uint64_t mean_bytes = group_count == 1 ? 1 : CeilDivide(other_bytes, group_count - 1);
  const uint64_t warps = multiprocessors * IntegerStripTuning::kResidentBlocks;
  const uint64_t groups_max =
      std::clamp<uint64_t>(group_count / warps, 1, IntegerStripTuning::kStripGroupsMax);
  const uint64_t groups = std::clamp<uint64_t>(
      IntegerStripTuning::kStripBytes / std::max<uint64_t>(mean_bytes, 1), 1, groups_max);
  const bool fills_lanes = groups > kLanes;
  geometry.form = ReductionForm::kStrips;
  geometry.block_threads = StripTuning::kThreads;
  geometry.tile_elements_max = request.TileElementsMax(kLanes);
  geometry.strip_groups = static_cast<uint32_t>(fills_lanes ? groups / kLanes * kLanes : groups);
  geometry.grid_blocks = static_cast<uint32_t>(CeilDivide(group_count, geometry.strip_groups));
  if (longest > geometry.tile_elements_max) PlanQueue(blocks, geometry);
}

void PlanTiles(const LayoutRequest& request, const LayoutRequest& blocks, uint64_t longest,
               ReductionGeometry& geometry) {
  const uint64_t group_count = request.grouping.group_count;
  const uint64_t mean_bytes = CeilDivide(request.total_bytes(), group_count);
  const uint64_t lanes = std::clamp<uint64_t>(CeilDivide(mean_bytes, Tuning::kTileBytesPerLane), 1,
                                              Tuning::kWarpThreads);
  geometry.form = ReductionForm::kTiles;
  geometry.tile_width_log2 = static_cast<uint32_t>(std::bit_width(lanes - 1));
  geometry.tile_elements_max = request.TileElementsMax(uint64_t{1} << geometry.tile_width_log2);
  uint64_t resident_blocks = request.resident_blocks;
  if (request.has_words() && lanes == Tuning::kWarpThreads) {
    // A block is a warp, whose room the next takes as soon as it is done.
    resident_blocks *= geometry.block_threads / Tuning::kWarpThreads;
    geometry.block_threads = Tuning::kWarpThreads;
    geometry.word_bytes = request.WordBytes(geometry.block_threads);
  }
  const uint64_t groups_per_block = geometry.block_threads >> geometry.tile_width_log2;
  geometry.grid_blocks = GridStrideBlocks(group_count, groups_per_block,
                                          resident_blocks * Tuning::kTileBlocksPerResident);
  if (longest > geometry.tile_elements_max) PlanQueue(blocks, geometry);
}

bool AreBriefRows(const Grouping& grouping) {
  return grouping.kind != GroupingKind::kSegments && grouping.group_size > 0 &&
         grouping.group_size <= BriefExtremeTuning::kElementsMax;
}

// Rows that are left to blocks are not among them.
bool AreWarpRows(const LayoutRequest& request, uint64_t elements_max) {
  const Grouping& grouping = request.grouping;
  const uint64_t row_bytes = grouping.group_size * request.element_bytes;
  const uint64_t row_bytes_min = request.element_bytes == 4 ? WarpExtremeTuning::kRowBytesMin
                                                            : WarpExtremeTuning::kNarrowRowBytesMin;
  return grouping.kind != GroupingKind::kSegments && grouping.group_size <= elements_max &&
         request.element_bytes <= 4 && row_bytes >= row_bytes_min;
}

void PlanWarpExtremes(const Grouping& grouping, const DeviceProperties& properties,
                      ReductionGeometry& geometry) {
  using Extremes = WarpExtremeTuning;
  geometry.has_warp_rows = true;
  geometry.block_threads = Extremes::kThreads;
  geometry.grid_blocks = GridStrideBlocks(
      grouping.group_count, Extremes::kThreads / Tuning::kWarpThreads,
      Extremes::kResidentBlocks * static_cast<uint64_t>(properties.multiprocessor_count) *
          Extremes::kBlocksPerResident);
}

// Plans groups of which nothing but extremes is asked for.
void PlanRowExtremes(const LayoutRequest& request, const LayoutRequest& blocks,
                     const DeviceProperties& properties, WantedKernel wanted,
                     ReductionGeometry& geometry) {
  using Extremes = ExtremeTuning;
  const Grouping& grouping = request.grouping;
  const uint64_t mean_bytes =
      std::max<uint64_t>(1, CeilDivide(request.total_bytes(), grouping.group_count));
  const bool are_equal = grouping.kind != GroupingKind::kSegments;
  const uint64_t lane_bytes = are_equal ? Extremes::kBytesPerLane : Extremes::kSegmentBytesPerLane;
  const uint64_t lanes =
      std::clamp<uint64_t>(CeilDivide(mean_bytes, lane_bytes), 1, Tuning::kWarpThreads);
  geometry.form = ReductionForm::kTiles;
  geometry.tile_width_log2 = static_cast<uint32_t>(std::bit_width(lanes - 1));
  geometry.tile_elements_max = request.TileElementsMax(lanes);
  geometry.block_threads = Extremes::kThreads;
  // A warp takes as many groups together as its lanes take at a time, or a multiple where the
  // window has room for more.
  const uint64_t together = Tuning::kWarpThreads >> geometry.tile_width_log2;
  const uint64_t fitting = Extremes::kTurnBytes / mean_bytes / together * together;
  const uint64_t resident_blocks =
      uint64_t{Extremes::kResidentBlocks} * static_cast<uint64_t>(properties.multiprocessor_count);
  uint64_t groups_max = Extremes::kTurnGroupsMax;
  geometry.has_brief_rows = AreBriefRows(grouping) && wanted != ReductionKernel::kRowExtremes;
  if (geometry.has_brief_rows) {
    // More where every warp has a turn of so many.
    const uint64_t warps = resident_blocks * (Extremes::kThreads / Tuning::kWarpThreads);
    groups_max = std::clamp(grouping.group_count / warps / together * together, groups_max,
                            BriefExtremeTuning::kTurnRowsMax);
  }
  geometry.turn_groups =
      static_cast<uint32_t>(std::clamp<uint64_t>(are_equal ? fitting : 0, together, groups_max));
  geometry.grid_blocks =
      GridStrideBlocks(CeilDivide(grouping.group_count, geometry.turn_groups),
                       Extremes::kThreads / Tuning::kWarpThreads,
                       TurnBlocksMax(resident_blocks, Extremes::kThreads, request.total_bytes()));
  if (grouping.group_size > geometry.tile_elements_max) PlanQueue(blocks, geometry);
  if (AreWarpRows(request, geometry.tile_elements_max) && wanted != ReductionKernel::kRowExtremes) {
    PlanWarpExtremes(grouping, properties, geometry);
  }
}

// Strips of a warp's lanes of groups each, or of fewer where they would be too few for every warp.
template <class TileTuning>
void PlanStripsOfTiles(const LayoutRequest& request, const DeviceProperties& properties,
                       ReductionGeometry& geometry) {
  constexpr uint64_t kLanes = Tuning::kWarpThreads;
  constexpr uint64_t kWarps = TileTuning::kThreads / kLanes;
  const uint64_t group_count = request.grouping.group_count;
  const uint64_t resident_blocks =
      TileTuning::kResidentBlocks * static_cast<uint64_t>(properties.multiprocessor_count);
  const uint64_t strips_min = resident_blocks * kWarps * FixedPointTuning::kStripsPerWarpMin;
  const uint64_t mean_bytes = CeilDivide(request.total_bytes(), group_count);
  const auto lanes_of = [&](uint64_t lane_bytes) {
    return std::bit_ceil(std::clamp<uint64_t>(CeilDivide(mean_bytes, lane_bytes), 1, kLanes));
  };
  // The fewer lanes, the less there is to join, but where that leaves too few groups to a warp.
  uint64_t width = lanes_of(TileTuning::kBytesPerLane);
  while (width < lanes_of(TileTuning::kBytesPerLaneMin) &&
         group_count * width < strips_min * kLanes) {
    width *= 2;
  }
  const uint64_t strip_groups =
      std::clamp(std::bit_floor(group_count / strips_min), kLanes / width, kLanes);
  geometry.tile_width_log2 = static_cast<uint32_t>(std::bit_width(width - 1));
  geometry.strip_groups = static_cast<uint32_t>(strip_groups);
  geometry.block_threads = TileTuning::kThreads;
  geometry.word_bytes = 0;
  geometry.grid_blocks = GridStrideBlocks(group_count, kWarps * strip_groups,
                                          resident_blocks * Tuning::kTileBlocksPerResident);
}

}  // namespace

void PlanGroups(const LayoutRequest& request, const LayoutRequest& blocks, const KernelKind& kind,
                const DeviceProperties& properties, WantedKernel wanted,
                ReductionGeometry& geometry) {
  const uint64_t longest = request.grouping.group_size;
  const bool equal_groups = request.grouping.kind != GroupingKind::kSegments;
  // All lanes take a long row in fixed point, or in double precision.
  const bool has_moments = kind.group_kernel == GroupKernel::kFixedPoint ||
                           kind.group_kernel == GroupKernel::kMomentPairs;
  const uint64_t lanes_min = has_moments ? Tuning::kWarpThreads : 1;
  const bool are_long = longest > request.TileElementsMax(lanes_min);
  if (equal_groups && (are_long || wanted == ReductionKernel::kBlocks)) {
    PlanBlocks(blocks, kind.block_shape, geometry);
  } else if (kind.group_kernel == GroupKernel::kIntegerStrips) {
    PlanStrips(request, blocks, longest, static_cast<uint64_t>(properties.multiprocessor_count),
               geometry);
  } else if (kind.group_kernel == GroupKernel::kExtremes) {
    PlanRowExtremes(request, blocks, properties, wanted, geometry);
  } else {
    PlanTiles(request, blocks, longest, geometry);
    if (kind.group_kernel == GroupKernel::kFixedPoint) {
      PlanStripsOfTiles<FixedPointTuning>(request, properties, geometry);
    } else if (kind.group_kernel == GroupKernel::kMomentPairs) {
      PlanStripsOfTiles<PairTileTuning>(request, properties, geometry);
    }
    if (equal_groups && has_moments) {
      geometry.total_bytes = sizeof(uint32_t);
      geometry.total_count =
          LeftRowWords(request.grouping.group_count, longest * request.element_bytes);
    }
  }
}

void PlanBlocks(const LayoutRequest& request, const ReduceShape& shape,
                ReductionGeometry& geometry) {
  const uint64_t group_size = request.grouping.group_size;
  const uint64_t group_count = request.grouping.group_count;
  // A single group is read in one even wave; many groups need more pieces to come out even.
  const uint64_t chunks_per_block = group_count == 1 ? 1 : Tuning::kChunksPerBlock;
  geometry.form = ReductionForm::kBlocks;
  geometry.chunk_elements = request.ChunkElements(request.resident_blocks * chunks_per_block);
  geometry.chunks_per_group =
      static_cast<uint32_t>(std::max<uint64_t>(1, CeilDivide(group_size, geometry.chunk_elements)));
  const uint64_t items = group_count * geometry.chunks_per_group;
  // Blocks of many groups are for the hardware's scheduler to even out.
  geometry.grid_blocks =
      GridStrideBlocks(items, 1, group_count == 1 ? request.resident_blocks : items);
  geometry.block_threads =
      ChunkThreads(geometry.chunk_elements * request.element_bytes, shape, request.block_threads);
  geometry.word_bytes = request.WordBytes(geometry.block_threads);
  if (geometry.chunks_per_group > 1) {
    geometry.partial_count = items;
    geometry.total_count = group_count;
  }
}

void PlanQueue(const LayoutRequest& request, ReductionGeometry& geometry) {
  geometry.queue_block_threads = request.block_threads;
  geometry.queue_word_bytes = request.WordBytes(request.block_threads);
  geometry.chunk_elements =
      request.ChunkElements(request.resident_blocks * Tuning::kQueuedChunksPerBlock);
  geometry.queued_segments_max = std::min(request.grouping.group_count,
                                          request.element_count / (geometry.tile_elements_max + 1));
  // Every segment may end with a chunk that is not full.
  geometry.partial_count =
      request.element_count / geometry.chunk_elements + geometry.queued_segments_max;
  geometry.total_count = geometry.queued_segments_max;
  geometry.queue_grid_blocks = GridStrideBlocks(geometry.partial_count, 1, request.resident_blocks);
}

}  // namespace gridfold::kernels::cuda
