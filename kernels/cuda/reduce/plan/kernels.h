// The kernels of reductions as host code sees them: parameters, and a table of functions for each
// element type and set of parts. Plain C++; states are untyped here, since only kernels
// look inside.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_KERNELS_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_KERNELS_H_

#include <cstdint>

#include "kernels/numerics/arithmetic/rounded_divisor.h"
#include "kernels/numerics/statistics/bounded_moments.h"
#include "kernels/numerics/statistics/statistic_value.h"
#include "kernels/types/host_device.h"
#include "kernels/types/statistic.h"

namespace gridfold::kernels::cuda {

// All kernels are told this: the elements, how they are grouped, and what to make of the groups.
struct ReductionParameters {
  const void* elements;
  const uint64_t* offsets;  // Segments: group_count + 1; else null and groups have group_size.
  uint64_t group_count;
  uint64_t group_size;
  uint64_t columns;    // Of columns: of a matrix; fewer than group_count where some are stacked.
  uint64_t row_pitch;  // Elements from a row to the next.
  // Groups of a matrix, rows or columns, and how much further from the last one of a matrix the
  // first one of the next lies than others from each other.
  uint64_t matrix_groups;
  uint64_t matrix_skip;
  uint64_t span_elements;  // From the first element to the last one, with what lies between them.

  ValueRules rules;
  MomentDivisors divisors;  // Of groups that have group_size.
  uint32_t statistic_count;
  Statistic statistics[kStatisticCount];
  uint8_t rows[kStatisticCount];  // Row of `slots` and `failures` for each of the statistics.
  uint64_t* slots;                // [row][group]
  uint64_t* failures;             // [row]: smallest group whose value failed, or kNoFailure; or
                                  // null.
  void* states;                   // [group], as VisitPartSet has them; or null.

  // The first element of a column, and of a row.
  GRIDFOLD_HD uint64_t FirstOfColumn(uint64_t column) const { return column + SkippedTo(column); }
  GRIDFOLD_HD uint64_t FirstOfRow(uint64_t row) const { return row * row_pitch + SkippedTo(row); }
  GRIDFOLD_HD uint64_t SkippedTo(uint64_t group) const {
    return matrix_groups == group_count ? 0 : group / matrix_groups * matrix_skip;
  }

  GRIDFOLD_HD bool AskForOnly(Statistic statistic) const {
    return statistic_count == 1 && statistics[0] == statistic && states == nullptr;
  }
};

// A segment that the tile kernel leaves to the block kernel. Its chunks are work items
// [first_item, first_item + chunk_count).
struct LongSegment {
  uint64_t group;
  uint32_t first_item;
  uint32_t chunk_count;
};

// The queue of long segments. Zeroed before the tile kernel fills it. Segments stand in the order
// of their first items, since both are handed out by one atomic addition.
struct SegmentQueue {
  unsigned long long segments_and_items;  // Segments in the upper half, items in the lower.
  unsigned long long next_item;           // First item that no block has taken.
};

// Work of kernels that reduce each group by `width` lanes of a warp, or queue it.
struct TileWork {
  uint32_t width_log2;
  // Groups that a warp takes one after the other: in strip sums a multiple of its lanes, in fixed
  // point as many as fit them. Unused elsewhere.
  uint32_t strip_groups;
  uint32_t turn_groups;  // Of a warp, together. Extremes only.
  // Segments of more elements are queued; all others are reduced here.
  uint64_t group_elements_max;
  uint64_t chunk_elements;
  SegmentQueue* queue;  // Null where no group is too long.
  LongSegment* long_segments;
  RoundedDivisor group_divisor{1};  // Where groups are equal and have elements: how many.
};

// Work of kernels that reduce each group in chunks, a block for each chunk. `block_sums` has no
// queue, and several chunks for a single group only.
struct BlockWork {
  uint32_t chunks_per_group;  // Without a queue.
  SegmentQueue* queue;        // Null: all groups; else the long segments that it holds.
  const LongSegment* long_segments;
  // Memory for groups of more than one chunk: a GroupTotal for each group, or for each long
  // segment, zeroed, and left so (`block_sums`: a ticket); and what each item leaves for the last
  // of its group (a RangedPair).
  void* totals;
  void* block_registers;
};

// An element that is added on its own to the sums of a column of a tile.
struct ColumnOutlier {
  uint32_t column;
  float value;
};

// Work of kernels that reduce columns: tiles of neighbouring columns, the rows of each in `splits`
// splits.
struct ColumnWork {
  uint32_t tile_columns_log2;
  uint32_t splits;
  uint64_t tile_count;
  uint64_t rows_per_split;
  void* partials;     // [split][column] states, or ColumnPartials. Unused where splits is 1.
  uint32_t* tickets;  // Zeroed; one for each tile of columns. Unused where splits is 1.
  // Counters, where items draw turns of a tile together: as many for each tile as warps may stand
  // side by side, zeroed, and left so; else null, and unused where splits is 1.
  uint32_t* batches_dealt;
  // Tiles that a kernel which does not take all data leaves to ReduceColumns: [0] says whether it
  // leaves any, [1 + i] whether it leaves the i-th. Zeroed before; null where all are left.
  uint32_t* left_tiles;
  uint32_t left_tile_columns_log2;
  // Outliers, where several statistics are asked for: how many each tile has, zeroed before, and
  // room for them.
  uint32_t* outlier_counts;
  void* outliers;
  uint32_t outliers_max;  // Of a tile.
};

// Work of the kernel that merges the states of some parts of groups [outer][inner], a run of parts
// a thread. States of a part's groups stand side by side, those of the next part part_bytes behind.
inline constexpr uint32_t kStateMergeThreads = 64;
struct StateMergeWork {
  void* states;  // Of the first part of the first group.
  uint64_t part_bytes;
  uint64_t outer_bytes;  // From a group's states to those of the next outer one.
  uint64_t inner = 1;
  uint64_t outer = 1;
  uint64_t parts = 1;
  uint64_t run_parts = 1;  // Of a run, but for the last.
  // Of the first part's first element in the whole group, and what later parts have more.
  uint64_t first_index = 0;
  uint64_t part_size = 0;
  uint64_t first_group = 0;
  bool is_last = true;  // Values are written; else a run's states take the place of its first's.

  GRIDFOLD_HD uint64_t runs() const { return (parts + run_parts - 1) / run_parts; }
};

using StripKernel = void (*)(ReductionParameters, TileWork);

struct ReductionKernels {
  void (*tiles)(ReductionParameters, TileWork);  // Or `strips`, of integers.
  void (*blocks)(ReductionParameters, BlockWork);
  void (*columns)(ReductionParameters, ColumnWork);
  void (*merge_states)(ReductionParameters, StateMergeWork);
  // These take most tiles before `columns` does, where HasFirstColumns; else they are null.
  void (*first_columns)(ReductionParameters, ColumnWork);
  void (*whole_first_columns)(ReductionParameters, ColumnWork);
  void (*whole_first_column_sums)(ReductionParameters, ColumnWork);  // Nothing but sums of float64.
  // GroupKernel::kPairs, instead of `tiles`; else null.
  void (*group_sums)(ReductionParameters, TileWork);
  void (*row_sums)(ReductionParameters);
  StripKernel strips;  // Where SumsInPairs, and GroupKernel::kIntegerStrips; else null.
  // Where SumsInPairs; else null.
  void (*vector_sums)(ReductionParameters);
  void (*half_vector_sums)(ReductionParameters);
  void (*block_sums)(ReductionParameters, BlockWork);
  void (*shallow_column_sums)(ReductionParameters, ColumnWork);
  // ColumnKernel::kPairs and kVectors, instead of `columns`; else null.
  void (*column_items)(ReductionParameters, ColumnWork);
  void (*whole_columns)(ReductionParameters, ColumnWork);
};

// The kernels for elements of type T and the set of parts that VisitPartSet chooses for `parts`.
template <class T>
ReductionKernels ReductionKernelsFor(uint32_t parts);

// The member `strips` for sums of floats. Beside kernels with which it shares functions that are
// not inlined it has fewer registers that calls keep, and spills more: it is compiled apart from
// them.
template <class T>
StripKernel GetStripSumsKernel();

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_KERNELS_H_
