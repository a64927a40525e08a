// The kernels of scans along axis 0, and what their launches need to know of them. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_KERNELS_H_

#include <cstdint>

#include "kernels/cuda/scan_arguments.h"
#include "kernels/cuda/scan_column_shape.h"
#include "kernels/element_type.h"
#include "kernels/scan_operation.h"

namespace gridfold::kernels::cuda {

// What the tiles of a column tell each other; see scan_column_chain.cuh. Words of each column, row
// by row, which are 0 to begin with.
struct ColumnLookBackMemory {
  LookBackWord* tile_totals = nullptr;
  LookBackWord* block_totals = nullptr;
  LookBackWord* block_carries = nullptr;  // What precedes a block, from block 1 on.
};

// Columns whose rows a thread goes down.
struct WholeColumnsShape {
  uint64_t rows = 0;
  uint64_t columns = 0;
};

// A kernel of kColumnScanThreads a block.
struct ColumnTileKernel {
  void (*launch)(ScanArguments, ColumnScanShape, ColumnLookBackMemory);
  uint32_t shared_bytes;
};
// A kernel of kWholeColumnsThreads a block, each of which goes down thread_columns columns. These
// are a multiple of that, and so are elements and results in memory.
struct WholeColumnsKernel {
  void (*launch)(ScanArguments, WholeColumnsShape);
  uint32_t thread_columns;
};
struct ColumnScanKernels {
  ColumnTileKernel wide;    // For shapes of one run in a warp,
  ColumnTileKernel narrow;  // and of several.
  WholeColumnsKernel whole_vectors;
  WholeColumnsKernel whole_columns;
  uint32_t value_bytes;  // Of the operator's Value.
};

// The kernels for an element type; each operation is instantiated in a file of its own.
// `accumulator_output`: whether results are of the accumulator type, not the array's own.
template <ScanOperation kOperation>
ColumnScanKernels FindColumnScanKernels(ElementType type, bool accumulator_output);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_KERNELS_H_
