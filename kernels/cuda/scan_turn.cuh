// What a block of a look-back scan keeps of a turn, in shared memory, and where it keeps it.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_TURN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_TURN_CUH_

#include <cstdint>

#include "kernels/cuda/scan_tile.cuh"
#include "kernels/cuda/scan_turn_ring.cuh"

namespace gridfold::kernels::cuda {

// A turn's elements and what the block's warps tell each other about it. Shared memory has no
// constructors: values are bytes to begin with.
template <class Operator, class T, int kItems, ScanTurnShape kShape>
class Turn {
 public:
  using Value = typename Operator::Value;
  using Grouped = GroupedOf<Operator>;

  static constexpr int kTileSize = kItems * kScanThreads;

  __device__ TurnStages& stages() { return stages_; }

  __device__ T* piece(int tile, int warp) {
    return reinterpret_cast<T*>(element_bytes_) + tile * kTileSize +
           warp * (kTileSize / kScanWarps);
  }
  __device__ Grouped& warp_total(int tile, int warp) {
    return At<Grouped>(warp_totals_, tile * kScanWarps + warp);
  }
  // What precedes a warp in its tile.
  __device__ Grouped& warp_base(int tile, int warp) {
    return At<Grouped>(warp_bases_, tile * kScanWarps + warp);
  }
  __device__ Grouped& tile_total(int tile) { return At<Grouped>(tile_totals_, tile); }
  // The totals of the tile's block up to and including the tile, and what precedes the tile in it.
  __device__ Grouped& joined_total(int tile) { return At<Grouped>(joined_totals_, tile); }
  __device__ Grouped& total_before(int tile) { return At<Grouped>(totals_before_, tile); }
  __device__ Grouped& carry(int tile) { return At<Grouped>(carries_, tile); }
  // For the calling thread only: what precedes its run in its warp, and where groups start in it.
  __device__ Value& run_base(int tile) { return At<Value>(run_bases_, RunIndex(tile)); }
  __device__ HeadBits<kItems>& run_heads(int tile) { return run_heads_[RunIndex(tile)]; }
  // Those of a warp's runs.
  __device__ HeadBits<kItems>* piece_heads(int tile, int warp) {
    return run_heads_ + tile * kScanThreads + warp * kScanLanes;
  }

 private:
  static constexpr int kTiles = kShape.tiles;

  template <class V>
  __device__ static V& At(unsigned char* bytes, int index) {
    return reinterpret_cast<V*>(bytes)[index];
  }
  __device__ static int RunIndex(int tile) {
    return tile * kScanThreads + static_cast<int>(threadIdx.x) % kScanThreads;
  }

  alignas(128) unsigned char element_bytes_[kTiles * kTileSize * sizeof(T)];
  alignas(16) unsigned char run_bases_[kTiles * kScanThreads * sizeof(Value)];
  alignas(16) unsigned char warp_totals_[kTiles * kScanWarps * sizeof(Grouped)];
  alignas(16) unsigned char warp_bases_[kTiles * kScanWarps * sizeof(Grouped)];
  alignas(16) unsigned char tile_totals_[kTiles * sizeof(Grouped)];
  alignas(16) unsigned char joined_totals_[kTiles * sizeof(Grouped)];
  alignas(16) unsigned char totals_before_[kTiles * sizeof(Grouped)];
  alignas(16) unsigned char carries_[kTiles * sizeof(Grouped)];
  TurnStages stages_;
  alignas(16) HeadBits<kItems> run_heads_[kTiles * kScanThreads];
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

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_TURN_CUH_
