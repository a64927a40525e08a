#include "kernels/cuda/grid.h"
#include "kernels/cuda/scan_strategies.h"
#include "kernels/numerics/scan_operator.h"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels::cuda {

namespace {

uint64_t ValueBytes(const ScanPlan& plan) {
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    return VisitScanOperation(plan.operation, [&](auto operation) {
      using Operator = ScanOperator<typename decltype(tag)::type, operation()>;
      return uint64_t{sizeof(typename Operator::Value)};
    });
  });
}

uint64_t ChunkCount(const ScanPlan& plan) {
  return CeilDivide(plan.grouping.group_size, kScanChunkRows);
}

// For all chunks and columns; none where no chunk follows another.
uint64_t CarryBytes(const ScanPlan& plan) {
  const uint64_t chunks = ChunkCount(plan);
  return chunks > 1 ? chunks * plan.grouping.group_count * ValueBytes(plan) : 0;
}

}  // namespace

uint64_t ColumnPasses(const ScanPlan& plan) { return ChunkCount(plan) > 1 ? 2 : 1; }

uint64_t ColumnScratchBytes(const ScanPlan& plan) { return ScratchBytes(CarryBytes(plan)); }

uint64_t ColumnScratchBytesMax(uint64_t element_count) {
  // Columns one row longer than a chunk have the most chunks for their elements. The widest values
  // are those of a product of integers.
  const uint64_t columns_max = CeilDivide(element_count, kScanChunkRows + 1);
  return ScratchBytes(2 * columns_max * sizeof(CheckedProduct));
}

absl::Status LaunchColumnScan(const ScanPlan& plan, const ScanArguments& arguments,
                              Scratch& scratch, const DeviceProperties& properties,
                              cudaStream_t stream) {
  ColumnScanShape columns{.rows = plan.grouping.group_size,
                          .columns = plan.grouping.group_count,
                          .chunk_count = ChunkCount(plan)};
  const ColumnScanKernels kernels = VisitScanOperation(plan.operation, [&](auto operation) {
    return FindColumnScanKernels<operation()>(plan.array.element_type);
  });
  const uint64_t chunks_of_columns = columns.chunk_count * columns.columns;
  const auto launch = [&](ColumnScanKernel kernel, uint64_t threads) {
    return Launch(kernel, GridStrideShape(threads, kColumnScanThreads, properties), stream,
                  arguments, columns);
  };
  if (columns.chunk_count > 1) {
    const auto carries = scratch.Allocate<std::byte>(CarryBytes(plan));
    if (!carries.ok()) return carries.status();
    columns.carries = *carries;
    absl::Status status = launch(kernels.chunk_totals, chunks_of_columns);
    if (status.ok()) status = launch(kernels.chunk_carries, columns.columns);
    if (!status.ok()) return status;
  }
  return launch(kernels.results, chunks_of_columns);
}

}  // namespace gridfold::kernels::cuda
