// The part of geometry.h about groups of neighbours, but for sums that are kept in pairs
// (pair_geometry.h).
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GROUP_GEOMETRY_H_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GROUP_GEOMETRY_H_

#include <algorithm>
#include <cstdint>

#include "kernels/contract/reduction.h"
#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/reduce/plan/geometry.h"
#include "kernels/cuda/reduce/plan/kernel_choice.h"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// What the layout takes from the element type and the set of parts that kernels are built for.
struct KernelKind {
  uint64_t state_bytes;         // More than registers, where there are words.
  uint32_t words;               // Of a thread.
  uint32_t block_sharers;       // Threads of blocks that share these.
  uint64_t drawn_elements_max;  // Of a thread, on average.
  GroupKernel group_kernel;
  ColumnKernel column_kernel;
  ReduceShape shape;        // Of tiles and columns.
  ReduceShape block_shape;  // Of blocks.
};

KernelKind KernelKindOf(ElementType type, uint32_t parts);

// What the forms' planners share; blocks are those of the form.
struct LayoutRequest {
  const Grouping& grouping;
  uint64_t element_bytes;
  uint64_t element_count;
  uint64_t resident_blocks;
  uint32_t block_threads;
  uint32_t words;                // Of a thread.
  uint32_t word_sharers;         // Threads that share these.
  uint64_t thread_elements_max;  // On average.
  // Of a group that lanes of a warp take, where groups keep every warp busy, and where not.
  uint64_t tile_bytes_max_many = ReduceTuning::kTileGroupBytesMaxMany;
  uint64_t tile_bytes_max_few = ReduceTuning::kTileGroupBytesMaxFew;

  bool has_words() const { return words > 0; }
  uint32_t WordBytes(uint32_t threads) const {
    return WordColumnsOf(threads, word_sharers) * words * sizeof(int64_t);
  }

  uint64_t BlockElementsMax() const {
    return has_words() ? thread_elements_max * block_threads : ~uint64_t{0};
  }

  uint64_t total_bytes() const { return element_count * element_bytes; }

  // Elements of a chunk, of `chunks` chunks or of a multiple of these where they would be too
  // large. Whole cache lines, so that chunks of an aligned array are aligned too.
  uint64_t ChunkElements(uint64_t chunks) const {
    constexpr uint64_t kLineBytes = 128;
    chunks *=
        std::max<uint64_t>(1, CeilDivide(CeilDivide(element_count, chunks), BlockElementsMax()));
    const uint64_t bytes =
        std::max(ReduceTuning::kChunkBytesMin, CeilDivide(total_bytes(), chunks));
    return std::min(RoundUp(bytes, kLineBytes) / element_bytes, BlockElementsMax());
  }

  // The most elements of a group that `lanes` lanes of a warp take.
  uint64_t TileElementsMax(uint64_t lanes) const {
    const uint64_t warps = block_threads / ReduceTuning::kWarpThreads;
    const bool many = grouping.group_count >= resident_blocks * warps;
    const uint64_t bytes = many ? tile_bytes_max_many : tile_bytes_max_few;
    if (!has_words()) return bytes / element_bytes;
    // A lane's share may be some vectors more than another's.
    const uint64_t shares = std::max<uint64_t>(1, lanes / 2);
    return std::min(bytes / element_bytes, thread_elements_max * shares);
  }
};

// The layout of groups by lanes of a warp or by blocks, which `blocks` is the request for.
void PlanGroups(const LayoutRequest& request, const LayoutRequest& blocks, const KernelKind& kind,
                const DeviceProperties& properties, WantedKernel wanted,
                ReductionGeometry& geometry);

// Groups in chunks, a block for each, by kernels of this shape.
void PlanBlocks(const LayoutRequest& request, const ReduceShape& shape,
                ReductionGeometry& geometry);

// Lays out the queue of segments of more than geometry.tile_elements_max elements, which blocks
// take.
void PlanQueue(const LayoutRequest& request, ReductionGeometry& geometry);

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_PLAN_GROUP_GEOMETRY_H_
