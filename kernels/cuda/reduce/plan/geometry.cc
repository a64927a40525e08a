#include "kernels/cuda/reduce/plan/geometry.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/scratch.h"
#include "kernels/cuda/reduce/plan/column_geometry.h"
#include "kernels/cuda/reduce/plan/group_geometry.h"
#include "kernels/cuda/reduce/plan/kernel_choice.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/pair_geometry.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/word_counts.h"
#include "kernels/numerics/statistics/reduction_state.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels::cuda {

KernelKind KernelKindOf(ElementType type, uint32_t parts) {
  return VisitElementType(type, [parts](auto tag) {
    using T = typename decltype(tag)::type;
    return VisitPartSet<T>(parts, [](auto set) {
      constexpr uint32_t kParts = decltype(set)::value;
      return KernelKind{sizeof(ReductionState<T, kParts>), MomentWordCount<T>(kParts),
                        WordSharersOf<T>(kParts),          DrawnAdditionsMax<T>(kParts),
                        GroupKernelOf<T>(kParts),          ColumnKernelOf<T>(kParts),
                        ReduceShapeOf<T>(kParts),          BlockShapeOf<T>(kParts)};
    });
  });
}

namespace {

using Tuning = ReduceTuning;

// Threads of a block: fewer where the device has little shared memory.
uint32_t FittingThreads(const KernelKind& kind, uint32_t threads_max, uint32_t sharers,
                        uint64_t other_bytes, const DeviceProperties& properties) {
  if (kind.words == 0) return threads_max;
  const uint64_t available =
      static_cast<uint64_t>(properties.shared_bytes_per_block_max) - other_bytes;
  const uint32_t columns = static_cast<uint32_t>(available / (kind.words * sizeof(int64_t)));
  return std::min(ThreadsOfWordColumns(columns, sharers), threads_max);
}

// Elements of a block whose words, joined, stay within 64 bits: each adds less than 2^32 to a
// digit. Float64 words bound the elements of a thread by far less.
constexpr uint64_t kBlockAdditionsMax = uint64_t{1} << 31;

// Blocks for long groups: one that fills a multiprocessor for a single group, several for many,
// since one of them reads while another joins.
LayoutRequest BlockRequest(const LayoutRequest& request, const KernelKind& kind,
                           bool is_single_group, const DeviceProperties& properties) {
  const uint32_t threads = FittingThreads(kind, kind.block_shape.threads, kind.block_sharers,
                                          Tuning::kOtherSharedBytesOfBlocksMax, properties);
  const uint32_t threads_least = Tuning::kWarpThreads * kind.block_sharers;
  const uint32_t resident =
      is_single_group ? 1 : std::clamp(threads / threads_least, 1u, Tuning::kResidentBlocksMax);
  LayoutRequest blocks = request;
  blocks.word_sharers = kind.block_sharers;
  blocks.resident_blocks =
      uint64_t{resident} * static_cast<uint64_t>(properties.multiprocessor_count);
  blocks.block_threads =
      std::max(Tuning::kWarpThreads, RoundDown(threads / resident, threads_least));
  if (kind.words > 0) {
    blocks.thread_elements_max =
        std::min(kind.drawn_elements_max, kBlockAdditionsMax / blocks.block_threads);
  }
  return blocks;
}

uint32_t TileColumnsLog2(const LayoutRequest& request) {
  const uint64_t columns = std::bit_ceil(request.grouping.group_count);
  const uint64_t wide =
      std::max<uint64_t>(Tuning::kWarpThreads, Tuning::kColumnTileBytes / request.element_bytes);
  uint64_t tile = std::min({columns, wide, uint64_t{request.block_threads}});
  // More columns and fewer rows a turn, where there are too few rows to share out.
  const uint64_t row_threads_max = request.grouping.group_size / Tuning::kRowsPerThreadMin;
  while (tile < std::min<uint64_t>(columns, request.block_threads) &&
         request.block_threads / tile > std::max<uint64_t>(row_threads_max, 1)) {
    tile *= 2;
  }
  return static_cast<uint32_t>(std::bit_width(tile) - 1);
}

void PlanColumns(const LayoutRequest& request, ReductionGeometry& geometry) {
  const uint64_t columns = request.grouping.group_count;
  const uint64_t rows = request.grouping.group_size;
  geometry.form = ReductionForm::kColumns;
  geometry.tile_columns_log2 = TileColumnsLog2(request);
  geometry.column_tile_count = CeilDivide(columns, uint64_t{1} << geometry.tile_columns_log2);
  const uint64_t row_threads = request.block_threads >> geometry.tile_columns_log2;
  const uint64_t rows_min =
      std::max(row_threads * Tuning::kRowsPerThreadMin,
               CeilDivide(geometry.partial_bytes * Tuning::kSplitBytesPerPartialByte,
                          request.element_bytes));
  const uint64_t splits_wanted = CeilDivide(request.resident_blocks * Tuning::kColumnItemsPerBlock,
                                            geometry.column_tile_count);
  const uint64_t splits = std::clamp<uint64_t>(rows / rows_min, 1, splits_wanted);
  geometry.rows_per_split = std::max<uint64_t>(1, CeilDivide(rows, splits));
  if (request.has_words()) {
    geometry.rows_per_split =
        std::min(geometry.rows_per_split, row_threads * request.thread_elements_max);
  }
  geometry.splits =
      static_cast<uint32_t>(std::max<uint64_t>(1, CeilDivide(rows, geometry.rows_per_split)));
  geometry.grid_blocks = GridStrideBlocks(geometry.column_tile_count * geometry.splits, 1,
                                          request.resident_blocks * Tuning::kTileBlocksPerResident);
  if (geometry.splits > 1) {
    geometry.partial_count = geometry.splits * columns;
    geometry.total_count = geometry.column_tile_count;
  }
}

// What takes columns first.
enum class FirstColumns { kNone, kDoubles, kMoments };

FirstColumns FirstColumnsOf(const ReductionPlan& plan, const KernelKind& kind,
                            WantedKernel wanted) {
  const uint64_t rows = plan.grouping.group_size;
  const uint64_t bytes = plan.array.size_bytes();
  // Of few rows, rows of the transpose are faster, but there is none of a large matrix, of a stack,
  // or of a view.
  const bool is_any = IsFamilyWanted(wanted, ReductionFamily::kColumns) ||
                      plan.grouping.matrices > 1 || plan.array.pitches ||
                      bytes > kTransposedBytesMax;
  const auto are_many = [&](uint64_t rows_min, uint64_t bytes_min) {
    return is_any || (rows >= rows_min && bytes >= bytes_min);
  };
  if (kind.column_kernel == ColumnKernel::kDoublesFirst &&
      are_many(PairTuning::kDoubleColumnRowsMin, PairTuning::kDoubleColumnBytesMin)) {
    return FirstColumns::kDoubles;
  }
  const bool are_halves = ElementSize(plan.array.element_type) == sizeof(uint16_t);
  const uint64_t moment_rows_min = plan.grouping.group_count < MomentTuning::kManyColumns
                                       ? MomentTuning::kRowsMin
                                   : are_halves ? MomentTuning::kHalfRowsMinOfManyColumns
                                                : MomentTuning::kRowsMinOfManyColumns;
  if (kind.column_kernel == ColumnKernel::kMomentsFirst &&
      are_many(moment_rows_min, MomentTuning::kBytesMin) &&
      rows <= MomentColumnRowsMax(static_cast<uint32_t>(ElementSize(plan.array.element_type)))) {
    return FirstColumns::kMoments;
  }
  return FirstColumns::kNone;
}

void PlanFirstColumns(const ReductionPlan& plan, FirstColumns first, uint64_t resident_blocks,
                      const DeviceProperties& properties, WantedKernel wanted,
                      ReductionGeometry& geometry) {
  const bool are_moments = first == FirstColumns::kMoments;
  const ReductionGeometry columns = are_moments ? PlanMomentColumns(plan, properties, wanted)
                                                : PlanPairSums(plan, properties, wanted);
  const uint64_t tiles = columns.column_tile_count;
  const bool are_doubles = plan.array.element_type == ElementType::kFloat64;
  const uint64_t partial_bytes = !are_moments  ? PairTuning::kDoubleColumnPartialBytes
                                 : are_doubles ? MomentTuning::kDoublePartialBytes
                                               : MomentTuning::kPartialBytes;
  uint64_t bytes =
      columns.splits > 1 ? columns.splits * plan.grouping.group_count * partial_bytes : 0;
  geometry.first_columns = {columns.form,
                            columns.grid_blocks,
                            columns.block_threads,
                            columns.form == ReductionForm::kColumnItems ? columns.word_bytes : 0,
                            columns.tile_columns_log2,
                            columns.splits,
                            columns.rows_per_split,
                            tiles,
                            GridStrideBlocks(geometry.grid_blocks, 1, resident_blocks),
                            are_moments,
                            0,
                            bytes};
  if (are_moments) {
    const uint32_t outliers_max =
        ColumnOutliersMax(static_cast<uint32_t>(ElementSize(plan.array.element_type)),
                          plan.grouping.group_size << columns.tile_columns_log2);
    geometry.first_columns.outliers_max = outliers_max;
    bytes += tiles * outliers_max *
             (are_doubles ? MomentTuning::kDoubleOutlierBytes : sizeof(ColumnOutlier));
  }
  geometry.partial_count =
      std::max(geometry.partial_count, CeilDivide(bytes, geometry.partial_bytes));
  geometry.total_count += tiles * (are_moments ? 3 : 2) + 1;
}

LayoutRequest RequestOf(const ReductionPlan& plan, const KernelKind& kind, uint32_t threads,
                        const DeviceProperties& properties) {
  const auto multiprocessors = static_cast<uint64_t>(properties.multiprocessor_count);
  LayoutRequest request{
      .grouping = plan.grouping,
      .element_bytes = ElementSize(plan.array.element_type),
      .element_count = plan.array.element_count,
      .resident_blocks = kind.shape.resident_blocks * multiprocessors,
      .block_threads = threads,
      .words = kind.words,
      .word_sharers = 1,
      .thread_elements_max = kind.words > 0 ? Tuning::kAdditionsMax : ~uint64_t{0}};
  const uint64_t rows = plan.grouping.group_count;
  if (plan.grouping.kind == GroupingKind::kSegments || plan.return_states || rows == 1) {
    return request;
  }
  // Warps take several statistics of long rows too, whose words blocks take long to join: some 18
  // us for each of a multiprocessor's, where a warp takes 4 KiB in 5 us (H200, route_report.py
  // --mib 1). Not their states, which take a warp as long.
  constexpr uint64_t kFewRowBytesMax = 16 << 10;
  constexpr uint64_t kRowsPerMultiprocessor = 4;
  const bool are_doubles = kind.group_kernel == GroupKernel::kMomentPairs;
  if (are_doubles) request.tile_bytes_max_many = RowMomentTuning::kDoubleRowBytesMax;
  if (are_doubles || kind.group_kernel == GroupKernel::kFixedPoint) {
    request.tile_bytes_max_few = rows >= kRowsPerMultiprocessor * multiprocessors
                                     ? Tuning::kTileGroupBytesMaxMany
                                     : kFewRowBytesMax;
  }
  return request;
}

// What the blocks of a group leave for its last.
void SetBlockPartials(const KernelKind& kind, ReductionGeometry& geometry) {
  geometry.partial_bytes = kind.state_bytes + Tuning::kRegisterExtraBytes;
  geometry.total_bytes = GroupTotalBytes(kind.words);
}

// A single column is a group of neighbours.
bool AreColumns(const Grouping& grouping) {
  return grouping.kind == GroupingKind::kAxis0 && grouping.group_count > 1;
}

ReductionGeometry PlanVectorColumns(const ReductionPlan& plan, const KernelKind& kind,
                                    const DeviceProperties& properties, WantedKernel wanted) {
  const uint64_t element_bytes = ElementSize(plan.array.element_type);
  const uint64_t vector_bytes = ColumnVectorBytes(static_cast<uint32_t>(element_bytes));
  const uint64_t warp_columns = Tuning::kWarpThreads * vector_bytes / element_bytes;
  const ColumnGrouping columns{
      plan.grouping.group_count,
      plan.grouping.group_size,
      element_bytes,
      static_cast<uint64_t>(properties.multiprocessor_count),
      {.vector_bytes = vector_bytes,
       .rows_in_flight = ColumnVectorTuning::kRowsInFlight,
       .tile_columns_min = warp_columns,
       .tile_columns_max = ColumnVectorTuning::kWarpsMax * warp_columns,
       .partial_bytes = kind.state_bytes,
       .thread_bytes = static_cast<uint32_t>(kind.state_bytes) + Tuning::kStateAlignment,
       .brief_rows_max = ColumnVectorTuning::kBriefRowsMax}};
  ReductionGeometry geometry;
  PlanColumnVectors(columns, wanted, geometry);
  if (geometry.form == ReductionForm::kWholeColumns) geometry.word_bytes = 0;  // None to join.
  return geometry;
}

ReductionGeometry PlanStates(const ReductionPlan& plan, const KernelKind& kind,
                             const DeviceProperties& properties, WantedKernel wanted) {
  const bool by_columns = AreColumns(plan.grouping);
  if (by_columns && kind.column_kernel == ColumnKernel::kVectors) {
    return PlanVectorColumns(plan, kind, properties, wanted);
  }
  const uint32_t threads =
      FittingThreads(kind, kind.shape.threads, 1, Tuning::kOtherSharedBytesMax, properties);
  ReductionGeometry geometry;
  // Columns are laid out by powers of two.
  geometry.block_threads =
      by_columns ? std::bit_floor(std::min(threads, Tuning::kBlockThreads)) : threads;
  const LayoutRequest request = RequestOf(plan, kind, geometry.block_threads, properties);
  geometry.word_bytes = request.WordBytes(geometry.block_threads);
  if (by_columns) {
    geometry.partial_bytes = kind.state_bytes;
    geometry.total_bytes = sizeof(uint32_t);
    PlanColumns(request, geometry);
    const FirstColumns first = FirstColumnsOf(plan, kind, wanted);
    if (first != FirstColumns::kNone && wanted != ReductionKernel::kColumns) {
      PlanFirstColumns(plan, first, request.resident_blocks, properties, wanted, geometry);
    }
    return geometry;
  }
  SetBlockPartials(kind, geometry);
  const LayoutRequest blocks =
      BlockRequest(request, kind, plan.grouping.group_count == 1, properties);
  PlanGroups(request, blocks, kind, properties, wanted, geometry);
  return geometry;
}

ReductionGeometry PlanSums(const ReductionPlan& plan, const KernelKind& kind,
                           const DeviceProperties& properties, WantedKernel wanted) {
  ReductionGeometry geometry = PlanPairSums(plan, properties, wanted);
  const LayoutRequest blocks = BlockRequest(RequestOf(plan, kind, kind.shape.threads, properties),
                                            kind, plan.grouping.group_count == 1, properties);
  if (geometry.form == ReductionForm::kBlocks) {
    SetBlockPartials(kind, geometry);
    PlanBlocks(blocks, kind.block_shape, geometry);
  } else if ((geometry.form == ReductionForm::kGroupSums ||
              geometry.form == ReductionForm::kStrips) &&
             plan.grouping.group_size > geometry.tile_elements_max) {
    SetBlockPartials(kind, geometry);
    PlanQueue(blocks, geometry);
  }
  return geometry;
}

// Whether a matrix is so small that its columns are moments of rows sooner than of columns.
bool AreSoonerRows(const ReductionPlan& plan) {
  using Moments = MomentTuning;
  const uint64_t bytes = plan.array.size_bytes();
  const uint64_t columns = plan.grouping.group_count;
  switch (ElementSize(plan.array.element_type)) {
    case sizeof(double):
      return columns > Moments::kFewDoubleColumns && bytes <= Moments::kDoublesAsRowsBytesMax;
    case sizeof(float): return bytes <= Moments::kAsRowsBytesMax;
    default: break;
  }
  return columns <= Moments::kFewHalfColumns
             ? bytes <= Moments::kFewHalfColumnBytesMax
             : columns < Moments::kManyHalfColumns && bytes <= Moments::kAsRowsBytesMax;
}

}  // namespace

uint32_t ReductionParts(const ReductionPlan& plan) {
  const bool is_float = IsFloatingPoint(plan.array.element_type);
  uint32_t parts = 0;
  StatisticSet statistics;
  for (const Statistic statistic : plan.statistics) {
    if (is_float && statistic == Statistic::kProduct) continue;  // Of kernels of its own.
    parts |= PartsOf(statistic, is_float, plan.nan_policy == NanPolicy::kIgnore);
    statistics.Add(statistic);
  }
  const bool are_sums = (parts & ~kSumPart) == 0;
  // Kernels of columns write the values of StatisticValue.
  const bool are_extremes =
      !are_sums && (parts & ~kExtremesPart) == 0 && !AreColumns(plan.grouping);
  const bool are_answered = are_sums       ? AnswersOfSums().HasAll(statistics)
                            : are_extremes ? AnswersOfExtremes().HasAll(statistics)
                                           : true;
  return are_answered ? parts : parts | kCorePartSet;
}

bool CanBeReducedAsRows(const ReductionPlan& plan) {
  return AreColumns(plan.grouping) && plan.grouping.matrices == 1 && !plan.array.pitches &&
         plan.grouping.group_size > 1 && plan.array.size_bytes() <= kTransposedBytesMax;
}

bool AreReducedAsRows(const ReductionPlan& plan) {
  if (!CanBeReducedAsRows(plan)) return false;
  const KernelKind kind = KernelKindOf(plan.array.element_type, ReductionParts(plan));
  switch (kind.column_kernel) {
    case ColumnKernel::kPairs:
    case ColumnKernel::kVectors: return false;
    case ColumnKernel::kDoublesFirst:
      return FirstColumnsOf(plan, kind, std::nullopt) == FirstColumns::kNone;
    case ColumnKernel::kMomentsFirst:
      return AreSoonerRows(plan) || FirstColumnsOf(plan, kind, std::nullopt) == FirstColumns::kNone;
    case ColumnKernel::kStates: break;
  }
  return true;
}

ReductionPlan AsRows(const ReductionPlan& plan) {
  ReductionPlan rows = plan;
  rows.grouping.kind = GroupingKind::kAxis1;
  rows.array = ArrayDescription::Matrix(plan.array.element_type, plan.grouping.group_count,
                                        plan.grouping.group_size);
  return rows;
}

ReductionGeometry PlanReductionGeometry(const ReductionPlan& plan,
                                        const DeviceProperties& properties) {
  return PlanReductionGeometry(plan, ReductionParts(plan), properties, std::nullopt);
}

ReductionGeometry PlanReductionGeometry(const ReductionPlan& plan, uint32_t parts,
                                        const DeviceProperties& properties, WantedKernel wanted) {
  const KernelKind kind = KernelKindOf(plan.array.element_type, parts);
  const bool in_pairs = AreColumns(plan.grouping) ? kind.column_kernel == ColumnKernel::kPairs
                                                  : kind.group_kernel == GroupKernel::kPairs;
  return in_pairs ? PlanSums(plan, kind, properties, wanted)
                  : PlanStates(plan, kind, properties, wanted);
}

uint64_t GeometryScratchBytes(const ReductionGeometry& geometry) {
  return ScratchBytes(sizeof(SegmentQueue) + geometry.total_count * geometry.total_bytes) +
         ScratchBytes(geometry.partial_count * geometry.partial_bytes) +
         ScratchBytes(geometry.queued_segments_max * sizeof(LongSegment));
}

uint64_t ReductionSharedBytesMin() {
  const uint32_t words = MomentWordCount<double>(kFullPartSet<double>);
  return uint64_t{words} * Tuning::kWarpThreads * sizeof(int64_t) + Tuning::kOtherSharedBytesMax;
}

uint64_t GeometryScratchBytesMax(uint64_t input_bytes, const DeviceProperties& properties) {
  const uint64_t state_bytes = std::max(sizeof(FullState<int64_t>), sizeof(FullState<double>));
  const uint64_t partial_bytes = state_bytes + Tuning::kRegisterExtraBytes;
  const uint64_t resident =
      static_cast<uint64_t>(properties.multiprocessor_count) * Tuning::kResidentBlocksMax;

  // Long segments: many groups may each have more than the larger limit, few more than the smaller.
  const uint64_t few_segments = resident * Tuning::kWarpsMax;
  const uint64_t many_segments = input_bytes / std::min(Tuning::kTileGroupBytesMaxMany,
                                                        Tuning::kAdditionsMax * sizeof(uint16_t));
  const uint64_t segments = few_segments + many_segments;
  // Chunks: as many as are aimed at or as words make necessary, and one that is not full for each
  // group that has several.
  const uint64_t chunks = 2 * resident * Tuning::kChunksPerBlock +
                          resident * Tuning::kQueuedChunksPerBlock +
                          input_bytes / (Tuning::kAdditionsMax * Tuning::kWarpThreads) + segments;
  // Groups of several chunks. Where they may be many, elements of 64 bits, with the most words, are
  // in so many fewer.
  const uint64_t single_words = MomentWordCount<float>(kFullPartSet<float>);
  const uint64_t total_bytes =
      (chunks - many_segments) * GroupTotalBytes(MomentWordCount<double>(kFullPartSet<double>)) +
      many_segments * GroupTotalBytes(single_words);
  // Splits of columns: bounded by the number of items, twice for rounding up, and by the input;
  // and those that words make necessary.
  const uint64_t split_states = 2 * resident * Tuning::kColumnItemsPerBlock *
                                std::max<uint64_t>(Tuning::kWarpThreads, Tuning::kColumnTileBytes);
  const uint64_t split_bytes =
      std::min(split_states * state_bytes, input_bytes / Tuning::kSplitBytesPerPartialByte) +
      2 * CeilDivide(input_bytes, Tuning::kAdditionsMax) * state_bytes;
  // Two words for each tile of float64 columns that have rows enough.
  const uint64_t tile_bytes = input_bytes / PairTuning::kDoubleColumnRowsMin;
  const uint64_t left_rows_bytes = LeftRowWords(input_bytes / RowMomentTuning::kFloatRowBytesMin,
                                                RowMomentTuning::kFloatRowBytesMin) *
                                   sizeof(uint32_t);
  return ScratchBytes(sizeof(SegmentQueue) + std::max({total_bytes, tile_bytes, left_rows_bytes})) +
         ScratchBytes(std::max(chunks * partial_bytes, split_bytes)) +
         ScratchBytes(segments * sizeof(LongSegment));
}

}  // namespace gridfold::kernels::cuda
