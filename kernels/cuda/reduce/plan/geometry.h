// A ReductionGeometry says how a reduction is laid out on the device: which kernels, how many
// blocks, how much scratch.
//
// The plan and the device alone decide it, so that the scratch a plan needs is known before it
// runs, and the same plan gives the same bits in every run on a device.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_H_

#include <cstdint>

#include "kernels/contract/reduction.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/reduce/plan/reduction_kernel.h"

namespace gridfold::kernels::cuda {

enum class ReductionForm : uint8_t {
  kTiles,    // Groups by lanes of a warp; segments that are too long by blocks, through a queue.
  kStrips,   // As kTiles, but a warp takes many groups that follow one another, lane by lane.
  kBlocks,   // Groups in chunks, a block for each.
  kColumns,  // Axis 0.
  // The next two forms take vectors of columns along axis 0:
  kColumnItems,   // the rows of a tile shared out among warps and blocks,
  kWholeColumns,  // a thread for all rows of some columns.
  // The next three forms sum in pairs.
  kGroupSums,          // As kTiles.
  kBlockSums,          // Groups by a block each, or a single one by some blocks.
  kShallowColumnSums,  // As kWholeColumns, of few rows.
};

// The kernel that takes columns first: kColumnItems or kWholeColumns.
struct FirstColumnGeometry {
  ReductionForm form = ReductionForm::kColumnItems;
  uint32_t grid_blocks = 0;  // None.
  uint32_t block_threads = 1;
  uint32_t word_bytes = 0;  // Dynamic shared memory of a block.
  uint32_t tile_columns_log2 = 0;
  uint32_t splits = 1;
  uint64_t rows_per_split = 0;
  uint64_t column_tile_count = 0;
  uint32_t left_grid_blocks = 1;  // Of the form's kernel: one wave, which nearly always is idle.
  // Where it has lists of outliers, one for each tile, these are so many bytes behind the beginning
  // of partials.
  bool has_outliers = false;
  uint32_t outliers_max = 0;  // Of a tile.
  uint64_t outliers_at = 0;
};

struct ReductionGeometry {
  ReductionForm form = ReductionForm::kTiles;
  uint32_t grid_blocks = 1;  // Of the form's kernel.
  uint32_t block_threads = 1;
  uint32_t word_bytes = 0;  // Dynamic shared memory of a block: reduce/core/words.cuh.

  // What blocks leave for the last block of their group, each on its own and together.
  uint64_t partial_bytes = 0;  // Of one: registers of a block, or a state of a column.
  uint64_t partial_count = 0;
  // Bytes of a GroupTotal, or of a ticket where a group has nothing else; or of a word of
  // LeftRowWords.
  uint64_t total_bytes = 0;
  uint64_t total_count = 0;

  uint64_t chunk_elements = 0;    // kBlocks, and queued segments.
  uint32_t chunks_per_group = 1;  // kBlocks, and kBlockSums of a single group.

  uint32_t tile_width_log2 = 0;      // kTiles, kGroupSums
  uint64_t tile_elements_max = 0;    // kTiles, kGroupSums: longer segments are queued.
  uint64_t queued_segments_max = 0;  // kTiles, kGroupSums: 0 where no segment is too long.
  uint32_t queue_grid_blocks = 1;    // Of the kernel that takes the queue.
  uint32_t queue_block_threads = 1;  // Of the kernel that takes the queue.
  uint32_t queue_word_bytes = 0;     // Of the kernel that takes the queue.
  uint32_t strip_groups = 0;         // kStrips, and kTiles in fixed point or pairs: of a warp.
  uint32_t turn_groups = 0;          // kTiles of nothing but extremes: of a warp, together.
  bool has_brief_rows = false;       // Extremes alone: a lane takes a row (brief_extremes.h).
  bool has_warp_rows = false;        // Extremes alone: a warp takes a row (warp_extremes.h).

  uint32_t tile_columns_log2 = 0;  // kColumns
  uint32_t splits = 1;             // kColumns: of the rows.
  uint64_t rows_per_split = 0;     // kColumns
  uint64_t column_tile_count = 0;  // kColumns
  // kColumns: the kernel that takes columns first. Its tickets, flags of tiles that it leaves, and
  // numbers of outliers stand behind the tickets of kColumns.
  FirstColumnGeometry first_columns;
};

// The shared memory of a block that reductions need; devices with less cannot be used.
uint64_t ReductionSharedBytesMin();

// Union of the parts that the plan's statistics need.
uint32_t ReductionParts(const ReductionPlan& plan);

// Columns that are reduced as the rows of their transpose.
//
// Kernels of rows are many, and fast at every length. Those of columns are for large matrices: of
// small ones, and of statistics that are seldom asked for, states of columns take more time to
// begin and to finish than elements to read. Transposing reads and writes a small matrix in L2;
// more than these bytes would not stay there.
inline constexpr uint64_t kTransposedBytesMax = uint64_t{64} << 20;
// Whether they can be, and whether that is thought best. Require a plan with groups.
bool CanBeReducedAsRows(const ReductionPlan& plan);
bool AreReducedAsRows(const ReductionPlan& plan);
// The plan of the transposed matrix: groups, and what is asked of them, are the same.
ReductionPlan AsRows(const ReductionPlan& plan);

// The geometry that is thought best. Requires a plan with groups, which are not to be reduced as
// rows.
ReductionGeometry PlanReductionGeometry(const ReductionPlan& plan,
                                        const DeviceProperties& properties);
// That of kernels that keep `parts`, ReductionParts or more, and of the `wanted` kernel if it can
// take the groups.
ReductionGeometry PlanReductionGeometry(const ReductionPlan& plan, uint32_t parts,
                                        const DeviceProperties& properties, WantedKernel wanted);

// Bytes of scratch that the kernels of this geometry need.
uint64_t GeometryScratchBytes(const ReductionGeometry& geometry);

// The most that GeometryScratchBytes gives for plans of up to `input_bytes`.
uint64_t GeometryScratchBytesMax(uint64_t input_bytes, const DeviceProperties& properties);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GEOMETRY_H_
