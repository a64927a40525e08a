// The part of geometry.h about columns along axis 0 that are taken in vectors.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_COLUMN_GEOMETRY_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_COLUMN_GEOMETRY_H_

#include <cstdint>

#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/plan/pair_tuning.h"

namespace gridfold::kernels::cuda {

// How kernels take columns.
struct ColumnShape {
  uint64_t vector_bytes;      // Of a lane, of a row.
  uint64_t rows_in_flight;    // Of a lane.
  uint64_t tile_columns_min;  // Where there are more columns than of one tile.
  uint64_t tile_columns_max;
  uint64_t partial_bytes;  // What a split leaves for a column.
  uint32_t thread_bytes;   // Of dynamic shared memory.
  // That a thread takes, on average where it shares out rows with others.
  uint64_t thread_rows_max = PairTuning::kRowsPerSplitMax;
  // That a thread takes by itself in less time than blocks take to join theirs, whatever the
  // columns; and four times as many, of columns that are as many as many threads.
  uint64_t brief_rows_max = 0;
};

// The columns of a matrix, as they are taken.
struct ColumnGrouping {
  uint64_t columns;
  uint64_t rows;
  uint64_t element_bytes;
  uint64_t multiprocessors;
  ColumnShape shape;

  uint64_t vector_elements() const { return shape.vector_bytes / element_bytes; }
  // Columns of which each lane of a warp has a vector.
  uint64_t warp_columns() const;
};

// A thread for all rows of its columns, a warp for a tile.
void PlanWholeColumns(const ColumnGrouping& grouping, ReductionForm form, uint64_t threads,
                      uint64_t blocks_max, ReductionGeometry& geometry);

// PlanWholeColumns where there are tiles for some waves of warps, or few rows, else blocks that
// share out the rows of a tile; or as the wanted kernel takes them.
void PlanColumnVectors(const ColumnGrouping& grouping, WantedKernel wanted,
                       ReductionGeometry& geometry);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_COLUMN_GEOMETRY_H_
