// The ring of turns of a scan whose warps have roles: a block of threads works on several turns at
// a time, each at another stage, so that neither memory nor other blocks are waited for while there
// is something to do. Scanning warps load, total and write each its own part of a turn; one warp
// publishes totals, one joins those of a block of tiles, one looks back for what precedes it.
//
// Whoever waits for other blocks has nothing left to tell them, so no turn waits for the one
// before.
//
// Example, a block with three turns in flight; T1 is the oldest:
//
//   T1 is carried: scanning warps write its results
//   T2 is totalled and published: one warp looks back for its carry
//   T3 is on its way: copies bring its elements, and scanning warps will total it next
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_TURN_RING_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_TURN_RING_CUH_

#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/numerics/scans/tree.h"

namespace gridfold::kernels::cuda {

// The stages of a turn, each of which is over when all threads that have a part in it have arrived.
enum class TurnStage { kTotalled, kPublished, kJoined, kCarried };
inline constexpr int kTurnStages = 4;

// How far a turn has come. Shared memory has no constructors: barriers are bytes to begin with.
class TurnStages {
 public:
  // One thread, before the block meets. `waiting_threads`: of the warps that join totals, and of
  // those that look back.
  __device__ void Initialise(int scanning_threads, int waiting_threads = kScanLanes) {
    __mbarrier_init(&barrier(TurnStage::kTotalled), scanning_threads);
    __mbarrier_init(&barrier(TurnStage::kPublished), kScanLanes);
    __mbarrier_init(&barrier(TurnStage::kJoined), waiting_threads);
    __mbarrier_init(&barrier(TurnStage::kCarried), waiting_threads);
  }

  __device__ void Arrive(TurnStage stage) { (void)__mbarrier_arrive(&barrier(stage)); }
  // `lap`: how many turns have been kept here before.
  __device__ void Await(TurnStage stage, uint32_t lap) {
    while (!TryAwait(stage, lap)) {
    }
  }
  __device__ bool IsOver(TurnStage stage, uint32_t lap) {
    return __mbarrier_test_wait_parity(&barrier(stage), (lap & 1) != 0);
  }

 private:
  __device__ __mbarrier_t& barrier(TurnStage stage) { return barriers_[static_cast<int>(stage)]; }

  // Whether the stage is over; the processor may wait for that a while.
  __device__ bool TryAwait(TurnStage stage, uint32_t lap) {
#if __CUDA_ARCH__ >= 900
    uint32_t is_over;
    asm volatile(
        "{\n\t.reg .pred is_over;\n\t"
        "mbarrier.try_wait.parity.shared.b64 is_over, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, is_over;\n\t}"
        : "=r"(is_over)
        : "r"(SharedAddress(&barrier(stage))), "r"(lap & 1)
        : "memory");
    return is_over != 0;
#else
    return IsOver(stage, lap);
#endif
  }

  alignas(16) __mbarrier_t barriers_[kTurnStages];
};

// Goes through a block's turns: which turn of the grid comes next, and where it is kept. Turns are
// strided over the grid: neighbouring ones of one block would wait for each other.
class RingCursor {
 public:
  __device__ RingCursor(uint32_t turn_count, uint32_t turns_kept)
      : turn_count_(turn_count), turns_kept_(turns_kept), turn_(blockIdx.x) {}

  // Whether there is a turn.
  __device__ explicit operator bool() const { return turn_ < turn_count_; }
  __device__ void Advance() {
    turn_ += gridDim.x;
    if (++place_ == turns_kept_) {
      place_ = 0;
      ++lap_;
    }
  }

  __device__ uint32_t turn() const { return turn_; }
  __device__ uint32_t place() const { return place_; }
  __device__ uint32_t lap() const { return lap_; }

 private:
  const uint32_t turn_count_;
  const uint32_t turns_kept_;
  uint32_t turn_;
  uint32_t place_ = 0;
  uint32_t lap_ = 0;
};

// What a scanning warp does from the cursor `first` on. Where more than one turn is kept, one is
// loaded ahead of the one that is totalled; all others wait for their carries. `load` begins
// copies to shared memory, which `total` finds done; `write` awaits TurnStage::kCarried, and leaves
// the warp's part of the turn to the next load.
template <class Cursor, class Load, class Total, class Write>
__device__ void ScanRing(const Cursor& first, uint32_t turns_kept, Load&& load, Total&& total,
                         Write&& write) {
  Cursor loaded = first;
  Cursor totalled = first;
  Cursor written = first;
  // Makes a batch of copies, which is empty where no turn is left.
  const auto begin_load = [&] {
    if (loaded) {
      load(loaded);
      loaded.Advance();
    }
    __pipeline_commit();
  };
  const bool loads_ahead = turns_kept > 1;
  if (loads_ahead) begin_load();
  for (uint32_t waiting = 0; written;) {
    begin_load();
    if (totalled) {
      if (loads_ahead) {
        __pipeline_wait_prior(1);
      } else {
        __pipeline_wait_prior(0);
      }
      __syncwarp();
      total(totalled);
      totalled.Advance();
      if (++waiting + 1 < turns_kept) continue;
    }
    write(written);
    written.Advance();
    --waiting;
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_TURN_RING_CUH_
