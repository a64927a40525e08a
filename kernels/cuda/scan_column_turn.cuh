// What a block of a scan along axis 0 keeps of a turn, in shared memory, and where it keeps it. A
// turn is a tile of a strip.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_TURN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_TURN_CUH_

#include <cstdint>

#include "kernels/cuda/scan_column_kernels.h"
#include "kernels/cuda/scan_turn_ring.cuh"
#include "kernels/numerics/scan_tree.h"

namespace gridfold::kernels::cuda {

// Shared memory has no constructors: values are bytes to begin with. `kPanelBytes`: of a warp's
// elements. `kHasRuns`: whether a warp may have several runs of a column.
template <class Value, uint32_t kPanelBytes, bool kHasRuns>
class ColumnTurn {
 public:
  __device__ TurnStages& stages() { return stages_; }
  __device__ unsigned char* panel(uint32_t warp) { return panels_ + warp * kPanelBytes; }

  // The total of a warp's rows in a column, whose place what precedes them in the tile takes when
  // it is published.
  __device__ Value& warp_value(uint32_t warp, uint32_t column) {
    return At(warp_values_, warp * kScanLanes + column);
  }
  __device__ Value& tile_total(uint32_t column) { return At(tile_totals_, column); }
  // The totals of the tiles before in the tile's block of tiles.
  __device__ Value& total_before(uint32_t column) { return At(totals_before_, column); }
  __device__ Value& carry(uint32_t column) { return At(carries_, column); }
  // For the calling thread only: what precedes its run in its warp.
  __device__ Value& run_base() {
    static_assert(kHasRuns);
    return At(run_bases_, threadIdx.x);
  }

 private:
  __device__ static Value& At(unsigned char* bytes, uint32_t index) {
    return reinterpret_cast<Value*>(bytes)[index];
  }

  alignas(128) unsigned char panels_[kScanColumnWarps * kPanelBytes];
  alignas(16) unsigned char warp_values_[kColumnScanThreads * sizeof(Value)];
  alignas(16) unsigned char run_bases_[kHasRuns ? kColumnScanThreads * sizeof(Value) : 16];
  alignas(16) unsigned char tile_totals_[kScanLanes * sizeof(Value)];
  alignas(16) unsigned char totals_before_[kScanLanes * sizeof(Value)];
  alignas(16) unsigned char carries_[kScanLanes * sizeof(Value)];
  TurnStages stages_;
};

// Goes through a block's turns: all strips' first tiles, then all strips' second ones and so on.
class ColumnTurnCursor : public RingCursor {
 public:
  __device__ ColumnTurnCursor(const ColumnScanShape& shape, uint32_t turns_kept)
      : RingCursor(shape.strip_count * shape.tile_count, turns_kept),
        strip_count_(shape.strip_count) {}

  __device__ uint32_t tile() const { return turn() / strip_count_; }
  __device__ uint32_t strip() const { return turn() % strip_count_; }

 private:
  const uint32_t strip_count_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_TURN_CUH_
