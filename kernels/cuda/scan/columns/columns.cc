#include "kernels/cuda/scan/columns/columns.h"

#include <algorithm>

#include "kernels/cuda/device/zeroed_memory.h"
#include "kernels/cuda/scan/columns/kernels.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

namespace {

bool HasFewRows(const ScanPlan& plan) { return plan.grouping.group_size <= kScanColumnItems; }

ColumnScanShape ShapeOf(const ScanPlan& plan, uint32_t strip_columns_max = kScanLanes) {
  return ColumnScanShapeOf(plan.grouping.group_size, plan.grouping.group_count, strip_columns_max);
}

uint64_t ValueBytes(const ScanPlan& plan) {
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    return VisitScanOperator(OperatorOf(plan), [&](auto operation) {
      using T = ScannedElement<typename decltype(tag)::type, operation()>;
      if constexpr (kHasOperator<T, operation()>) {
        return uint64_t{sizeof(typename ScanOperator<T, operation()>::Value)};
      } else {
        return uint64_t{0};  // OperatorOf gives no such operation.
      }
    });
  });
}

// Takes the memory and enqueues that its words become 0.
absl::StatusOr<ColumnLookBackMemory> PrepareLookBack(const ColumnScanShape& shape,
                                                     uint64_t value_words, Scratch& scratch,
                                                     cudaStream_t stream) {
  const ColumnLookBackSizes sizes(shape);
  ColumnLookBackMemory memory;
  if (sizes.values() == 0) return memory;
  const uint64_t word_count = sizes.values() * value_words;
  const auto words = AllocateZeroed<LookBackWord>(scratch, word_count, stream);
  if (!words.ok()) return words.status();
  memory.tile_totals = *words;
  memory.block_totals = memory.tile_totals + sizes.tiles * value_words;
  memory.block_carries = memory.block_totals + sizes.blocks * value_words;
  return memory;
}

bool IsAligned(const void* memory, uint64_t bytes) {
  return reinterpret_cast<uintptr_t>(memory) % bytes == 0;
}

// The kernel whose threads go down whole columns, where that is best; else null.
const WholeColumnsKernel* WholeColumnsKernelFor(const ScanPlan& plan,
                                                const ColumnScanKernels& kernels,
                                                const ScanArguments& arguments,
                                                int multiprocessors) {
  const uint64_t columns = plan.grouping.group_count;
  // A tile of fewer columns has several runs of each, which a walk does not join.
  if (!HasFewRows(plan) && columns < kScanLanes) return nullptr;
  const uint64_t size = ElementSize(plan.array.element_type);
  const uint64_t vector = kernels.thread_columns;
  const bool is_in_vectors = columns % vector == 0 && IsAligned(arguments.input, vector * size) &&
                             IsAligned(arguments.output, vector * ElementSize(plan.output_type));
  const bool suffices =
      HasFewRows(plan) || WholeColumnsSuffice(columns / vector, vector * size, multiprocessors);
  if (!suffices) return nullptr;
  return is_in_vectors ? &kernels.whole_vectors : &kernels.whole_columns;
}

absl::Status LaunchWholeColumns(const ScanPlan& plan, const WholeColumnsKernel& kernel,
                                const ScanArguments& arguments, cudaStream_t stream) {
  const WholeColumnsShape shape{.rows = plan.grouping.group_size,
                                .columns = plan.grouping.group_count};
  LaunchShape launch;
  // Blocks that come and go leave no uneven end.
  launch.grid = dim3(static_cast<uint32_t>(CeilDivide(shape.columns, kernel.block_columns)));
  launch.block = dim3(kernel.threads);
  return Launch(kernel.launch, launch, stream, arguments, shape);
}

const ColumnTileKernel& TileKernelFor(uint64_t columns, uint32_t element_size,
                                      const ColumnScanKernels& kernels) {
  if (columns >= kernels.long_row_columns) return kernels.long_rows;
  const bool is_narrow = IsNarrow(ColumnScanShapeOf(1, columns), element_size);
  return is_narrow ? kernels.narrow : kernels.wide;
}

// Strips as wide as have room: fewer columns where rows do not begin as vectors do, but for a
// narrow panel.
ColumnScanShape ShapeOfTiles(const ScanPlan& plan, uint32_t strip_columns_max,
                             const ScanArguments& arguments) {
  const uint64_t columns = plan.grouping.group_count;
  const auto size = static_cast<uint32_t>(ElementSize(plan.array.element_type));
  const bool is_aligned =
      columns * size % kColumnVectorBytes == 0 && IsAligned(arguments.input, kColumnVectorBytes);
  const ColumnScanShape shape = ShapeOf(plan, strip_columns_max);
  if (is_aligned || IsNarrow(shape, size)) return shape;
  return ShapeOf(plan, MisalignedStripColumns(size, strip_columns_max));
}

// Whether all strips of a matrix at `memory` begin where lines do.
bool StripsBeginAsLinesDo(const ColumnScanShape& shape, const void* memory, uint64_t size) {
  constexpr uint64_t kLineBytes = 128;
  return IsAligned(memory, kLineBytes) && shape.columns * size % kLineBytes == 0 &&
         shape.strip_columns * size % kLineBytes == 0;
}

absl::Status LaunchTiles(const ScanPlan& plan, const ColumnScanKernels& kernels,
                         const ScanArguments& arguments, Scratch& scratch,
                         const DeviceProperties& properties, cudaStream_t stream) {
  const auto element_size = static_cast<uint32_t>(ElementSize(plan.array.element_type));
  const ColumnTileKernel& kernel = TileKernelFor(plan.grouping.group_count, element_size, kernels);
  ColumnScanShape columns = ShapeOfTiles(plan, kernel.strip_columns, arguments);
  absl::StatusOr<ColumnLookBackMemory> memory =
      PrepareLookBack(columns, LookBackWordsOf(kernels.value_bytes), scratch, stream);
  if (!memory.ok()) return memory.status();
  const uint32_t panel_bytes = IsNarrow(columns, element_size)
                                   ? NarrowColumnPanelBytes(element_size, columns)
                                   : WideColumnPanelBytes(element_size, kernel.strip_columns);
  const uint32_t turn_bytes = kernel.turn_bytes + kScanColumnWarps * panel_bytes;
  const uint32_t strip_bytes =
      columns.has_kept_strips() ? columns.strip_count * kernel.strip_bytes : 0;
  const uint32_t block_bytes =
      std::min(ColumnBlockBytes(kernel.block.blocks),
               static_cast<uint32_t>(properties.shared_bytes_per_block_max));
  const uint32_t turns = ColumnScanTurns(turn_bytes, block_bytes - strip_bytes);
  if (turns == 0) {
    return absl::FailedPreconditionError("a scan needs more shared memory than this device has");
  }
  ColumnBlockShape block = kernel.block;
  block.teams = std::min(block.teams, turns);
  memory->teams = block.teams;
  memory->turns_kept = turns / block.teams * block.teams;
  const uint32_t shared_bytes = memory->turns_kept * turn_bytes + strip_bytes;
  const absl::StatusOr<int> blocks =
      ResidentBlocksPerMultiprocessor(reinterpret_cast<const void*>(kernel.launch),
                                      static_cast<int>(block.threads()), shared_bytes);
  if (!blocks.ok()) return blocks.status();
  const auto resident =
      static_cast<uint64_t>(*blocks) * static_cast<uint64_t>(properties.multiprocessor_count);
  LaunchShape shape;
  shape.grid = dim3(ColumnGridBlocks(columns, resident));
  // A block by itself would wait for a neighbour that it has no place for.
  columns.shares_lines =
      shape.grid.x > 1 &&
      !(StripsBeginAsLinesDo(columns, arguments.input, element_size) &&
        StripsBeginAsLinesDo(columns, arguments.output, ElementSize(plan.output_type)));
  shape.block = dim3(block.threads());
  shape.shared_bytes = shared_bytes;
  shape.cooperative = true;  // Blocks wait for each other.
  return Launch(kernel.launch, shape, stream, arguments, columns, *memory);
}

}  // namespace

uint64_t ColumnScratchBytes(const ScanPlan& plan) {
  if (plan.array.element_count == 0 || HasFewRows(plan)) return 0;
  return ScratchBytes(ColumnLookBackSizes(ShapeOf(plan)).values() *
                      LookBackWordsOf(ValueBytes(plan)) * sizeof(LookBackWord));
}

uint64_t ColumnScratchBytesMax(uint64_t element_count) {
  // A tile that another follows has this many rows at least.
  const uint64_t tiles = element_count / ScanColumnTileRows(kScanLanes);
  const uint64_t values = tiles + 2 * (tiles / kScanTilesPerBlock);
  return ScratchBytes(values * kLookBackWordsMax * sizeof(LookBackWord));
}

absl::Status LaunchColumnScan(const ScanPlan& plan, const ScanArguments& arguments,
                              Scratch& scratch, const DeviceProperties& properties,
                              cudaStream_t stream) {
  const ColumnScanKernels kernels = VisitScanOperator(OperatorOf(plan), [&](auto operation) {
    return FindColumnScanKernels<operation()>(plan.array.element_type,
                                              arguments.accumulator_output);
  });
  const WholeColumnsKernel* whole =
      WholeColumnsKernelFor(plan, kernels, arguments, properties.multiprocessor_count);
  return whole != nullptr ? LaunchWholeColumns(plan, *whole, arguments, stream)
                          : LaunchTiles(plan, kernels, arguments, scratch, properties, stream);
}

}  // namespace gridfold::kernels::cuda
