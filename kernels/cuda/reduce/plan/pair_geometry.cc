#include "kernels/cuda/reduce/plan/pair_geometry.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/reduce/plan/column_geometry.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"

namespace gridfold::kernels::cuda {

namespace {

using Tuning = PairTuning;

constexpr uint64_t kBlocksMax = 0x7FFF'FFFF;

// Rows of columns that a thread takes by itself in less time than blocks take to join theirs:
// 16,384 columns of 16 float32 5.2 us, in place of 6.2 (H200, route_report.py --mib 1).
constexpr uint64_t kBriefRowsMax = 16;

// Groups of float64 of up to this size are summed by lanes of a warp each, also where they are few:
// 131 rows of 1,000 take 5.7 us, by blocks 9.6; 64 of 2,048 9 and 12 (as above).
constexpr uint64_t kDoubleGroupBytesMaxFew = 16 << 10;

uint32_t Log2OfCeil(uint64_t x) { return static_cast<uint32_t>(std::bit_width(x - 1)); }

// For sums of floats and smaller that pairs do not hold; columns of float64 are left instead.
constexpr uint32_t ThreadWordBytes(uint64_t element_bytes) {
  if (element_bytes == sizeof(double)) return 0;
  return kSingleSumWords * static_cast<uint32_t>(sizeof(int64_t));
}

// Short groups of other elements, where there are so many: 262 rows of 1,000 float32 0.9 of the
// time, 1,048 0.6 (as above, and --mib 4).
constexpr uint64_t kSomeGroups = 256;

struct Sums {
  const Grouping& grouping;
  uint64_t element_bytes;
  uint64_t total_bytes;
  uint64_t multiprocessors;

  uint64_t vector_elements() const { return ReduceTuning::kVectorBytes / element_bytes; }
  ColumnGrouping Columns() const {
    const uint64_t warp_columns = ReduceTuning::kWarpThreads * vector_elements();
    return {grouping.group_count,
            grouping.group_size,
            element_bytes,
            multiprocessors,
            {.vector_bytes = ReduceTuning::kVectorBytes,
             .rows_in_flight = ColumnSumRowsInFlight(static_cast<uint32_t>(element_bytes)),
             .tile_columns_min = Tuning::kTileColumnsMin,
             .tile_columns_max = std::min<uint64_t>(Tuning::kTileColumnsMax, warp_columns),
             .partial_bytes = Tuning::kColumnPartialBytes,
             .thread_bytes = ThreadWordBytes(element_bytes),
             .brief_rows_max = element_bytes == sizeof(double) ? 0 : kBriefRowsMax}};
  }
  uint64_t resident_threads() const {
    return multiprocessors * Tuning::kThreads * Tuning::kResidentBlocks;
  }
  // Blocks of so many threads of a grid-stride kernel.
  uint64_t BlocksMax(uint64_t threads) const {
    return TurnBlocksMax(multiprocessors * Tuning::kResidentBlocks, threads, total_bytes);
  }
};

// Plans sums of segments as strips, where there are enough for every warp.
bool PlanStripSums(const Sums& sums, uint64_t mean_bytes, ReductionGeometry& geometry) {
  constexpr uint64_t kLanes = ReduceTuning::kWarpThreads;
  constexpr uint64_t kWarps = StripTuning::kThreads / kLanes;
  const uint64_t group_count = sums.grouping.group_count;
  const uint64_t resident_warps = sums.multiprocessors * StripTuning::kResidentBlocks * kWarps;
  const bool are_equal =
      group_count * sums.grouping.group_size * sums.element_bytes == sums.total_bytes;
  const uint64_t mean_bytes_max =
      are_equal ? StripTuning::kEqualSegmentBytesMax : StripTuning::kSegmentBytesMax;
  if (sums.grouping.kind != GroupingKind::kSegments || sums.element_bytes == sizeof(double) ||
      mean_bytes > mean_bytes_max || group_count < kLanes * resident_warps) {
    return false;
  }
  const uint64_t strip_groups =
      std::clamp<uint64_t>(StripTuning::kStripBytes / std::max<uint64_t>(mean_bytes, 1), 1,
                           group_count / resident_warps);
  geometry.form = ReductionForm::kStrips;
  geometry.block_threads = StripTuning::kThreads;
  geometry.strip_groups = static_cast<uint32_t>(RoundUp(strip_groups, kLanes));
  geometry.grid_blocks =
      static_cast<uint32_t>(CeilDivide(group_count, geometry.strip_groups * kWarps));
  return true;
}

void PlanGroupSums(const Sums& sums, uint64_t group_bytes_max, WantedKernel wanted,
                   ReductionGeometry& geometry) {
  const uint64_t group_count = sums.grouping.group_count;
  // But for the longest, which may be all there is.
  const uint64_t other_bytes = sums.total_bytes - sums.grouping.group_size * sums.element_bytes;
  const uint64_t mean_bytes =
      group_count == 1 ? sums.total_bytes : CeilDivide(other_bytes, group_count - 1);
  geometry.tile_elements_max = group_bytes_max / sums.element_bytes;
  const bool may_be_strips = wanted != ReductionKernel::kGroupSums;
  if (may_be_strips && PlanStripSums(sums, mean_bytes, geometry)) return;
  const uint64_t lane_bytes = sums.grouping.kind == GroupingKind::kSegments
                                  ? Tuning::kSegmentBytesPerLane
                                  : Tuning::kBytesPerLane;
  const uint64_t lanes =
      std::clamp<uint64_t>(CeilDivide(mean_bytes, lane_bytes), 1, ReduceTuning::kWarpThreads);
  geometry.form = ReductionForm::kGroupSums;
  geometry.block_threads = Tuning::kGroupThreads;
  geometry.word_bytes = GroupWordBytes(static_cast<uint32_t>(sums.element_bytes)) *
                        (Tuning::kGroupThreads / ReduceTuning::kWarpThreads);
  geometry.tile_width_log2 = Log2OfCeil(lanes);
  const uint64_t groups_per_block = Tuning::kGroupThreads >> geometry.tile_width_log2;
  geometry.grid_blocks =
      GridStrideBlocks(group_count, groups_per_block, sums.BlocksMax(Tuning::kGroupThreads));
}

void PlanBlockSums(const Sums& sums, ReductionGeometry& geometry) {
  const uint64_t group_size = sums.grouping.group_size;
  const bool is_shared =
      sums.grouping.group_count == 1 && group_size > Tuning::kBlockElementsMaxAlone;
  const uint64_t chunks = is_shared ? CeilDivide(group_size, Tuning::kBlockElementsShared) : 1;
  const uint64_t vectors = CeilDivide(group_size, chunks * sums.vector_elements());
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

// Whether columns have so few rows that each thread loads all of its columns' at once. Of arrays of
// some MiB, a thread takes more than a few rows one after the other in less time: 2^20 columns of
// 32 float16 take 27 us in place of 37 (H200, route_report.py --mib 64).
bool IsShallow(const Sums& sums) {
  constexpr uint64_t kSmallBytes = uint64_t{64} << 20;
  const bool are_halves = sums.element_bytes == sizeof(uint16_t);
  if (sums.total_bytes <= kSmallBytes &&
      (are_halves || sums.grouping.group_size >= kBriefRowsMax)) {
    return false;
  }
  const uint64_t threads = CeilDivide(sums.grouping.group_count, sums.vector_elements());
  const bool has_many = threads >= Tuning::kShallowWavesMin * sums.resident_threads();
  return sums.grouping.group_size <=
         (has_many ? Tuning::kShallowRowsMaxOfMany : Tuning::kShallowRowsMax);
}

}  // namespace

ReductionGeometry PlanMomentColumns(const ReductionPlan& plan, const DeviceProperties& properties,
                                    WantedKernel wanted) {
  const uint64_t element_bytes = ElementSize(plan.array.element_type);
  ReductionGeometry geometry;
  if (plan.array.element_type == ElementType::kFloat64) {
    PlanColumnVectors(
        {plan.grouping.group_count,
         plan.grouping.group_size,
         element_bytes,
         static_cast<uint64_t>(properties.multiprocessor_count),
         {.vector_bytes = ColumnVectorBytes(sizeof(double)),
          .rows_in_flight = ColumnVectorTuning::kRowsInFlight,
          .tile_columns_min = ReduceTuning::kWarpThreads,
          .tile_columns_max = ColumnVectorTuning::kWarpsMax * ReduceTuning::kWarpThreads,
          .partial_bytes = MomentTuning::kDoublePartialBytes,
          .thread_bytes = MomentTuning::kDoublePartialBytes + ReduceTuning::kStateAlignment,
          .thread_rows_max =
              (MomentTuning::kDoubleTurnsMax - 1) * uint64_t{ColumnVectorTuning::kRowsInFlight}}},
        wanted, geometry);
    return geometry;
  }
  const MomentColumnShape shape = MomentColumnShapeOf(static_cast<uint32_t>(element_bytes));
  const uint64_t vector_elements = shape.vector_bytes / element_bytes;
  PlanColumnVectors({plan.grouping.group_count,
                     plan.grouping.group_size,
                     element_bytes,
                     static_cast<uint64_t>(properties.multiprocessor_count),
                     {.vector_bytes = shape.vector_bytes,
                      .rows_in_flight = shape.rows,
                      .tile_columns_min = Tuning::kTileColumnsMin,
                      .tile_columns_max = ReduceTuning::kWarpThreads * vector_elements,
                      .partial_bytes = MomentTuning::kPartialBytes,
                      .thread_bytes = 0,
                      // A warp may draw a turn more than others.
                      .thread_rows_max = (shape.turns_max - 1) * uint64_t{shape.rows}}},
                    wanted, geometry);
  return geometry;
}

ReductionGeometry PlanPairSums(const ReductionPlan& plan, const DeviceProperties& properties,
                               WantedKernel wanted) {
  const Sums sums{plan.grouping, ElementSize(plan.array.element_type), plan.array.size_bytes(),
                  static_cast<uint64_t>(properties.multiprocessor_count)};
  const Grouping& grouping = sums.grouping;
  const uint64_t longest = grouping.group_size;
  ReductionGeometry geometry;
  const bool is_double = sums.element_bytes == sizeof(double);
  const bool wants_groups = IsFamilyWanted(wanted, ReductionFamily::kGroups);
  const bool wants_blocks = IsFamilyWanted(wanted, ReductionFamily::kLong);
  // A single column of float64 is a group of neighbours; others may be.
  const bool is_column = grouping.group_count == 1 && (is_double || wants_groups || wants_blocks);
  if (grouping.kind == GroupingKind::kAxis0 && !is_column) {
    const bool is_shallow = IsFamilyWanted(wanted, ReductionFamily::kColumns)
                                ? wanted == ReductionKernel::kShallowColumnSums
                                : IsShallow(sums);
    if (!is_double && is_shallow && longest <= Tuning::kShallowRowsMaxOfMany) {
      PlanWholeColumns(sums.Columns(), ReductionForm::kShallowColumnSums, Tuning::kThreads,
                       sums.BlocksMax(Tuning::kThreads), geometry);
    } else {
      PlanColumnVectors(sums.Columns(), wanted, geometry);
    }
    return geometry;
  }
  // Half of the warps keep memory busy.
  const bool has_many =
      grouping.group_count >= sums.resident_threads() / ReduceTuning::kWarpThreads / 2;
  const uint64_t longest_bytes = longest * sums.element_bytes;
  const bool fits_many = longest_bytes <= ReduceTuning::kTileGroupBytesMaxMany;
  const bool are_segments = grouping.kind == GroupingKind::kSegments;
  const uint64_t double_bytes_max =
      grouping.group_count > 1 ? kDoubleGroupBytesMaxFew : ReduceTuning::kTileGroupBytesMaxFew;
  const bool are_some = grouping.group_count >= kSomeGroups && !are_segments;
  const bool fits_warps = ((has_many || (wants_groups && !are_segments)) && fits_many) ||
                          (is_double && longest_bytes <= double_bytes_max) ||
                          (are_some && longest_bytes <= ReduceTuning::kTileGroupBytesMaxFew);
  if (are_segments || (fits_warps && !wants_blocks)) {
    const uint64_t queued_bytes =
        has_many ? Tuning::kQueuedGroupBytesMin : ReduceTuning::kTileGroupBytesMaxFew;
    PlanGroupSums(sums, fits_warps ? longest_bytes : queued_bytes, wanted, geometry);
  } else if (!is_double && longest <= Tuning::kBlockElementsMax &&
             wanted != ReductionKernel::kBlocks) {
    PlanBlockSums(sums, geometry);
  } else {
    geometry.form = ReductionForm::kBlocks;
  }
  return geometry;
}

}  // namespace gridfold::kernels::cuda
