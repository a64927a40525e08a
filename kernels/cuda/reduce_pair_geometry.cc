#include "kernels/cuda/reduce_pair_geometry.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/grid.h"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

namespace {

using Tuning = PairTuning;

constexpr uint64_t kBlocksMax = 0x7FFF'FFFF;

uint32_t Log2OfCeil(uint64_t x) { return static_cast<uint32_t>(std::bit_width(x - 1)); }

// For sums that pairs do not hold.
uint32_t WordBytes(uint32_t threads) {
  return threads * kSingleSumWords * static_cast<uint32_t>(sizeof(int64_t));
}

struct Sums {
  const Grouping& grouping;
  uint64_t element_bytes;
  uint64_t total_bytes;
  uint64_t multiprocessors;
  uint64_t vector_elements;                       // Of columns.
  uint64_t thread_rows_max = ~uint64_t{0} >> 32;  // Of a block's threads on average.

  // Of which each lane of a warp has a vector.
  uint64_t warp_columns() const { return ReduceTuning::kWarpThreads * vector_elements; }
  uint64_t resident_threads() const {
    return multiprocessors * Tuning::kThreads * Tuning::kResidentBlocks;
  }
  // Blocks of a grid-stride kernel: several for each resident one, which the hardware's scheduler
  // evens out.
  uint64_t blocks_max() const {
    return multiprocessors * Tuning::kResidentBlocks * ReduceTuning::kTileBlocksPerResident;
  }
};

// Of segments, as strips where there are enough for every warp.
bool PlanStripSums(const Sums& sums, uint64_t mean_bytes, ReductionGeometry& geometry) {
  constexpr uint64_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint64_t kWarps = StripTuning::kThreads / kLanes;
  const uint64_t group_count = sums.grouping.group_count;
  const uint64_t resident_warps = sums.multiprocessors * StripTuning::kResidentBlocks * kWarps;
  const bool are_equal =
      group_count * sums.grouping.group_size * sums.element_bytes == sums.total_bytes;
  const uint64_t mean_bytes_max =
      are_equal ? StripTuning::kEqualSegmentBytesMax : StripTuning::kSegmentBytesMax;
  if (sums.grouping.kind != GroupingKind::kSegments || mean_bytes > mean_bytes_max ||
      group_count < kLanes * resident_warps) {
    return false;
  }
  const uint64_t strip_groups =
      std::clamp<uint64_t>(StripTuning::kStripBytes / std::max<uint64_t>(mean_bytes, 1), 1,
                           group_count / resident_warps);
  geometry.form = ReductionForm::kStripSums;
  geometry.block_threads = StripTuning::kThreads;
  geometry.strip_groups = static_cast<uint32_t>(RoundUp(strip_groups, kLanes));
  geometry.grid_blocks =
      static_cast<uint32_t>(CeilDivide(group_count, geometry.strip_groups * kWarps));
  return true;
}

void PlanGroupSums(const Sums& sums, uint64_t group_bytes_max, ReductionGeometry& geometry) {
  const uint64_t group_count = sums.grouping.group_count;
  // But for the longest, which may be all there is.
  const uint64_t other_bytes = sums.total_bytes - sums.grouping.group_size * sums.element_bytes;
  const uint64_t mean_bytes =
      group_count == 1 ? sums.total_bytes : CeilDivide(other_bytes, group_count - 1);
  geometry.tile_elements_max = group_bytes_max / sums.element_bytes;
  if (PlanStripSums(sums, mean_bytes, geometry)) return;
  const uint64_t lane_bytes = sums.grouping.kind == GroupingKind::kSegments
                                  ? Tuning::kSegmentBytesPerLane
                                  : Tuning::kBytesPerLane;
  const uint64_t lanes =
      std::clamp<uint64_t>(CeilDivide(mean_bytes, lane_bytes), 1, ReduceTuning::kWarpThreads);
  geometry.form = ReductionForm::kGroupSums;
  geometry.block_threads = Tuning::kGroupThreads;
  geometry.word_bytes = WordBytes(geometry.block_threads);
  geometry.tile_width_log2 = Log2OfCeil(lanes);
  const uint64_t groups_per_block = Tuning::kGroupThreads >> geometry.tile_width_log2;
  geometry.grid_blocks = GridStrideBlocks(group_count, groups_per_block, sums.blocks_max());
}

void PlanBlockSums(const Sums& sums, ReductionGeometry& geometry) {
  const uint64_t group_size = sums.grouping.group_size;
  const bool is_shared =
      sums.grouping.group_count == 1 && group_size > Tuning::kBlockElementsMaxAlone;
  const uint64_t chunks = is_shared ? CeilDivide(group_size, Tuning::kBlockElementsShared) : 1;
  const uint64_t vectors = CeilDivide(group_size, chunks * sums.vector_elements);
  geometry.form = ReductionForm::kBlockSums;
  geometry.chunks_per_group = static_cast<uint32_t>(chunks);
  geometry.block_threads = static_cast<uint32_t>(
      std::clamp<uint64_t>(RoundUp(vectors, uint64_t{ReduceTuning::kWarpThreads}),
                           ReduceTuning::kWarpThreads, Tuning::kBlockThreads));
  geometry.grid_blocks = GridStrideBlocks(sums.grouping.group_count * chunks, 1, kBlocksMax);
  if (is_shared) {
    geometry.partial_bytes = Tuning::kBlockPartialBytes;
    geometry.partial_count = chunks;
    geometry.total_bytes = sizeof(uint32_t);
    geometry.total_count = 1;
  }
}

// A thread for all rows of its columns, a warp for a tile.
void PlanWholeColumns(const Sums& sums, ReductionForm form, uint64_t threads, uint64_t blocks_max,
                      ReductionGeometry& geometry) {
  geometry.form = form;
  geometry.block_threads = static_cast<uint32_t>(threads);
  geometry.tile_columns_log2 = Log2OfCeil(sums.warp_columns());
  geometry.column_tile_count = CeilDivide(sums.grouping.group_count, sums.warp_columns());
  geometry.rows_per_split = sums.grouping.group_size;
  geometry.word_bytes = WordBytes(geometry.block_threads);
  geometry.grid_blocks = GridStrideBlocks(geometry.column_tile_count,
                                          threads / ReduceTuning::kWarpThreads, blocks_max);
}

bool IsShallow(const Sums& sums) {
  const uint64_t threads = CeilDivide(sums.grouping.group_count, sums.vector_elements);
  const bool has_many = threads >= Tuning::kShallowWavesMin * sums.resident_threads();
  return sums.grouping.group_size <=
         (has_many ? Tuning::kShallowRowsMaxOfMany : Tuning::kShallowRowsMax);
}

bool HasWavesOfWholeColumns(const Sums& sums) {
  const uint64_t wave_tiles = sums.multiprocessors * Tuning::kWholeColumnResidentBlocks *
                              Tuning::kWholeColumnThreads / ReduceTuning::kWarpThreads;
  return sums.grouping.group_count >=
             Tuning::kWholeColumnWavesMin * wave_tiles * sums.warp_columns() &&
         sums.grouping.group_size <= Tuning::kRowsPerSplitMax;
}

// One tile where columns are few; else the tiles of which the last is fullest, wide ones first.
uint64_t TileColumns(const Sums& sums) {
  const uint64_t columns = sums.grouping.group_count;
  const uint64_t tile_columns_max =
      std::min<uint64_t>(Tuning::kTileColumnsMax, sums.warp_columns());
  if (columns <= tile_columns_max) {
    return std::max(std::bit_ceil(columns), sums.vector_elements);
  }
  uint64_t best = tile_columns_max;
  for (uint64_t tile = best / 2; tile >= Tuning::kTileColumnsMin; tile /= 2) {
    if (RoundUp(columns, tile) < RoundUp(columns, best) - columns / 8) best = tile;
  }
  return best;
}

// How much of so many rounds of multiprocessors is busy with `items`.
double BusyShare(uint64_t items, uint64_t multiprocessors) {
  return static_cast<double>(items) / static_cast<double>(RoundUp(items, multiprocessors));
}

// As many as one round of multiprocessors takes, or where that leaves too many of them idle, the
// fewest that do not.
uint64_t ColumnSplits(uint64_t tiles, uint64_t splits_max, uint64_t multiprocessors) {
  const uint64_t of_a_round = std::clamp<uint64_t>(multiprocessors / tiles, 1, splits_max);
  uint64_t best = of_a_round;
  for (uint64_t splits = of_a_round; splits <= splits_max; ++splits) {
    const double share = BusyShare(tiles * splits, multiprocessors);
    if (share > BusyShare(tiles * best, multiprocessors)) best = splits;
    if (share >= Tuning::kBusyShareMin) return splits;
  }
  return best;
}

void PlanColumnSums(const Sums& sums, ReductionGeometry& geometry) {
  const uint64_t columns = sums.grouping.group_count;
  const uint64_t rows = sums.grouping.group_size;
  const uint64_t tile_columns = TileColumns(sums);
  const uint64_t tiles = CeilDivide(columns, tile_columns);
  geometry.form = ReductionForm::kColumnSums;
  geometry.tile_columns_log2 = Log2OfCeil(tile_columns);
  geometry.column_tile_count = tiles;
  const bool has_many = tiles >= Tuning::kManyColumnTilesPerMultiprocessor * sums.multiprocessors;
  geometry.block_threads = has_many ? Tuning::kColumnThreadsOfMany : Tuning::kColumnThreads;
  geometry.word_bytes = WordBytes(geometry.block_threads);

  // No smaller than is worth a partial, and than gives every warp two turns.
  const uint64_t rows_of_turns = 2 *
                                 ColumnSumRowsInFlight(static_cast<uint32_t>(sums.element_bytes)) *
                                 geometry.block_threads * sums.vector_elements / tile_columns;
  const uint64_t rows_min =
      std::max(rows_of_turns,
               CeilDivide(Tuning::kColumnPartialBytes * ReduceTuning::kSplitBytesPerPartialByte,
                          sums.element_bytes));
  const uint64_t splits_max =
      has_many ? 1 : std::clamp<uint64_t>(rows / rows_min, 1, sums.multiprocessors);
  const uint64_t splits = ColumnSplits(tiles, splits_max, sums.multiprocessors);
  const uint64_t threads_of_column = geometry.block_threads * sums.vector_elements / tile_columns;
  const uint64_t rows_max =
      std::min(Tuning::kRowsPerSplitMax, sums.thread_rows_max * threads_of_column);
  geometry.rows_per_split = std::min(std::max<uint64_t>(1, CeilDivide(rows, splits)), rows_max);
  geometry.splits =
      static_cast<uint32_t>(std::max<uint64_t>(1, CeilDivide(rows, geometry.rows_per_split)));
  geometry.grid_blocks = GridStrideBlocks(tiles * geometry.splits, 1, kBlocksMax);
  if (geometry.splits > 1) {
    geometry.partial_bytes = Tuning::kColumnPartialBytes;
    geometry.partial_count = geometry.splits * columns;
    geometry.total_bytes = sizeof(uint32_t);
    geometry.total_count = tiles;
  }
}

Sums SumsOf(const ReductionPlan& plan, const DeviceProperties& properties) {
  const uint64_t element_bytes = ElementSize(plan.array.element_type);
  return {plan.grouping, element_bytes, plan.array.size_bytes(),
          static_cast<uint64_t>(properties.multiprocessor_count),
          ReduceTuning::kVectorBytes / element_bytes};
}

}  // namespace

ReductionGeometry PlanMomentColumns(const ReductionPlan& plan, const DeviceProperties& properties) {
  Sums sums = SumsOf(plan, properties);
  // A warp may draw a turn more than others.
  sums.vector_elements = MomentTuning::kVectorElements;
  sums.thread_rows_max = (MomentTuning::kTurnsMax - 1) *
                         uint64_t{MomentColumnRows(static_cast<uint32_t>(sums.element_bytes))};
  ReductionGeometry geometry;
  if (sums.grouping.group_size <= sums.thread_rows_max && HasWavesOfWholeColumns(sums)) {
    PlanWholeColumns(sums, ReductionForm::kWholeColumnSums, Tuning::kWholeColumnThreads, kBlocksMax,
                     geometry);
  } else {
    PlanColumnSums(sums, geometry);
  }
  return geometry;
}

ReductionGeometry PlanPairSums(const ReductionPlan& plan, const DeviceProperties& properties) {
  const Sums sums = SumsOf(plan, properties);
  const uint64_t group_count = sums.grouping.group_count;
  const uint64_t longest = sums.grouping.group_size;
  ReductionGeometry geometry;
  if (sums.grouping.kind == GroupingKind::kAxis0) {
    if (sums.element_bytes < sizeof(double) && IsShallow(sums)) {
      PlanWholeColumns(sums, ReductionForm::kShallowColumnSums, Tuning::kThreads, sums.blocks_max(),
                       geometry);
    } else if (HasWavesOfWholeColumns(sums)) {
      PlanWholeColumns(sums, ReductionForm::kWholeColumnSums, Tuning::kWholeColumnThreads,
                       kBlocksMax, geometry);
    } else {
      PlanColumnSums(sums, geometry);
    }
    return geometry;
  }
  // Half of the warps keep memory busy.
  const bool has_many = group_count >= sums.resident_threads() / ReduceTuning::kWarpThreads / 2;
  const uint64_t longest_bytes = longest * sums.element_bytes;
  const bool fits_warps = has_many && longest_bytes <= ReduceTuning::kTileGroupBytesMaxMany;
  if (fits_warps || sums.grouping.kind == GroupingKind::kSegments) {
    const uint64_t queued_bytes =
        has_many ? Tuning::kQueuedGroupBytesMin : ReduceTuning::kTileGroupBytesMaxFew;
    PlanGroupSums(sums, fits_warps ? longest_bytes : queued_bytes, geometry);
  } else if (longest <= Tuning::kBlockElementsMax) {
    PlanBlockSums(sums, geometry);
  } else {
    geometry.form = ReductionForm::kBlocks;
  }
  return geometry;
}

}  // namespace gridfold::kernels::cuda
