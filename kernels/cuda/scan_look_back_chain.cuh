// What the tiles of a look-back scan tell each other, and how a tile finds its carry.
//
// Single-pass scan with look-back (Merrill, Garland 2016), in the fixed order of scan_tree.h:
// instead of joining whatever is known yet, a warp waits for exactly the values that the tree
// joins, so the bits do not depend on who came first. Only waiting is left to chance: the chain
// over blocks of tiles may be entered at any block whose carry is known, since the joins from there
// on are the same.
//
// Progress: tiles are taken in order by an atomic ticket, so whatever a tile waits for belongs to
// tiles that resident thread blocks have taken before.
//
// Visibility: a value is written, then its flag is stored with release order; a reader loads the
// flag with acquire order, then the value. Values are read by the thread that has read the flag.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CHAIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CHAIN_CUH_

#include <cstdint>
#include <cuda/atomic>

#include "kernels/cuda/scan_tile.cuh"

namespace gridfold::kernels::cuda {

using DeviceFlag = ::cuda::atomic_ref<uint32_t, ::cuda::thread_scope_device>;

template <class Operator>
class LookBackChain {
 public:
  using Grouped = GroupedOf<Operator>;
  static_assert(sizeof(Grouped) <= kGroupedValueBytesMax);

  __device__ LookBackChain(const Warp& warp, const LookBackMemory& memory)
      : warp_(warp),
        lane_(static_cast<int>(warp.thread_rank())),
        memory_(memory),
        tile_totals_(static_cast<Grouped*>(memory.tile_totals)),
        block_totals_(static_cast<Grouped*>(memory.block_totals)),
        block_carries_(static_cast<Grouped*>(memory.block_carries)) {}

  // Publishes the tile's total and returns its carry, in all lanes. `total` is the same in all.
  __device__ Grouped CarryOf(uint32_t tile, const Grouped& total) {
    const uint32_t block = tile / kScanTilesPerBlock;
    const int place = static_cast<int>(tile % kScanTilesPerBlock);
    const bool is_last = place == kScanTilesPerBlock - 1;
    // The last tile's total is needed by nobody else.
    if (lane_ == 0 && !is_last) Publish(tile_totals_[tile], memory_.tile_total_flags[tile], total);

    const Grouped joined = JoinTilesUpTo(block, place, total);
    if (lane_ == kScanTilesPerBlock - 1 && is_last) {
      Publish(block_totals_[block], memory_.block_total_flags[block], joined);
    }
    const Grouped carry = BlockCarry(block);
    if (lane_ == kScanTilesPerBlock - 1 && is_last) {
      Publish(block_carries_[block + 1], memory_.block_carry_flags[block + 1],
              CombineGrouped<Operator>(carry, joined));
    }
    const Grouped before = Shuffle(warp_, joined, place == 0 ? 0 : place - 1);
    return place == 0 ? carry : CombineGrouped<Operator>(carry, before);
  }

 private:
  __device__ static void Publish(Grouped& slot, uint32_t& flag, const Grouped& value) {
    slot = value;
    DeviceFlag(flag).store(1, ::cuda::memory_order_release);
  }
  __device__ static bool IsPublished(uint32_t& flag) {
    return DeviceFlag(flag).load(::cuda::memory_order_acquire) != 0;
  }

  // In lane l <= place: the doubling network over the totals of tiles 0 to l of the block.
  __device__ Grouped JoinTilesUpTo(uint32_t block, int place, const Grouped& total) {
    const uint32_t tile = block * kScanTilesPerBlock + lane_;
    const bool is_earlier = lane_ < place;
    while (!warp_.all(!is_earlier || IsPublished(memory_.tile_total_flags[tile]))) {
    }
    Grouped v = GroupedIdentity<Operator>();
    if (is_earlier) v = tile_totals_[tile];
    if (lane_ == place) v = total;
    return InclusiveWarpScan<Operator>(warp_, v);
  }

  // What precedes the block: block(b) of scan_tree.h, in all lanes. Lane l looks at the carry into
  // block b - l and at the total of block b - l - 1, which leads from there to the next carry.
  __device__ Grouped BlockCarry(uint32_t block) {
    const bool is_block = static_cast<uint32_t>(lane_) <= block;
    const uint32_t looked_at = is_block ? block - lane_ : 0;
    const int nearest = AwaitChain(is_block, looked_at);
    Grouped v = GroupedIdentity<Operator>();
    if (lane_ == nearest && (looked_at > 0 || memory_.has_carry)) v = block_carries_[looked_at];
    if (lane_ < nearest) v = block_totals_[looked_at - 1];

    Grouped carry = Shuffle(warp_, v, nearest);
    for (int l = nearest - 1; l >= 0; --l) {
      carry = CombineGrouped<Operator>(carry, Shuffle(warp_, v, l));
    }
    return carry;
  }

  // Waits until a carry is known from which the totals lead up to the block; returns its lane. The
  // carry into block 0 is known to begin with.
  __device__ int AwaitChain(bool is_block, uint32_t looked_at) {
    for (;;) {
      const bool has_carry =
          is_block && (looked_at == 0 || IsPublished(memory_.block_carry_flags[looked_at]));
      const bool has_total =
          is_block && looked_at > 0 && IsPublished(memory_.block_total_flags[looked_at - 1]);
      const uint32_t carries = warp_.ballot(has_carry);
      const uint32_t totals = warp_.ballot(has_total);
      if (carries == 0) continue;
      const int nearest = __ffs(static_cast<int>(carries)) - 1;
      const uint32_t needed = (1u << nearest) - 1;
      if ((totals & needed) == needed) return nearest;
    }
  }

  const Warp& warp_;
  const int lane_;
  const LookBackMemory& memory_;
  Grouped* const tile_totals_;
  Grouped* const block_totals_;
  Grouped* const block_carries_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_LOOK_BACK_CHAIN_CUH_
