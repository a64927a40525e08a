#include "kernels/cuda/reduce/reduce.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/reduce/plan/brief_extremes.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/warp_extremes.h"
#include "kernels/cuda/reduce/product.h"
#include "kernels/cuda/reduce/transpose.h"

namespace gridfold::kernels::cuda {

namespace {

bool IsFloatingProduct(const ReductionPlan& plan, Statistic statistic) {
  return statistic == Statistic::kProduct && IsFloatingPoint(plan.array.element_type);
}

bool HasOnlyFloatingProduct(const ReductionPlan& plan) {
  return plan.statistics.size() == 1 && HasFloatingProduct(plan);
}

ReductionParameters MakeParameters(const ReductionPlan& plan, const ReductionInput& input,
                                   const ReductionOutput& output) {
  ReductionParameters parameters = {};
  parameters.elements = input.elements.data;
  parameters.offsets = plan.grouping.kind == GroupingKind::kSegments ? input.offsets : nullptr;
  parameters.group_count = plan.grouping.group_count;
  parameters.group_size = plan.grouping.group_size;
  parameters.rules = {.ignore_nan = plan.nan_policy == NanPolicy::kIgnore,
                      .wrap = plan.overflow_policy == OverflowPolicy::kWrap,
                      .delta_degrees_of_freedom = plan.delta_degrees_of_freedom};
  parameters.slots = output.slots;
  parameters.failures = output.failures;
  parameters.states = output.states;
  for (size_t i = 0; i < plan.statistics.size(); ++i) {
    if (IsFloatingProduct(plan, plan.statistics[i])) continue;
    parameters.statistics[parameters.statistic_count] = plan.statistics[i];
    parameters.rows[parameters.statistic_count] = static_cast<uint8_t>(i);
    ++parameters.statistic_count;
  }
  return parameters;
}

// Scratch of one launch, as laid out by GeometryScratchBytes.
struct WorkSpace {
  SegmentQueue* queue;
  void* totals;
  void* partials;
  LongSegment* long_segments;
};

absl::StatusOr<WorkSpace> AllocateWorkSpace(const ReductionGeometry& geometry, Scratch& scratch,
                                            cudaStream_t stream) {
  const uint64_t zeroed_bytes =
      geometry.total_count == 0
          ? 0
          : sizeof(SegmentQueue) + geometry.total_count * geometry.total_bytes;
  const bool is_one = geometry.total_count == 1 && geometry.queued_segments_max == 0;
  const auto zeroed = AllocateZeroed<std::byte>(
      scratch, zeroed_bytes, stream, is_one ? AfterUse::kZeroAgain : AfterUse::kAnything);
  if (!zeroed.ok()) return zeroed.status();
  const auto partials =
      scratch.Allocate<std::byte>(geometry.partial_count * geometry.partial_bytes);
  if (!partials.ok()) return partials.status();
  const auto long_segments = scratch.Allocate<LongSegment>(geometry.queued_segments_max);
  if (!long_segments.ok()) return long_segments.status();
  return WorkSpace{reinterpret_cast<SegmentQueue*>(*zeroed), *zeroed + sizeof(SegmentQueue),
                   *partials, *long_segments};
}

LaunchShape ShapeOf(const ReductionGeometry& geometry) {
  return {.grid = dim3(geometry.grid_blocks),
          .block = dim3(geometry.block_threads),
          .shared_bytes = geometry.word_bytes};
}

LaunchShape QueueShapeOf(const ReductionGeometry& geometry) {
  return {.grid = dim3(geometry.queue_grid_blocks),
          .block = dim3(geometry.queue_block_threads),
          .shared_bytes = geometry.queue_word_bytes};
}

BlockWork BlockWorkOf(const WorkSpace& space) {
  BlockWork work = {};
  work.totals = space.totals;
  work.block_registers = space.partials;
  return work;
}

// Whether elements are made of nothing but aligned vectors, of which each group of so many bytes
// has some, or some groups share one.
bool AreInVectors(const ReductionParameters& parameters, uint64_t group_bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(parameters.elements);
  const uint64_t bytes = parameters.group_count * group_bytes;
  return parameters.offsets == nullptr && group_bytes > 0 &&
         (begin | bytes) % ReduceTuning::kVectorBytes == 0 &&
         (group_bytes % ReduceTuning::kVectorBytes == 0 ||
          ReduceTuning::kVectorBytes % group_bytes == 0);
}

// The kernel of groups that are a vector, or half of one; else null.
auto VectorKernel(const ReductionKernels& kernels, uint64_t group_bytes) {
  return group_bytes == ReduceTuning::kVectorBytes       ? kernels.vector_sums
         : group_bytes == ReduceTuning::kVectorBytes / 2 ? kernels.half_vector_sums
                                                         : nullptr;
}

// Whether groups of so many vectors, and what is asked for, are what ReduceRowSums requires; and
// whether its warps have so many turns that one whose sums may be rounded is not felt.
bool AreSumsOfRows(const ReductionParameters& parameters, const ReductionGeometry& geometry,
                   uint64_t vectors) {
  constexpr uint64_t kTurnVectors = PairTuning::kRowVectorsInFlight * ReduceTuning::kWarpThreads;
  const uint64_t warps =
      uint64_t{geometry.grid_blocks} * geometry.block_threads / ReduceTuning::kWarpThreads;
  return std::has_single_bit(vectors) && vectors <= ReduceTuning::kWarpThreads &&
         parameters.states == nullptr &&
         parameters.group_count * vectors >= PairTuning::kRowTurnsMin * kTurnVectors * warps;
}

// Groups by lanes of a warp, the longest by blocks.
absl::Status LaunchTiles(const ReductionPlan& plan, const ReductionKernels& kernels,
                         const ReductionGeometry& geometry, const ReductionParameters& parameters,
                         const WorkSpace& space, const DeviceProperties& properties,
                         cudaStream_t stream) {
  const bool queues = geometry.queued_segments_max > 0;
  const TileWork tiles{
      .width_log2 = geometry.tile_width_log2,
      .strip_groups = geometry.strip_groups,
      .turn_groups = geometry.turn_groups,
      .group_elements_max = geometry.tile_elements_max,
      .chunk_elements = geometry.chunk_elements,
      .queue = queues ? space.queue : nullptr,
      .long_segments = space.long_segments,
      .group_divisor = RoundedDivisor(std::max<uint64_t>(1, parameters.group_size))};
  const bool in_pairs = geometry.form == ReductionForm::kGroupSums;
  const uint64_t group_bytes = parameters.group_size * ElementSize(plan.array.element_type);
  if (in_pairs && !queues && AreInVectors(parameters, group_bytes)) {
    if (const auto vector_sums = VectorKernel(kernels, group_bytes); vector_sums != nullptr) {
      LaunchShape shape = ShapeOf(geometry);
      shape.shared_bytes = 0;
      return Launch(vector_sums, shape, stream, parameters);
    }
    if (AreSumsOfRows(parameters, geometry, group_bytes / ReduceTuning::kVectorBytes)) {
      return Launch(kernels.row_sums, ShapeOf(geometry), stream, parameters);
    }
  }
  // The form of what would take them else.
  const ReductionForm moments_form =
      IsFloatingPoint(plan.array.element_type) ? ReductionForm::kTiles : ReductionForm::kStrips;
  if (geometry.form == moments_form && !queues &&
      AreMomentsOfRows(parameters, plan.array.element_type)) {
    return LaunchRowMoments(parameters, plan.array.element_type,
                            static_cast<uint32_t*>(space.totals), properties, stream);
  }
  const auto kernel = geometry.form == ReductionForm::kStrips ? kernels.strips
                      : in_pairs                              ? kernels.group_sums
                                                              : kernels.tiles;
  absl::Status status = Launch(kernel, ShapeOf(geometry), stream, parameters, tiles);
  if (!status.ok() || !queues) return status;
  BlockWork blocks = BlockWorkOf(space);
  blocks.queue = space.queue;
  blocks.long_segments = space.long_segments;
  return Launch(kernels.blocks, QueueShapeOf(geometry), stream, parameters, blocks);
}

using BlockFunction = void (*)(ReductionParameters, BlockWork);
absl::Status LaunchBlocks(BlockFunction kernel, const ReductionGeometry& geometry,
                          const ReductionParameters& parameters, const WorkSpace& space,
                          cudaStream_t stream) {
  BlockWork work = BlockWorkOf(space);
  work.chunks_per_group = geometry.chunks_per_group;
  return Launch(kernel, ShapeOf(geometry), stream, parameters, work);
}

using ColumnFunction = void (*)(ReductionParameters, ColumnWork);
// Most tiles by a kernel that does not take all data, what that leaves by the other.
absl::Status LaunchFirstColumns(const ReductionKernels& kernels, const ReductionGeometry& geometry,
                                const ReductionParameters& parameters, const WorkSpace& space,
                                cudaStream_t stream) {
  const FirstColumnGeometry& first = geometry.first_columns;
  const uint64_t tiles = first.column_tile_count;
  uint32_t* const tickets = static_cast<uint32_t*>(space.totals);
  uint32_t* const end = tickets + geometry.total_count;
  uint32_t* const outlier_counts = first.has_outliers ? end - tiles : end;
  uint32_t* const left_tiles = outlier_counts - tiles - 1;
  ColumnWork work{.tile_columns_log2 = first.tile_columns_log2,
                  .splits = first.splits,
                  .tile_count = tiles,
                  .rows_per_split = first.rows_per_split,
                  .partials = space.partials,
                  .tickets = left_tiles - tiles,
                  .batches_dealt = nullptr,
                  .left_tiles = left_tiles,
                  .left_tile_columns_log2 = first.tile_columns_log2,
                  .outlier_counts = outlier_counts,
                  .outliers = static_cast<std::byte*>(space.partials) + first.outliers_at};
  const bool are_sums = !first.has_outliers && parameters.AskForOnly(Statistic::kSum);
  const ColumnFunction kernel = first.form == ReductionForm::kColumnItems ? kernels.first_columns
                                : are_sums ? kernels.whole_first_column_sums
                                           : kernels.whole_first_columns;
  const LaunchShape shape{.grid = dim3(first.grid_blocks),
                          .block = dim3(first.block_threads),
                          .shared_bytes = first.word_bytes};
  absl::Status status = Launch(kernel, shape, stream, parameters, work);
  if (!status.ok()) return status;
  work.tile_columns_log2 = geometry.tile_columns_log2;
  work.splits = geometry.splits;
  work.tile_count = geometry.column_tile_count;
  work.rows_per_split = geometry.rows_per_split;
  work.tickets = tickets;
  LaunchShape left_shape = ShapeOf(geometry);
  left_shape.grid = dim3(first.left_grid_blocks);
  return Launch(kernels.columns, left_shape, stream, parameters, work);
}

absl::Status LaunchColumns(ColumnFunction kernel, const ReductionGeometry& geometry,
                           const ReductionParameters& parameters, const WorkSpace& space,
                           cudaStream_t stream) {
  uint32_t* const tickets = static_cast<uint32_t*>(space.totals);
  const ColumnWork work{.tile_columns_log2 = geometry.tile_columns_log2,
                        .splits = geometry.splits,
                        .tile_count = geometry.column_tile_count,
                        .rows_per_split = geometry.rows_per_split,
                        .partials = space.partials,
                        .tickets = tickets,
                        .batches_dealt = tickets + geometry.column_tile_count,
                        .left_tiles = nullptr,
                        .left_tile_columns_log2 = 0,
                        .outlier_counts = nullptr,
                        .outliers = nullptr};
  return Launch(kernel, ShapeOf(geometry), stream, parameters, work);
}

// Everything but floating-point products.
absl::Status LaunchStates(const ReductionPlan& plan, const ReductionParameters& parameters,
                          Scratch& scratch, const DeviceProperties& properties,
                          cudaStream_t stream) {
  const ReductionGeometry geometry = PlanReductionGeometry(plan, properties);
  const absl::StatusOr<WorkSpace> space = AllocateWorkSpace(geometry, scratch, stream);
  if (!space.ok()) return space.status();
  const ReductionKernels kernels = VisitElementType(plan.array.element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ReductionKernels table = ReductionKernelsFor<T>(ReductionParts(plan));
    if (geometry.has_brief_rows) table.tiles = GetBriefExtremesKernel<T>();
    if constexpr (sizeof(T) <= 4) {
      if (geometry.has_warp_rows) table.tiles = GetWarpExtremesKernel<T>();
    }
    return table;
  });
  const auto launch_blocks = [&](BlockFunction kernel) {
    return LaunchBlocks(kernel, geometry, parameters, *space, stream);
  };
  const auto launch_columns = [&](ColumnFunction kernel) {
    return LaunchColumns(kernel, geometry, parameters, *space, stream);
  };
  switch (geometry.form) {
    case ReductionForm::kTiles:
    case ReductionForm::kGroupSums:
    case ReductionForm::kStrips:
      return LaunchTiles(plan, kernels, geometry, parameters, *space, properties, stream);
    case ReductionForm::kBlocks: return launch_blocks(kernels.blocks);
    case ReductionForm::kBlockSums: return launch_blocks(kernels.block_sums);
    case ReductionForm::kColumns:
      if (geometry.first_columns.grid_blocks > 0) {
        return LaunchFirstColumns(kernels, geometry, parameters, *space, stream);
      }
      return launch_columns(kernels.columns);
    case ReductionForm::kColumnItems: return launch_columns(kernels.column_items);
    case ReductionForm::kShallowColumnSums: return launch_columns(kernels.shallow_column_sums);
    case ReductionForm::kWholeColumns: break;
  }
  return launch_columns(kernels.whole_columns);
}

// Columns as the rows of their transpose.
absl::Status LaunchAsRows(const ReductionPlan& plan, const ReductionParameters& parameters,
                          Scratch& scratch, const DeviceProperties& properties,
                          cudaStream_t stream) {
  const auto transposed = scratch.Allocate<std::byte>(plan.array.size_bytes());
  if (!transposed.ok()) return transposed.status();
  const TransposeWork work{.elements = parameters.elements,
                           .transposed = *transposed,
                           .rows = plan.grouping.group_size,
                           .columns = plan.grouping.group_count};
  absl::Status status = LaunchTranspose(work, ElementSize(plan.array.element_type), stream);
  if (!status.ok()) return status;
  ReductionParameters of_rows = parameters;
  of_rows.elements = *transposed;
  return LaunchStates(AsRows(plan), of_rows, scratch, properties, stream);
}

}  // namespace

bool ReductionCanFail(const ReductionPlan& plan) {
  return std::any_of(plan.statistics.begin(), plan.statistics.end(), [&](Statistic statistic) {
    return PossibleFailure(statistic, plan.array.element_type, plan.nan_policy,
                           plan.overflow_policy) != ValueOutcome::kOk;
  });
}

uint64_t ReductionScratchBytes(const ReductionPlan& plan, const DeviceProperties& properties,
                               ColumnRoute columns) {
  if (plan.grouping.group_count == 0) return 0;
  uint64_t bytes = 0;
  if (!HasOnlyFloatingProduct(plan)) {
    const bool as_rows = columns == ColumnRoute::kBest && AreReducedAsRows(plan);
    if (as_rows) bytes += ScratchBytes(plan.array.size_bytes());
    bytes += GeometryScratchBytes(PlanReductionGeometry(as_rows ? AsRows(plan) : plan, properties));
  }
  if (HasFloatingProduct(plan)) bytes += ProductScratchBytes(plan);
  return bytes;
}

uint64_t ReductionScratchBytesMax(uint64_t input_bytes, uint64_t group_count,
                                  const DeviceProperties& properties) {
  return GeometryScratchBytesMax(input_bytes, properties) +
         ScratchBytes(std::min(input_bytes, kTransposedBytesMax)) +
         ProductScratchBytesMax(input_bytes, group_count);
}

absl::Status LaunchReduction(const ReductionPlan& plan, const ReductionInput& input,
                             const ReductionOutput& output, Scratch& scratch,
                             const DeviceProperties& properties, cudaStream_t stream,
                             ColumnRoute columns) {
  if (ReductionCanFail(plan)) {
    GRIDFOLD_RETURN_IF_CUDA_ERROR(
        cudaMemsetAsync(output.failures, 0xFF, plan.statistics.size() * sizeof(uint64_t), stream));
  }
  if (plan.grouping.group_count == 0) return absl::OkStatus();
  if (!HasOnlyFloatingProduct(plan)) {
    const ReductionParameters parameters = MakeParameters(plan, input, output);
    const bool as_rows = columns == ColumnRoute::kBest && AreReducedAsRows(plan);
    absl::Status status = as_rows ? LaunchAsRows(plan, parameters, scratch, properties, stream)
                                  : LaunchStates(plan, parameters, scratch, properties, stream);
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < plan.statistics.size(); ++i) {
    if (!IsFloatingProduct(plan, plan.statistics[i])) continue;
    uint64_t* const slots = output.slots + i * plan.grouping.group_count;
    if (absl::Status status = LaunchProduct(plan, input, slots, scratch, properties, stream);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

const char* ReductionStrategy(const ReductionPlan& plan, const DeviceProperties& properties) {
  if (HasOnlyFloatingProduct(plan)) return "reduce/product";
  if (plan.grouping.group_count == 0) return "reduce/nothing";
  if (AreReducedAsRows(plan)) return "reduce/transposed";
  const ReductionGeometry geometry = PlanReductionGeometry(plan, properties);
  switch (geometry.form) {
    case ReductionForm::kBlocks: return "reduce/contiguous";
    case ReductionForm::kBlockSums: return "reduce/block";
    case ReductionForm::kColumns:
    case ReductionForm::kColumnItems:
    case ReductionForm::kShallowColumnSums:
    case ReductionForm::kWholeColumns: return "reduce/axis-0";
    case ReductionForm::kTiles:
    case ReductionForm::kGroupSums:
    case ReductionForm::kStrips: break;
  }
  if (plan.grouping.kind != GroupingKind::kSegments) return "reduce/tile";
  return geometry.queued_segments_max > 0 ? "reduce/segments-queue" : "reduce/segments-tile";
}

uint64_t ReductionBytesRead(const ReductionPlan& plan) {
  const uint64_t passes =
      (HasOnlyFloatingProduct(plan) ? 0 : 1) + (HasFloatingProduct(plan) ? 1 : 0);
  return passes * plan.array.size_bytes();
}

}  // namespace gridfold::kernels::cuda
