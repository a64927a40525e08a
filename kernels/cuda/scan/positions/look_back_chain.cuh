// The tiles of a look-back scan tell each other their totals, and a turn's tiles find their carries
// in these.
//
// The method is the single-pass scan with look-back (Merrill, Garland 2016), in the fixed order of
// numerics/scans/tree.h: instead of joining whatever is known yet, a warp waits for exactly the
// values that the tree joins, so the bits do not depend on who came first. A block of threads goes
// along the chain over blocks of tiles from its turn before, so nobody waits for a carry of
// another.
//
// Example: blocks of four tiles with totals 1 2 3 4 | 5 6 ...; the carry of tile 5:
//
//   of its block:    block(1) = block(0) + (1 + 2 + 3 + 4) = 10
//   within it:       u = 5, the total of tile 4
//   carry:           10 + 5, joined in this order whenever the totals came
//
// Progress: all thread blocks are resident (a cooperative launch), and each works on its turns in
// order, so the first turn that is not over waits for nobody.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_CHAIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_CHAIN_CUH_

#include <cstdint>

#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/cuda/scan/base/word.cuh"

namespace gridfold::kernels::cuda {

// What warps of a block do for its turns; the two that wait are not to be the same, or turns would
// wait for both one after the other.
template <class Operator>
class LookBackChain {
 public:
  using Value = typename Operator::Value;
  using Grouped = GroupedOf<Operator>;

  __device__ LookBackChain(const Warp& warp, const LookBackMemory& memory)
      : warp_(warp), lane_(static_cast<int>(warp.thread_rank())), memory_(memory) {}

  // Tells others a tile's total. One lane alone.
  __device__ void PublishTotal(uint32_t tile, const Grouped& total) const {
    PublishValue(total, TileWords(tile));
  }

  // Joins the totals of a block's tiles: returns u(l) of numerics/scans/tree.h in lane l, which
  // stands for the tile at place l of the block. The lanes of the turn's `tile_count` tiles bring
  // their totals; those before are waited for, those behind have no result. Where the turn ends the
  // block, others are told the block's total.
  __device__ Grouped JoinTotals(uint32_t first_tile, int tile_count, const Grouped& total) const {
    const int place = static_cast<int>(first_tile % kScanTilesPerBlock);
    Grouped v = lane_ >= place && lane_ < place + tile_count ? total : GroupedIdentity<Operator>();
    if (lane_ < place) {
      const LookBackWord* const words =
          TileWords(first_tile - static_cast<uint32_t>(place - lane_));
      while (!ReadValue(words, v)) {
      }
    }
    warp_.sync();
    const Grouped joined = InclusiveWarpScan<Operator>(warp_, v);
    if (lane_ == kScanTilesPerBlock - 1 && place + tile_count == kScanTilesPerBlock) {
      PublishValue(joined, BlockWords(first_tile / kScanTilesPerBlock));
    }
    return joined;
  }

  // block(0) of numerics/scans/tree.h.
  __device__ Grouped FirstCarry() const {
    if (memory_.first_carry == nullptr) return GroupedIdentity<Operator>();
    return *static_cast<const Grouped*>(memory_.first_carry);
  }

  // Goes from what precedes block `from` to what precedes block `to`: waits for the totals between
  // and joins them, in all lanes. Lane l looks at the total of block from + l; all look at the
  // tiles of the first block that has none yet, which may be there a way through memory earlier.
  __device__ Grouped CarryFrom(uint32_t from, Grouped carry, uint32_t to) const {
    for (; from < to; from += kScanLanes) {
      const int count = static_cast<int>(min(to - from, static_cast<uint32_t>(kScanLanes)));
      Grouped total = GroupedIdentity<Operator>();
      bool is_there = lane_ >= count;
      for (int joined = 0; joined < count;) {
        if (!is_there) is_there = ReadValue(BlockWords(from + lane_), total);
        const uint32_t missing = ~warp_.ballot(is_there);
        const int known = missing == 0 ? count : min(__ffs(static_cast<int>(missing)) - 1, count);
#pragma unroll 4
        for (; joined < known; ++joined) {
          carry = CombineGrouped<Operator>(carry, Shuffle(warp_, total, joined));
        }
        Grouped of_tiles;
        if (joined < count && TotalOfTiles(from + joined, of_tiles)) {
          carry = CombineGrouped<Operator>(carry, of_tiles);
          is_there |= lane_ == joined;
          ++joined;
        }
      }
    }
    return carry;
  }

 private:
  // Joins the totals of all tiles of the block, in all lanes, where they are there; returns whether
  // they are.
  __device__ bool TotalOfTiles(uint32_t block, Grouped& total) const {
    Grouped v = GroupedIdentity<Operator>();
    const bool is_there = ReadValue(TileWords(block * kScanTilesPerBlock + lane_), v);
    if (!warp_.all(is_there)) return false;
    total = Shuffle(warp_, InclusiveWarpScan<Operator>(warp_, v), kScanTilesPerBlock - 1);
    return true;
  }

  __device__ LookBackWord* TileWords(uint32_t tile) const {
    return memory_.tile_totals + uint64_t{tile} * kValueWords<Value>;
  }
  __device__ LookBackWord* BlockWords(uint32_t block) const {
    return memory_.block_totals + uint64_t{block} * kLookBackBlockPitch;
  }

  const Warp& warp_;
  const int lane_;
  const LookBackMemory& memory_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_POSITIONS_LOOK_BACK_CHAIN_CUH_
