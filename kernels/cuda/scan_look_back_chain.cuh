// What the tiles of a look-back scan tell each other, and how a turn's tiles find their carries.
//
// Single-pass scan with look-back (Merrill, Garland 2016), in the fixed order of scan_tree.h:
// instead of joining whatever is known yet, a warp waits for exactly the values that the tree
// joins, so the bits do not depend on who came first. Only waiting is left to chance: the chain
// over blocks of tiles may be entered at any block whose carry is known, since the joins from there
// on are the same.
//
// Progress: all thread blocks are resident (a cooperative launch), and each works on its turns in
// order, so the first turn that is not over waits for nobody.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CHAIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CHAIN_CUH_

#include <cstdint>

#include "kernels/cuda/scan_tile.cuh"
#include "kernels/cuda/scan_word.cuh"

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
    // What ends a block is in the block's total, and needed by nobody else.
    if (tile % kScanTilesPerBlock == kScanTilesPerBlock - 1) return;
    PublishValue(total, TileWords(tile));
  }

  // Joins the totals of a block's tiles: returns u(l) of scan_tree.h in lane l, which stands for
  // the tile at place l of the block. The lanes of the turn's `tile_count` tiles bring their
  // totals; those before are waited for, those behind have no result. Where the turn ends the
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
      PublishValue(joined, BlockWords(memory_.block_totals, first_tile / kScanTilesPerBlock));
    }
    return joined;
  }

  // Waits for what precedes the block: block(b) of scan_tree.h, in all lanes. Lane l looks at the
  // carry into block b - l and at the total of block b - l - 1, which leads from there to the next
  // carry.
  __device__ Grouped CarryInto(uint32_t block) const {
    const bool is_block = static_cast<uint32_t>(lane_) <= block;
    const uint32_t looked_at = is_block ? block - lane_ : 0;
    const bool has_total = is_block && looked_at > 0;
    Grouped known = FirstCarry();
    Grouped total;
    bool is_known = is_block && looked_at == 0;
    bool is_total = false;
    int nearest;
    for (;;) {
      if (has_total && !is_known) {
        is_known = ReadValue(BlockWords(memory_.block_carries, looked_at), known);
      }
      if (has_total && !is_total) {
        is_total = ReadValue(BlockWords(memory_.block_totals, looked_at - 1), total);
      }
      const uint32_t carries = warp_.ballot(is_known);
      const uint32_t totals = warp_.ballot(is_total);
      if (carries == 0) continue;
      nearest = __ffs(static_cast<int>(carries)) - 1;
      const uint32_t needed = (1u << nearest) - 1;
      if ((totals & needed) == needed) break;
    }
    Grouped carry = Shuffle(warp_, known, nearest);
#pragma unroll 4
    for (int l = nearest - 1; l >= 0; --l) {
      carry = CombineGrouped<Operator>(carry, Shuffle(warp_, total, l));
    }
    return carry;
  }

  // Tells others what precedes a block. One lane alone.
  __device__ void PublishCarry(uint32_t block, const Grouped& carry) const {
    PublishValue(carry, BlockWords(memory_.block_carries, block));
  }

 private:
  __device__ LookBackWord* TileWords(uint32_t tile) const {
    return memory_.tile_totals + uint64_t{tile} * kValueWords<Value>;
  }
  __device__ static LookBackWord* BlockWords(LookBackWord* words, uint32_t block) {
    return words + uint64_t{block} * kLookBackBlockPitch;
  }

  __device__ Grouped FirstCarry() const {
    if (memory_.first_carry == nullptr) return GroupedIdentity<Operator>();
    return *static_cast<const Grouped*>(memory_.first_carry);
  }

  const Warp& warp_;
  const int lane_;
  const LookBackMemory& memory_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CHAIN_CUH_
