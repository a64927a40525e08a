// A block of a look-back scan keeps a turn in shared memory, in the places that are said here.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TURN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TURN_CUH_

#include <cstdint>

#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/cuda/scan/base/turn_ring.cuh"
#include "kernels/cuda/scan/positions/warp_runs.cuh"

namespace gridfold::kernels::cuda {

// A turn's elements and what the block's warps tell each other about it. Shared memory has no
// constructors: values are bytes to begin with.
//
// A tile is kWarps warps' of threads, whose lanes have kItems elements each in kRuns runs of the
// tree, so it is kTreeWarps of the tree's warps.
template <class Operator, class T, int kItems, int kRuns, int kWarps, ScanTurnShape kShape>
class Turn {
 public:
  using Value = typename Operator::Value;
  using Grouped = GroupedOf<Operator>;

  static constexpr int kTreeWarps = kWarps * kRuns;

  __device__ TurnStages& stages() { return stages_; }

  __device__ T* piece(int tile, int warp) {
    return reinterpret_cast<T*>(element_bytes_) + (tile * kWarps + warp) * kPieceSize;
  }
  // The total of one of the tree's warps.
  __device__ Grouped& warp_total(int tile, int warp) {
    return At<Grouped>(warp_totals_, tile * kTreeWarps + warp);
  }
  // What precedes one of the tree's warps in its tile.
  __device__ Grouped& warp_base(int tile, int warp) {
    return At<Grouped>(warp_bases_, tile * kTreeWarps + warp);
  }
  __device__ Grouped& tile_total(int tile) { return At<Grouped>(tile_totals_, tile); }
  // The totals of the tile's block up to and including the tile, and what precedes the tile in it.
  __device__ Grouped& joined_total(int tile) { return At<Grouped>(joined_totals_, tile); }
  __device__ Grouped& total_before(int tile) { return At<Grouped>(totals_before_, tile); }
  __device__ Grouped& carry(int tile) { return At<Grouped>(carries_, tile); }
  // What precedes the calling thread's runs in their warp of the tree, and where groups start in
  // them; for that thread only.
  __device__ LaneRuns<Value, kRuns>& run_bases(int tile) {
    return At<LaneRuns<Value, kRuns>>(run_bases_, LaneIndex(tile));
  }
  __device__ HeadBits<kItems>& lane_heads(int tile) { return lane_heads_[LaneIndex(tile)]; }
  // The heads of a warp's lanes.
  __device__ HeadBits<kItems>* piece_heads(int tile, int warp) {
    return lane_heads_ + tile * kThreads + warp * kScanLanes;
  }

 private:
  static constexpr int kTiles = kShape.tiles;
  static constexpr int kPieceSize = kItems * kScanLanes;
  static constexpr int kThreads = kWarps * kScanLanes;  // Of a tile.

  template <class V>
  __device__ static V& At(unsigned char* bytes, int index) {
    return reinterpret_cast<V*>(bytes)[index];
  }
  __device__ static int LaneIndex(int tile) {
    return tile * kThreads + static_cast<int>(threadIdx.x) % kThreads;
  }

  alignas(128) unsigned char element_bytes_[kTiles * kWarps * kPieceSize * sizeof(T)];
  alignas(16) unsigned char run_bases_[kTiles * kThreads * sizeof(LaneRuns<Value, kRuns>)];
  alignas(16) unsigned char warp_totals_[kTiles * kTreeWarps * sizeof(Grouped)];
  alignas(16) unsigned char warp_bases_[kTiles * kTreeWarps * sizeof(Grouped)];
  alignas(16) unsigned char tile_totals_[kTiles * sizeof(Grouped)];
  alignas(16) unsigned char joined_totals_[kTiles * sizeof(Grouped)];
  alignas(16) unsigned char totals_before_[kTiles * sizeof(Grouped)];
  alignas(16) unsigned char carries_[kTiles * sizeof(Grouped)];
  TurnStages stages_;
  alignas(16) HeadBits<kItems> lane_heads_[kTiles * kThreads];
};

// Goes through a block's turns of tiles.
class TurnCursor : public RingCursor {
 public:
  __device__ explicit TurnCursor(const LookBackMemory& memory)
      : RingCursor(memory.turn_count, memory.turns_kept), memory_(memory) {}

  __device__ uint32_t first_tile() const { return turn() * memory_.turn_tiles; }
  __device__ int tile_count() const {
    return static_cast<int>(min(memory_.tile_count - first_tile(), memory_.turn_tiles));
  }

 private:
  const LookBackMemory& memory_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_TURN_CUH_
