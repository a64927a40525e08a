#include "kernels/cuda/reduce/reduce.h"

#include <algorithm>

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/launch.h"
#include "kernels/cuda/device/status.h"
#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/reduce/plan/brief_extremes.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/plan/kernels.h"
#include "kernels/cuda/reduce/plan/row_moments.h"
#include "kernels/cuda/reduce/plan/singles.h"
#include "kernels/cuda/reduce/plan/tuning.h"
#include "kernels/cuda/reduce/plan/warp_extremes.h"
#include "kernels/cuda/reduce/product.h"
#include "kernels/cuda/reduce/transpose.h"

namespace gridfold::kernels::cuda {

namespace {

// More than are resident at a time, whatever a state's registers are.
constexpr uint64_t kStateMergeBlocksPerMultiprocessor = 16;

ReductionParameters MakeParameters(const ReductionPlan& plan, const ReductionInput& input,
                                   const ReductionOutput& output) {
  ReductionParameters parameters = ParametersOf(plan);
  parameters.elements = input.elements.data;
  parameters.offsets = plan.grouping.kind == GroupingKind::kSegments ? input.offsets : nullptr;
  parameters.slots = output.slots;
  if (output.slots == nullptr) parameters.statistic_count = 0;
  parameters.failures = output.failures;
  parameters.states = output.states;
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

using TileFunction = void (*)(ReductionParameters, TileWork);
// Groups by lanes of a warp, the longest by blocks.
absl::Status LaunchTiles(TileFunction kernel, const ReductionKernels& kernels,
                         const ReductionRoute& route, const ReductionParameters& parameters,
                         const WorkSpace& space, cudaStream_t stream) {
  const ReductionGeometry& geometry = route.geometry;
  const bool queues = route.leftovers == ReductionLeftovers::kLongSegments;
  const TileWork tiles{
      .width_log2 = geometry.tile_width_log2,
      .strip_groups = geometry.strip_groups,
      .turn_groups = geometry.turn_groups,
      .group_elements_max = geometry.tile_elements_max,
      .chunk_elements = geometry.chunk_elements,
      .queue = queues ? space.queue : nullptr,
      .long_segments = space.long_segments,
      .group_divisor = RoundedDivisor(std::max<uint64_t>(1, parameters.group_size))};
  absl::Status status = Launch(kernel, ShapeOf(geometry), stream, parameters, tiles);
  if (!status.ok() || !queues) return status;
  BlockWork blocks = BlockWorkOf(space);
  blocks.queue = space.queue;
  blocks.long_segments = space.long_segments;
  return Launch(kernels.blocks, QueueShapeOf(geometry), stream, parameters, blocks);
}

// Groups that are a vector, or half of one.
absl::Status LaunchVectorSums(const ReductionKernels& kernels, const ReductionRoute& route,
                              const ReductionParameters& parameters, uint64_t element_bytes,
                              cudaStream_t stream) {
  const bool is_whole = parameters.group_size * element_bytes == ReduceTuning::kVectorBytes;
  LaunchShape shape = ShapeOf(route.geometry);
  shape.shared_bytes = 0;
  return Launch(is_whole ? kernels.vector_sums : kernels.half_vector_sums, shape, stream,
                parameters);
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
absl::Status LaunchFirstColumns(ColumnFunction kernel, const ReductionKernels& kernels,
                                const ReductionGeometry& geometry,
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
                  .outliers = static_cast<std::byte*>(space.partials) + first.outliers_at,
                  .outliers_max = first.outliers_max};
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
                        .outliers = nullptr,
                        .outliers_max = 0};
  return Launch(kernel, ShapeOf(geometry), stream, parameters, work);
}

// The kernels of the route's element type and parts.
ReductionKernels KernelsOf(ElementType type, uint32_t parts) {
  return VisitElementType(
      type, [&](auto tag) { return ReductionKernelsFor<typename decltype(tag)::type>(parts); });
}

TileFunction BriefExtremesOf(ElementType type) {
  return VisitElementType(type, [](auto tag) -> TileFunction {
    return GetBriefExtremesKernel<typename decltype(tag)::type>();
  });
}

TileFunction WarpExtremesOf(ElementType type) {
  return VisitElementType(type, [](auto tag) -> TileFunction {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) <= 4) return GetWarpExtremesKernel<T>();
    return nullptr;  // Of no route.
  });
}

SinglesKernel SinglesOf(ElementType type) {
  return VisitElementType(
      type, [](auto tag) { return GetSinglesKernel<typename decltype(tag)::type>(); });
}

// Everything but floating-point products, of groups as they stand.
absl::Status LaunchStates(const ReductionRoute& route, ElementType type,
                          const ReductionParameters& parameters, Scratch& scratch,
                          const DeviceProperties& properties, cudaStream_t stream) {
  const absl::StatusOr<WorkSpace> space = AllocateWorkSpace(route.geometry, scratch, stream);
  if (!space.ok()) return space.status();
  const ReductionKernels kernels = KernelsOf(type, route.parts);
  const auto tiles = [&](TileFunction kernel) {
    return LaunchTiles(kernel, kernels, route, parameters, *space, stream);
  };
  const auto blocks = [&](BlockFunction kernel) {
    return LaunchBlocks(kernel, route.geometry, parameters, *space, stream);
  };
  const auto columns = [&](ColumnFunction kernel) {
    return LaunchColumns(kernel, route.geometry, parameters, *space, stream);
  };
  const auto first_columns = [&](ColumnFunction kernel) {
    return LaunchFirstColumns(kernel, kernels, route.geometry, parameters, *space, stream);
  };
  switch (route.kernel) {
    case ReductionKernel::kNothing:
    case ReductionKernel::kProduct: break;
    case ReductionKernel::kBlocks: return blocks(kernels.blocks);
    case ReductionKernel::kBlockSums: return blocks(kernels.block_sums);
    case ReductionKernel::kTiles:
    case ReductionKernel::kFixedPoint:
    case ReductionKernel::kPairTiles:
    case ReductionKernel::kRowExtremes: return tiles(kernels.tiles);
    case ReductionKernel::kBriefExtremes: return tiles(BriefExtremesOf(type));
    case ReductionKernel::kWarpExtremes: return tiles(WarpExtremesOf(type));
    case ReductionKernel::kSingles:
      return Launch(SinglesOf(type), ShapeOf(route.geometry), stream, parameters);
    case ReductionKernel::kGroupSums: return tiles(kernels.group_sums);
    case ReductionKernel::kStripSums:
    case ReductionKernel::kIntegerStrips: return tiles(kernels.strips);
    case ReductionKernel::kVectorSums:
      return LaunchVectorSums(kernels, route, parameters, ElementSize(type), stream);
    case ReductionKernel::kRowSums:
      return Launch(kernels.row_sums, ShapeOf(route.geometry), stream, parameters);
    case ReductionKernel::kRowMoments:
      return LaunchRowMoments(parameters, type, static_cast<uint32_t*>(space->totals), properties,
                              stream);
    case ReductionKernel::kColumns: return columns(kernels.columns);
    case ReductionKernel::kColumnSums:
    case ReductionKernel::kColumnVectors: return columns(kernels.column_items);
    case ReductionKernel::kWholeColumnSums:
    case ReductionKernel::kWholeColumnVectors: return columns(kernels.whole_columns);
    case ReductionKernel::kShallowColumnSums: return columns(kernels.shallow_column_sums);
    case ReductionKernel::kDoubleColumns:
    case ReductionKernel::kMomentColumns: return first_columns(kernels.first_columns);
    case ReductionKernel::kWholeDoubleColumns:
      return first_columns(parameters.AskForOnly(Statistic::kSum) ? kernels.whole_first_column_sums
                                                                  : kernels.whole_first_columns);
    case ReductionKernel::kWholeMomentColumns: return first_columns(kernels.whole_first_columns);
  }
  return absl::OkStatus();
}

// Columns as the rows of their transpose, which are groups of as many elements.
absl::Status LaunchAsRows(const ReductionPlan& plan, const ReductionRoute& route,
                          const ReductionParameters& parameters, Scratch& scratch,
                          const DeviceProperties& properties, cudaStream_t stream) {
  const auto transposed = scratch.Allocate<std::byte>(plan.array.size_bytes());
  if (!transposed.ok()) return transposed.status();
  const TransposeWork work{.elements = parameters.elements,
                           .transposed = *transposed,
                           .rows = plan.grouping.group_size,
                           .columns = plan.grouping.group_count};
  const ElementType type = plan.array.element_type;
  absl::Status status = LaunchTranspose(work, ElementSize(type), stream);
  if (!status.ok()) return status;
  ReductionParameters of_rows = parameters;
  of_rows.elements = *transposed;
  of_rows.row_pitch = parameters.group_size;
  return LaunchStates(route, type, of_rows, scratch, properties, stream);
}

absl::Status LaunchProducts(const ReductionPlan& plan, const ReductionInput& input,
                            uint64_t* all_slots, Scratch& scratch,
                            const DeviceProperties& properties, cudaStream_t stream) {
  for (size_t i = 0; i < plan.statistics.size(); ++i) {
    if (plan.statistics[i] != Statistic::kProduct) continue;
    uint64_t* const slots = all_slots + i * plan.grouping.group_count;
    return LaunchProduct(plan, input, slots, scratch, properties, stream);
  }
  return absl::OkStatus();
}

}  // namespace

size_t ReductionFailureWords(const ReductionPlan& plan) {
  const bool can_fail =
      std::any_of(plan.statistics.begin(), plan.statistics.end(), [&](Statistic statistic) {
        return PossibleFailure(statistic, plan.array.element_type, plan.nan_policy,
                               plan.overflow_policy) != ValueOutcome::kOk;
      });
  return can_fail ? plan.statistics.size() : 0;
}

uint64_t ReductionAnswerBytes(const ReductionPlan& plan) {
  return (plan.result_slot_count() + ReductionFailureWords(plan)) * sizeof(uint64_t);
}

ReductionOutput ReductionOutputAt(const ReductionPlan& plan, std::byte* answer, void* states) {
  uint64_t* const slots = reinterpret_cast<uint64_t*>(answer);
  return {slots, slots + plan.result_slot_count(), states};
}

absl::Status ClearFailures(const ReductionPlan& plan, const ReductionOutput& output,
                           cudaStream_t stream) {
  const size_t words = ReductionFailureWords(plan);
  if (words == 0 || output.failures == nullptr) return absl::OkStatus();
  GRIDFOLD_RETURN_IF_CUDA_ERROR(
      cudaMemsetAsync(output.failures, 0xFF, words * sizeof(uint64_t), stream));
  return absl::OkStatus();
}

absl::Status LaunchStateMerge(const ReductionPlan& plan, const StateMergeWork& work,
                              const ReductionOutput& output, const DeviceProperties& properties,
                              cudaStream_t stream) {
  const uint64_t blocks_max =
      static_cast<uint64_t>(properties.multiprocessor_count) * kStateMergeBlocksPerMultiprocessor;
  const uint64_t run_count = work.outer * work.runs() * work.inner;
  const LaunchShape shape{.grid = dim3(GridStrideBlocks(run_count, kStateMergeThreads, blocks_max)),
                          .block = dim3(kStateMergeThreads)};
  const ReductionKernels kernels = KernelsOf(plan.array.element_type, ReductionParts(plan));
  return Launch(kernels.merge_states, shape, stream, MakeParameters(plan, {}, output), work);
}

absl::Status LaunchReduction(const ReductionPlan& plan, const ReductionRoute& route,
                             const ReductionInput& input, const ReductionOutput& output,
                             Scratch& scratch, const DeviceProperties& properties,
                             cudaStream_t stream) {
  if (absl::Status status = ClearFailures(plan, output, stream); !status.ok()) return status;
  if (route.family() == ReductionFamily::kNothing) return absl::OkStatus();
  if (route.family() != ReductionFamily::kProduct) {
    const ReductionParameters parameters = MakeParameters(plan, input, output);
    absl::Status status =
        route.is_transposed
            ? LaunchAsRows(plan, route, parameters, scratch, properties, stream)
            : LaunchStates(route, plan.array.element_type, parameters, scratch, properties, stream);
    if (!status.ok()) return status;
  }
  if (!route.has_product) return absl::OkStatus();
  return LaunchProducts(plan, input, output.slots, scratch, properties, stream);
}

uint64_t ReductionBytesRead(const ReductionPlan& plan) {
  const bool has_product = HasFloatingProduct(plan);
  const bool has_others = plan.statistics.size() > (has_product ? 1 : 0);
  return ((has_others ? 1 : 0) + (has_product ? 1 : 0)) * plan.array.size_bytes();
}

}  // namespace gridfold::kernels::cuda
