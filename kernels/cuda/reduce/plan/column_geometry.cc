#include "kernels/cuda/reduce/plan/column_geometry.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

namespace {

using Tuning = PairTuning;

constexpr uint64_t kBlocksMax = 0x7FFF'FFFF;

uint32_t Log2OfCeil(uint64_t x) { return static_cast<uint32_t>(std::bit_width(x - 1)); }

bool HasWavesOfWholeColumns(const ColumnGrouping& grouping) {
  const uint64_t wave_tiles = grouping.multiprocessors * Tuning::kWholeColumnResidentBlocks *
                              Tuning::kWholeColumnThreads / ReduceTuning::kWarpThreads;
  return grouping.columns >= Tuning::kWholeColumnWavesMin * wave_tiles * grouping.warp_columns() &&
         grouping.rows <= grouping.shape.thread_rows_max;
}

// Threads, of a vector of columns each, from which on whole columns keep most of a device busy.
constexpr uint64_t kManyThreads = 4096;

bool AreBrief(const ColumnGrouping& grouping) {
  const uint64_t rows_max = grouping.shape.brief_rows_max;
  return grouping.rows <= rows_max ||
         (grouping.rows <= 4 * rows_max &&
          grouping.columns >= kManyThreads * grouping.vector_elements());
}

bool AreTakenWhole(const ColumnGrouping& grouping, WantedKernel wanted) {
  if (!IsFamilyWanted(wanted, ReductionFamily::kColumns)) {
    return HasWavesOfWholeColumns(grouping) || AreBrief(grouping);
  }
  const bool is_whole = *wanted == ReductionKernel::kWholeColumnSums ||
                        *wanted == ReductionKernel::kWholeColumnVectors ||
                        *wanted == ReductionKernel::kWholeDoubleColumns ||
                        *wanted == ReductionKernel::kWholeMomentColumns;
  return is_whole && grouping.rows <= grouping.shape.thread_rows_max;
}

// One tile where columns are few; else the tiles of which the last is fullest, wide ones first.
uint64_t TileColumns(const ColumnGrouping& grouping) {
  const uint64_t columns = grouping.columns;
  const uint64_t tile_columns_max = grouping.shape.tile_columns_max;
  if (columns <= tile_columns_max) {
    return std::max(std::bit_ceil(columns), grouping.vector_elements());
  }
  uint64_t best = tile_columns_max;
  for (uint64_t tile = best / 2; tile >= grouping.shape.tile_columns_min; tile /= 2) {
    if (RoundUp(columns, tile) < RoundUp(columns, best) - columns / 8) best = tile;
  }
  return best;
}

// How much of so many rounds of multiprocessors is busy with `items`.
double BusyShare(uint64_t items, uint64_t multiprocessors) {
  return static_cast<double>(items) / static_cast<double>(RoundUp(items, multiprocessors));
}

// The splits of a tile: as many as one round of multiprocessors takes, or where that leaves too
// many of them idle, the fewest that do not.
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

void PlanColumnItems(const ColumnGrouping& grouping, ReductionGeometry& geometry) {
  const uint64_t columns = grouping.columns;
  const uint64_t rows = grouping.rows;
  const uint64_t tile_columns = TileColumns(grouping);
  const uint64_t tiles = CeilDivide(columns, tile_columns);
  geometry.form = ReductionForm::kColumnItems;
  geometry.tile_columns_log2 = Log2OfCeil(tile_columns);
  geometry.column_tile_count = tiles;
  const bool has_many =
      tiles >= Tuning::kManyColumnTilesPerMultiprocessor * grouping.multiprocessors;
  geometry.block_threads = has_many ? Tuning::kColumnThreadsOfMany : Tuning::kColumnThreads;
  geometry.word_bytes = geometry.block_threads * grouping.shape.thread_bytes;

  // No smaller than is worth a partial, and than gives every warp two turns.
  const uint64_t rows_of_turns = 2 * grouping.shape.rows_in_flight * geometry.block_threads *
                                 grouping.vector_elements() / tile_columns;
  const uint64_t rows_min =
      std::max(rows_of_turns,
               CeilDivide(grouping.shape.partial_bytes * ReduceTuning::kSplitBytesPerPartialByte,
                          grouping.element_bytes));
  const uint64_t splits_max =
      has_many ? 1 : std::clamp<uint64_t>(rows / rows_min, 1, grouping.multiprocessors);
  const uint64_t splits = ColumnSplits(tiles, splits_max, grouping.multiprocessors);
  const uint64_t threads_of_column =
      geometry.block_threads * grouping.vector_elements() / tile_columns;
  const uint64_t rows_max =
      std::min(Tuning::kRowsPerSplitMax, grouping.shape.thread_rows_max * threads_of_column);
  geometry.rows_per_split = std::min(std::max<uint64_t>(1, CeilDivide(rows, splits)), rows_max);
  geometry.splits =
      static_cast<uint32_t>(std::max<uint64_t>(1, CeilDivide(rows, geometry.rows_per_split)));
  geometry.grid_blocks = GridStrideBlocks(tiles * geometry.splits, 1, kBlocksMax);
  if (geometry.splits > 1) {
    geometry.partial_bytes = grouping.shape.partial_bytes;
    geometry.partial_count = geometry.splits * columns;
    // A ticket, and counters.
    geometry.total_bytes = (1 + ColumnVectorTuning::kWarpsMax) * sizeof(uint32_t);
    geometry.total_count = tiles;
  }
}

}  // namespace

uint64_t ColumnGrouping::warp_columns() const {
  return ReduceTuning::kWarpThreads * vector_elements();
}

void PlanWholeColumns(const ColumnGrouping& grouping, ReductionForm form, uint64_t threads,
                      uint64_t blocks_max, ReductionGeometry& geometry) {
  geometry.form = form;
  geometry.block_threads = static_cast<uint32_t>(threads);
  geometry.tile_columns_log2 = Log2OfCeil(grouping.warp_columns());
  geometry.column_tile_count = CeilDivide(grouping.columns, grouping.warp_columns());
  geometry.rows_per_split = grouping.rows;
  geometry.word_bytes = geometry.block_threads * grouping.shape.thread_bytes;
  geometry.grid_blocks = GridStrideBlocks(geometry.column_tile_count,
                                          threads / ReduceTuning::kWarpThreads, blocks_max);
}

void PlanColumnVectors(const ColumnGrouping& grouping, WantedKernel wanted,
                       ReductionGeometry& geometry) {
  if (AreTakenWhole(grouping, wanted)) {
    PlanWholeColumns(grouping, ReductionForm::kWholeColumns, Tuning::kWholeColumnThreads,
                     kBlocksMax, geometry);
  } else {
    PlanColumnItems(grouping, geometry);
  }
}

}  // namespace gridfold::kernels::cuda
