// A warp sees elements that follow one another through a window in shared memory, which moves on a
// turn at a time, with the next turns on their way while the warp adds up the one that is there.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_WINDOW_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_WINDOW_CUH_

#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/core/pairs.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// Functions that are not const are called by all lanes, with the same arguments.
template <class T>
class StripWindow {
 public:
  static constexpr uint32_t kTurns = StripTuning::kWindowTurns;
  static constexpr uint32_t kRowBytes = ReduceTuning::kWarpThreads * ReduceTuning::kVectorBytes;
  static constexpr uint32_t kTurnBytes = StripTuning::kLaneVectors * kRowBytes;
  static constexpr uint32_t kElements = kTurnBytes / sizeof(T);  // Of a turn.
  static constexpr uint64_t kElementsMax = uint64_t{1} << 31;
  // A vector more, since what is behind a turn's last is read too.
  using Memory = char[kTurns * kTurnBytes + ReduceTuning::kVectorBytes];

  // The first turn is empty, and element `first` is in the one after it. Elements before it and
  // those from `end` on add nothing; the others are fewer than kElementsMax.
  __device__ StripWindow(const Warp& warp, Memory& memory, const T* elements, uint64_t first,
                         uint64_t end)
      : warp_(warp), memory_(memory) {
    // Rows are whole lines of memory. Places count from where the empty turn would begin.
    const uint32_t shift = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements + first) /
                                                 sizeof(T) % kLineElements);
    source_ = reinterpret_cast<const char*>(elements + first - shift) + lane_byte();
    const uint32_t begin = kElements + shift;
    end_place_ = begin + static_cast<uint32_t>(end - first);
    origin_ = static_cast<uint32_t>(first) - begin;
    Clear(warp_);
#pragma unroll 1
    for (uint32_t t = 0; t + 1 < kTurns; ++t) LoadTurn((t + 1) * kElements, t * kTurnBytes, begin);
  }

  // Waits for what windows of some memory have under way, before it is used for something else.
  __device__ static void Clear(const Warp& warp) {
    __pipeline_wait_prior(0);
    warp.sync();
  }

  // Where an element stands, in the window or elsewhere. Takes the lower half of its index.
  __device__ uint32_t Place(uint32_t element) const { return element - origin_; }

  // Goes on to the next turn. It has some of the elements.
  __device__ void Next() {
    warp_.sync();
    LoadTurn(limit_ + (kTurns - 1) * kElements, turn_byte_);
    limit_ += kElements;
    turn_byte_ = turn_byte_ == (kTurns - 1) * kTurnBytes ? 0 : turn_byte_ + kTurnBytes;
    __pipeline_wait_prior(kTurns - 1);
    warp_.sync();
  }
  // Where the turn ends. The next begins there.
  __device__ uint32_t limit() const { return limit_; }

  // The turn's element `i`, and those behind it. Behind its last stands anything.
  __device__ const char* At(uint32_t i) const { return memory_ + turn_byte_ + i * sizeof(T); }

 private:
  static constexpr uint32_t kLineElements = StripTuning::kLineBytes / sizeof(T);

  __device__ uint32_t lane_byte() const { return warp_.thread_rank() * ReduceTuning::kVectorBytes; }

  // The next turn that is not yet loaded. It begins at place `first`; what is before place `begin`
  // adds nothing.
  __device__ void LoadTurn(uint32_t first, uint32_t memory_byte, uint32_t begin = 0) {
    char* const slot = memory_ + memory_byte + lane_byte();
    if (first >= begin && first + kElements <= end_place_) {
#pragma unroll
      for (uint32_t byte = 0; byte < kTurnBytes; byte += kRowBytes) {
        __pipeline_memcpy_async(slot + byte, source_ + byte, ReduceTuning::kVectorBytes);
      }
    } else if (first < end_place_) {
      const uint32_t lane_place = first + warp_.thread_rank() * kVectorSize<T>;
#pragma unroll 1
      for (uint32_t byte = 0; byte < kTurnBytes; byte += kRowBytes) {
        LoadPart(lane_place + byte / sizeof(T), begin, source_ + byte, slot + byte);
      }
    }
    __pipeline_commit();
    source_ += kTurnBytes;
  }
  // What of a vector is among the elements.
  __device__ void LoadPart(uint32_t place, uint32_t begin, const char* source, char* slot) const {
    if (place >= begin && place + kVectorSize<T> <= end_place_) {
      __pipeline_memcpy_async(slot, source, ReduceTuning::kVectorBytes);
      return;
    }
    *reinterpret_cast<uint4*>(slot) = NegativeZeros<T>();
    const uint32_t limit = min(place + kVectorSize<T>, end_place_);
#pragma unroll 1
    for (uint32_t at = max(place, begin); at < limit; ++at) {
      reinterpret_cast<T*>(slot)[at - place] = reinterpret_cast<const T*>(source)[at - place];
    }
  }

  const Warp& warp_;
  Memory& memory_;
  const char* source_;  // The lane's part of the turn to be loaded next.
  uint32_t origin_;     // What is at place 0: the lower half of its index.
  uint32_t end_place_;  // Of the elements.
  uint32_t limit_ = kElements;
  uint32_t turn_byte_ = (kTurns - 1) * kTurnBytes;  // Where the turn is in the memory.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_STRIP_WINDOW_CUH_
