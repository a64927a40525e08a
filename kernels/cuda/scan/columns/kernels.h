// The kernels of scans along axis 0, and what their launches need to know of them. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/cuda/scan/columns/shape.h"
#include "kernels/types/element_type.h"
#include "kernels/types/scan_operation.h"

namespace gridfold::kernels::cuda {

// What the tiles of a column tell each other; see chain.cuh. Words of each column, row
// by row, which are 0 to begin with.
struct ColumnLookBackMemory {
  LookBackWord* tile_totals = nullptr;
  LookBackWord* block_totals = nullptr;
  LookBackWord* block_carries = nullptr;  // What precedes a block, from block 1 on.
  uint32_t turns_kept = 1;  // In a block's shared memory at once; of each team as many.
  uint32_t teams = 1;       // Of scanning warps.
};

// Columns whose rows a thread goes down.
struct WholeColumnsShape {
  uint64_t rows = 0;
  uint64_t columns = 0;
};

struct ColumnTileKernel {
  void (*launch)(ScanArguments, ColumnScanShape, ColumnLookBackMemory);
  ColumnBlockShape block;  // Fewer teams where shared memory has no room for a turn of each.
  uint32_t turn_bytes;     // Of shared memory, for each turn that is kept, besides its elements,
  uint32_t strip_bytes;    // and for each strip, where there are few.
  uint32_t strip_columns;  // At most.
};
struct WholeColumnsKernel {
  void (*launch)(ScanArguments, WholeColumnsShape);
  uint32_t threads;        // Of a block.
  uint32_t block_columns;  // That these go down.
};
struct ColumnScanKernels {
  ColumnTileKernel wide;
  ColumnTileKernel narrow;     // See IsNarrow().
  ColumnTileKernel long_rows;  // From `long_row_columns` on.
  uint64_t long_row_columns;
  WholeColumnsKernel whole_vectors;  // Where rows of elements and of results begin as vectors do,
  WholeColumnsKernel whole_columns;  // and wherever they begin.
  uint32_t thread_columns;           // Of a thread of either: those of a vector.
  uint32_t value_bytes;              // Of the operator's Value.
};

// The kernels for an element type, of an operation as of FindLookBackScanKernel.
// `accumulator_output`: whether results are of the accumulator type, not the array's own.
template <ScanOperation kOperation>
ColumnScanKernels FindColumnScanKernels(ElementType type, bool accumulator_output);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_KERNELS_H_
