// What the tiles of a scan along axis 0 tell each other, and how a tile finds its carries: in every
// column by itself, as scan_look_back_chain.cuh does in a row, and with the same promise of
// progress. Lanes stand for the columns of a strip, whose words lie beside each other.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_CHAIN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_CHAIN_CUH_

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/scan_column_kernels.h"
#include "kernels/cuda/scan_tile.cuh"
#include "kernels/cuda/scan_word.cuh"

namespace gridfold::kernels::cuda {

template <class Operator>
class ColumnChain {
 public:
  using Value = typename Operator::Value;

  // What the block's warps tell each other of a tile. Shared memory has no constructors: values are
  // bytes to begin with.
  class Shared {
   public:
    __device__ Value& warp_total(uint32_t warp, uint32_t column) {
      return reinterpret_cast<Value*>(warp_totals_)[warp * kScanLanes + column];
    }
    // The totals of the tiles before in the tile's block.
    __device__ Value& joined(uint32_t column) { return reinterpret_cast<Value*>(joined_)[column]; }
    __device__ Value& carry(uint32_t column) { return reinterpret_cast<Value*>(carries_)[column]; }

    // The totals of the first `count` warps joined from left to right.
    __device__ Value JoinWarps(uint32_t count, uint32_t column) {
      Value joined = Operator::Identity();
      for (uint32_t w = 0; w < count; ++w)
        joined = Operator::Combine(joined, warp_total(w, column));
      return joined;
    }

   private:
    alignas(16) unsigned char warp_totals_[kScanColumnWarps * kScanLanes * sizeof(Value)];
    alignas(16) unsigned char joined_[kScanLanes * sizeof(Value)];
    alignas(16) unsigned char carries_[kScanLanes * sizeof(Value)];
  };

  __device__ ColumnChain(const ColumnScanShape& shape, const ColumnLookBackMemory& memory,
                         Shared& shared)
      : shape_(shape),
        memory_(memory),
        shared_(shared),
        warp_(cooperative_groups::tiled_partition<kScanLanes>(
            cooperative_groups::this_thread_block())),
        lane_(threadIdx.x % kScanLanes),
        warp_in_block_(threadIdx.x / kScanLanes) {}

  // From the totals of the tile's warps to its carries, in `shared`. All threads of the block,
  // which has met since the totals were written; it meets once more before this returns.
  __device__ void CarryInto(uint32_t tile, uint32_t strip) const {
    if (shape_.tile_count > 1) {
      const uint64_t column = uint64_t{strip} * shape_.strip_columns + lane_;
      const bool has_column = lane_ < shape_.strip_columns && column < shape_.columns;
      const uint32_t place = tile % kScanTilesPerBlock;
      Value total = Operator::Identity();
      if (warp_in_block_ == 0 && has_column) {
        total = shared_.JoinWarps(kScanColumnWarps, lane_);
        PublishTotal(tile, column, total);
      }
      JoinTilesBefore(tile - place, place, column, has_column);
      if (warp_in_block_ == 0) LookBack(tile, column, has_column, total);
    } else if (warp_in_block_ == 0) {
      shared_.carry(lane_) = Operator::Identity();
    }
    __syncthreads();
  }

 private:
  // Tiles of a block whose totals a warp joins, and values that are looked at together.
  static constexpr int kPlaces = kScanTilesPerBlock / kScanColumnWarps;
  static constexpr int kWindow = sizeof(Value) <= 8 ? 8 : 2;
  static_assert(kPlaces % kWindow == 0);

  __device__ LookBackWord* WordsAt(LookBackWord* words, uint32_t index, uint64_t column) const {
    return words + (index * shape_.columns + column) * kValueWords<Value>;
  }
  __device__ void Publish(const Value& value, LookBackWord* words) const {
    PublishValue(GroupedValue<Value>{value, false}, words);
  }
  __device__ static bool Read(const LookBackWord* words, Value& value) {
    GroupedValue<Value> read;
    const bool is_there = ReadValue(words, read);
    value = read.value;
    return is_there;
  }

  // What ends a block is in the block's total; what ends a column is needed by nobody.
  __device__ void PublishTotal(uint32_t tile, uint64_t column, const Value& total) const {
    const bool ends_block = tile % kScanTilesPerBlock == kScanTilesPerBlock - 1;
    if (ends_block || tile == shape_.tile_count - 1) return;
    Publish(total, WordsAt(memory_.tile_totals, tile, column));
  }

  // Calls attempt() until it has returned true in all lanes that take part. While there is nothing
  // to be seen one lane tries for all: what is waited for comes for all at about the same time, and
  // the looks of all lanes would be in the way of other traffic.
  template <class Attempt>
  __device__ void Await(bool takes_part, Attempt&& attempt) const {
    constexpr uint32_t kAll = ~0u;
    bool is_over = !takes_part;
    uint32_t trying = kAll;
    for (;;) {
      if (!is_over && (trying >> lane_ & 1) != 0) is_over = attempt();
      const uint32_t waiting = warp_.ballot(!is_over);
      if (waiting == 0) return;
      const bool has_come = trying != kAll && (trying & waiting) == 0;
      trying = has_come ? kAll : waiting & (~waiting + 1);
    }
  }

  // Joins the totals of the `place` tiles from first_tile on, from left to right. Each warp reads
  // those of some.
  __device__ void JoinTilesBefore(uint32_t first_tile, uint32_t place, uint64_t column,
                                  bool has_column) const {
    const uint32_t first = warp_in_block_ * kPlaces;
    Value totals[kPlaces];
#pragma unroll
    for (uint32_t begin = 0; begin < kPlaces; begin += kWindow) {
      if (first + begin >= place) break;
      Await(has_column, [&] {
        bool are_there = true;
#pragma unroll
        for (uint32_t i = begin; i < begin + kWindow; ++i) {
          const uint32_t tile = first_tile + min(first + i, place - 1);
          are_there &= Read(WordsAt(memory_.tile_totals, tile, column), totals[i]);
        }
        return are_there;
      });
    }
    for (uint32_t w = 0; w * kPlaces < place; ++w) {
      if (warp_in_block_ == w) {
        Value joined = w == 0 ? Operator::Identity() : shared_.joined(lane_);
#pragma unroll
        for (uint32_t i = 0; i < kPlaces; ++i) {
          if (has_column && first + i < place) joined = Operator::Combine(joined, totals[i]);
        }
        shared_.joined(lane_) = joined;
      }
      __syncthreads();
    }
  }

  // One warp.
  __device__ void LookBack(uint32_t tile, uint64_t column, bool has_column,
                           const Value& total) const {
    const uint32_t place = tile % kScanTilesPerBlock;
    const uint32_t block = tile / kScanTilesPerBlock;
    const bool ends_block = place == kScanTilesPerBlock - 1 && tile != shape_.tile_count - 1;
    const Value joined = place == 0 ? Operator::Identity() : shared_.joined(lane_);
    const Value block_total = Operator::Combine(joined, total);
    if (ends_block && has_column) {
      Publish(block_total, WordsAt(memory_.block_totals, block, column));
    }
    Value carry = Operator::Identity();
    if (block > 0) {
      // Where strips are many it is known long before.
      const bool is_known =
          has_column && Read(WordsAt(memory_.block_carries, block - 1, column), carry);
      Await(has_column && !is_known, [&] { return FindBlockCarry(block, column, carry); });
    }
    if (ends_block && has_column) {
      Publish(Operator::Combine(carry, block_total), WordsAt(memory_.block_carries, block, column));
    }
    shared_.carry(lane_) = Operator::Combine(carry, joined);
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
  Shared& shared_;
  const Warp warp_;
  const uint32_t lane_;
  const uint32_t warp_in_block_;
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMN_CHAIN_CUH_
