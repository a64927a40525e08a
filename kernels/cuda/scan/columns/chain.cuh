// The tiles of a scan along axis 0 tell each other their totals, and a tile finds its carries in
// these: in every column by itself, as scan/positions/look_back_chain.cuh does in a row, and with
// the same promise of progress. Lanes stand for the columns of a strip, whose words lie beside each
// other.
//
// Example, two columns of a strip, tiles with totals (1, 10) and (2, 20):
//
//   lane 0: the carry of tile 2 is 1 + 2      lane 1: it is 10 + 20
//   both lanes read words that lie beside each other, in one access of the warp
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CHAIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CHAIN_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/cuda/scan/base/word.cuh"
#include "kernels/cuda/scan/columns/kernels.h"

namespace gridfold::kernels::cuda {

// What warps of a block do for its turns, each lane for a column at a time; the warp that waits for
// tiles is not to be the one that waits for blocks, or turns would wait for both one after the
// other. That warp looks at the totals of kTileWindow tiles together.
template <class Operator, uint32_t kTileWindow>
class ColumnChain {
 public:
  using Value = typename Operator::Value;

  __device__ ColumnChain(const ColumnScanShape& shape, const ColumnLookBackMemory& memory)
      : shape_(shape),
        memory_(memory),
        warp_(cooperative_groups::tiled_partition<kScanLanes>(
            cooperative_groups::this_thread_block())),
        lane_(threadIdx.x % kScanLanes) {}

  // A lane's column of a strip, if there is one.
  struct Lane {
    uint32_t strip_column;
    uint64_t column;
    bool has_column;
  };
  // The lane for the strip's `half`-th kScanLanes columns.
  __device__ Lane LaneOf(uint32_t strip, uint32_t half) const {
    const uint32_t strip_column = half * kScanLanes + lane_;
    const uint64_t column = uint64_t{strip} * shape_.strip_columns + strip_column;
    return {strip_column, column, strip_column < shape_.strip_columns && column < shape_.columns};
  }

  // Tells others a tile's total. What ends a block is in the block's total; what ends a column is
  // needed by nobody.
  __device__ void PublishTotal(uint32_t tile, const Lane& lane, const Value& total) const {
    if (EndsBlock(tile) || tile == shape_.tile_count - 1 || !lane.has_column) return;
    Publish(total, WordsAt(memory_.tile_totals, tile, lane.column));
  }

  // Waits until the tiles beside this one have been totalled, or those before them where nobody is
  // told their totals: lanes 0 and 1 look to the left and to the right.
  __device__ void AwaitNeighbours(uint32_t tile, uint32_t strip) const {
    const auto tells = [&](uint32_t t) { return !EndsBlock(t) && t != shape_.tile_count - 1; };
    if (!tells(tile) && (tile == 0 || !tells(--tile))) return;
    const bool has_left = lane_ == 0 && strip > 0;
    const bool has_right = lane_ == 1 && strip + 1 < shape_.strip_count;
    const uint64_t column = uint64_t{has_left ? strip - 1 : strip + 1} * shape_.strip_columns;
    Await(has_left || has_right, false, [&] {
      Value total;
      return Read(WordsAt(memory_.tile_totals, tile, column), total);
    });
  }

  // Joins the totals of the tiles before in the tile's block, from left to right, as they come.
  __device__ Value JoinTilesBefore(uint32_t tile, const Lane& lane) const {
    return JoinAsTheyCome(Operator::Identity(), memory_.tile_totals,
                          tile / kScanTilesPerBlock * kScanTilesPerBlock, tile, lane);
  }
  // Goes from what precedes block `from` of the tiles to what precedes block `to`.
  __device__ Value CarryFrom(uint32_t from, const Value& carry, uint32_t to,
                             const Lane& lane) const {
    return JoinAsTheyCome(carry, memory_.block_totals, from, to, lane);
  }

  // Where a tile ends a block of tiles that others follow: tells others the block's total, or what
  // precedes the next one.
  __device__ void PublishBlockTotal(uint32_t tile, const Lane& lane, const Value& total) const {
    if (!LeadsOn(tile) || !lane.has_column) return;
    Publish(total, WordsAt(memory_.block_totals, tile / kScanTilesPerBlock, lane.column));
  }
  __device__ void PublishCarry(uint32_t tile, const Lane& lane, const Value& carry) const {
    if (!LeadsOn(tile) || !lane.has_column) return;
    Publish(carry, WordsAt(memory_.block_carries, tile / kScanTilesPerBlock, lane.column));
  }

  // Waits for what precedes the tile's block.
  __device__ Value CarryInto(uint32_t tile, const Lane& lane) const {
    const uint32_t block = tile / kScanTilesPerBlock;
    Value carry = Operator::Identity();
    if (block == 0) return carry;
    // Where strips are many it is known long before.
    const bool is_known = shape_.has_many_strips() && lane.has_column &&
                          Read(WordsAt(memory_.block_carries, block - 1, lane.column), carry);
    Await(lane.has_column && !is_known, shape_.strip_columns > kScanLanes / 2,
          [&] { return FindBlockCarry(block, lane.column, carry); });
    return carry;
  }

 private:
  // Blocks whose totals and carries are looked at together.
  static constexpr uint32_t kWindow = kTileWindow / 2;

  __device__ static bool EndsBlock(uint32_t tile) {
    return tile % kScanTilesPerBlock == kScanTilesPerBlock - 1;
  }
  __device__ bool LeadsOn(uint32_t tile) const {
    return EndsBlock(tile) && tile != shape_.tile_count - 1;
  }
  __device__ LookBackWord* WordsAt(LookBackWord* words, uint32_t index, uint64_t column) const {
    return words + (index * shape_.word_columns + column) * kValueWords<Value>;
  }
  __device__ static void Publish(const Value& value, LookBackWord* words) {
    PublishValue(GroupedValue<Value>{value, false}, words);
  }
  __device__ static bool Read(const LookBackWord* words, Value& value) {
    GroupedValue<Value> read;
    const bool is_there = ReadValue(words, read);
    value = read.value;
    return is_there;
  }

  // Calls attempt() until it has returned true in all lanes that take part. Where `one_for_all`,
  // and while there is nothing to be seen, one lane tries for all: what is waited for comes for all
  // at about the same time, and the looks of all lanes would be in the way of other traffic.
  template <class Attempt>
  __device__ void Await(bool takes_part, bool one_for_all, Attempt&& attempt) const {
    constexpr uint32_t kAll = ~0u;
    bool is_over = !takes_part;
    uint32_t trying = kAll;
    for (;;) {
      if (!is_over && (trying >> lane_ & 1) != 0) is_over = attempt();
      const uint32_t waiting = warp_.ballot(!is_over);
      if (waiting == 0) return;
      if (!one_for_all) continue;
      const bool has_come = trying != kAll && (trying & waiting) == 0;
      trying = has_come ? kAll : waiting & (~waiting + 1);
    }
  }

  // Joins the values from `begin` to `end` to `joined`, from left to right, as they come.
  __device__ Value JoinAsTheyCome(Value joined, LookBackWord* words, uint32_t begin, uint32_t end,
                                  const Lane& lane) const {
#pragma unroll 1
    for (; begin < end; begin += kTileWindow) {
      // Values that have been seen are not looked at again.
      ValueWords<Value> seen[kTileWindow];
      const uint32_t count = min(kTileWindow, end - begin);
      uint32_t missing = ~0u >> (32 - count);
      Await(lane.has_column, shape_.has_many_strips(), [&] {
#pragma unroll
        for (uint32_t i = 0; i < kTileWindow; ++i) {
          LookAtValue((missing >> i & 1) != 0, WordsAt(words, begin + i, lane.column), seen[i]);
        }
#pragma unroll
        for (uint32_t i = 0; i < kTileWindow; ++i) {
          GroupedValue<Value> value;
          if ((missing >> i & 1) != 0 && ValueOf(seen[i], value)) missing &= ~(1u << i);
        }
        return missing == 0;
      });
      if (!lane.has_column) continue;
#pragma unroll
      for (uint32_t i = 0; i < kTileWindow; ++i) {
        if (i >= count) continue;
        GroupedValue<Value> value;
        ValueOf(seen[i], value);
        joined = Operator::Combine(joined, value.value);
      }
    }
    return joined;
  }

  // What precedes the block: from the nearest carry that is known, and the totals of the blocks
  // from there on. Returns whether all of these are there. Requires block > 0.
  __device__ bool FindBlockCarry(uint32_t block, uint64_t column, Value& carry) const {
    Value carries[kWindow];
    Value totals[kWindow];
    bool is_carry[kWindow];
    bool is_total[kWindow];
    // The carry into block b is the (b - 1)st, and joined with that block's total it leads to the
    // b-th. Nothing precedes block 0.
#pragma unroll
    for (uint32_t i = 0; i < kWindow; ++i) {
      const uint32_t looked_at = block > i ? block - i - 1 : 0;
      is_carry[i] = Read(WordsAt(memory_.block_carries, looked_at, column), carries[i]);
      is_total[i] = Read(WordsAt(memory_.block_totals, looked_at, column), totals[i]);
    }
    bool is_known = false;
    Value known = Operator::Identity();
#pragma unroll
    for (uint32_t step = 0; step < kWindow; ++step) {
      // totals[i] leads from the carry into the block before to carries[i].
      const uint32_t i = kWindow - 1 - step;
      if (block <= i) continue;
      if (block - i == 1) {
        known = Operator::Identity();
        is_known = true;
      }
      is_known = is_known && is_total[i];
      known = Operator::Combine(known, totals[i]);
      if (is_carry[i]) {
        known = carries[i];
        is_known = true;
      }
    }
    carry = known;
    return is_known;
  }

  const ColumnScanShape& shape_;
  const ColumnLookBackMemory& memory_;
  const Warp warp_;
  const uint32_t lane_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_CHAIN_CUH_
