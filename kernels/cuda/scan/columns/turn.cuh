// A block of a scan along axis 0 keeps a turn in shared memory, in the places that are said here. A
// turn is a tile of a strip.
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_TURN_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_TURN_CUH_

#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/scan/base/bulk_copy.cuh"
#include "kernels/cuda/scan/base/tile.cuh"
#include "kernels/cuda/scan/base/turn_ring.cuh"
#include "kernels/cuda/scan/columns/kernels.h"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

// Whether what a warp copies to shared memory has come.
class CopyBarrier {
 public:
  // One thread, before the block meets.
  __device__ void Initialise() { __mbarrier_init(&barrier_, kScanLanes); }
  // All lanes, each after it has begun its copies, whose end is its one arrival.
  __device__ void Commit() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];"
                 :
                 : "r"(SharedAddress(&barrier_))
                 : "memory");
  }
  // A lane that has yet to commit.
  __device__ void BeginBulkLoad(void* shared, const void* memory, uint32_t bytes) {
    cuda::BeginBulkLoad(shared, memory, bytes, &barrier_);
  }
  // `lap`: how often copies have come before.
  __device__ bool IsOver(uint32_t lap) {
    return __mbarrier_test_wait_parity(&barrier_, (lap & 1) != 0);
  }

 private:
  __mbarrier_t barrier_;
};

// Shared memory has no constructors: values are bytes to begin with. `kHasRuns`: whether a warp may
// have several runs of a column. `kColumns`: the most columns of a strip.
template <class Value, bool kHasRuns, uint32_t kColumns>
class ColumnTurn {
 public:
  // One thread, before the block meets.
  __device__ void Initialise() {
    stages_.Initialise(kColumnScanThreads, kColumns);
    for (CopyBarrier& copies : copies_) copies.Initialise();
  }

  __device__ TurnStages& stages() { return stages_; }
  __device__ CopyBarrier& copies(uint32_t warp) { return copies_[warp]; }

  // The total of a warp's rows in a column, whose place what precedes them in the tile takes when
  // it is published.
  __device__ Value& warp_value(uint32_t warp, uint32_t column) {
    return At(warp_values_, warp * kColumns + column);
  }
  __device__ Value& tile_total(uint32_t column) { return At(tile_totals_, column); }
  // The totals of the tiles before in the tile's block of tiles.
  __device__ Value& total_before(uint32_t column) { return At(totals_before_, column); }
  __device__ Value& carry(uint32_t column) { return At(carries_, column); }
  // What precedes the calling thread's run in its warp; for that thread only.
  __device__ Value& run_base() {
    static_assert(kHasRuns);
    return At(run_bases_, threadIdx.x % kColumnScanThreads);
  }

 private:
  __device__ static Value& At(unsigned char* bytes, uint32_t index) {
    return reinterpret_cast<Value*>(bytes)[index];
  }

  alignas(16) unsigned char warp_values_[kScanColumnWarps * kColumns * sizeof(Value)];
  alignas(16) unsigned char run_bases_[kHasRuns ? kColumnScanThreads * sizeof(Value) : 16];
  alignas(16) unsigned char tile_totals_[kColumns * sizeof(Value)];
  alignas(16) unsigned char totals_before_[kColumns * sizeof(Value)];
  alignas(16) unsigned char carries_[kColumns * sizeof(Value)];
  TurnStages stages_;
  CopyBarrier copies_[kScanColumnWarps];
};

// Goes through a block's turns: all strips' first tiles, then all strips' second ones and so on.
class ColumnTurnCursor : public RingCursor {
 public:
  __device__ ColumnTurnCursor(const ColumnScanShape& shape, uint32_t turns_kept)
      : RingCursor(shape.strip_count * shape.tile_count, turns_kept),
        strip_count_(shape.strip_count) {}

  // Goes `turns` on.
  __device__ void Skip(uint32_t turns) {
    for (uint32_t i = 0; i < turns; ++i) Advance();
  }

  __device__ uint32_t tile() const { return turn() / strip_count_; }
  __device__ uint32_t strip() const { return turn() % strip_count_; }

 private:
  const uint32_t strip_count_;
};

// What a scanning warp does from the cursor `first` on, with each `teams`-th turn, whatever can be
// done next: a turn that has come is totalled, for others wait for it, else one whose carries are
// there is written. `in_step`: writes a turn for each that is totalled, so that blocks stay beside
// each other; each of them then waits for one that is loaded ahead.
//
// Each of the steps is a function of a cursor, and all lanes take it together: `load` begins
// copies, `has_come` and `is_carried` are asked by each lane, and `write` leaves the warp's part of
// the turn to the next load.
template <class Cursor, class Load, class HasCome, class Total, class IsCarried, class Write>
__device__ void ScanTurnsAsTheyCome(const Warp& warp, const Cursor& first, uint32_t teams,
                                    uint32_t turns_kept, bool in_step, Load&& load,
                                    HasCome&& has_come, Total&& total, IsCarried&& is_carried,
                                    Write&& write) {
  Cursor loaded = first;
  Cursor totalled = first;
  Cursor written = first;
  uint32_t on_their_way = 0;
  uint32_t waiting = 0;
  while (written) {
    for (; loaded && on_their_way + waiting < turns_kept; ++on_their_way) {
      load(loaded);
      loaded.Skip(teams);
    }
    const bool may_total =
        on_their_way > 0 && (!in_step || waiting == 0 || waiting + 1 < turns_kept);
    const bool may_write = waiting > 0 && !(in_step && may_total);
    if (may_total && warp.any(has_come(totalled))) {
      __syncwarp();
      total(totalled);
      totalled.Skip(teams);
      --on_their_way;
      ++waiting;
    } else if (may_write && warp.any(is_carried(written))) {
      __syncwarp();
      write(written);
      written.Skip(teams);
      --waiting;
    }
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_COLUMNS_TURN_CUH_
