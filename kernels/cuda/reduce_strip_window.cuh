// What a warp sees of a strip, elements that follow one another: a window that moves on, in shared
// memory, with the next stages of it on their way while the warp adds up what is there.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_WINDOW_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_WINDOW_CUH_

#include <cuda_pipeline.h>

#include <cstdint>

#include "kernels/cuda/reduce_batches.cuh"
#include "kernels/cuda/reduce_merge.cuh"
#include "kernels/cuda/reduce_tuning.h"

namespace gridfold::kernels::cuda {

// Functions that are not const are called by all lanes, with the same arguments.
template <class T>
class StripWindow {
 public:
  static constexpr uint32_t kStages = StripTuning::kWindowStages;
  static constexpr uint32_t kBytes = StripTuning::kWindowVectors * ReduceTuning::kVectorBytes;
  static constexpr uint32_t kRowBytes = ReduceTuning::kWarpThreads * ReduceTuning::kVectorBytes;
  static constexpr uint32_t kStageBytes = kBytes / kStages;
  static constexpr uint32_t kStageElements = kStageBytes / sizeof(T);
  // So many elements fit, wherever they begin.
  static constexpr uint32_t kSpanMax = (kStages - 1) * kStageElements;
  // The first row again stands behind the last.
  using Memory = char[kBytes + kRowBytes];

  // Nothing is in it before MoveTo.
  __device__ StripWindow(const Warp& warp, Memory& memory) : warp_(warp), memory_(memory) {}

  // Moves to where element `first` of a strip, elements [begin, end), is among the first stage's.
  __device__ void MoveTo(const T* elements, uint64_t begin, uint64_t end, uint64_t first) {
    // Positions count from an aligned address, places from a stage.
    const uint32_t shift =
        static_cast<uint32_t>(reinterpret_cast<uintptr_t>(elements) / sizeof(T)) % kVectorSize<T>;
    const uint64_t stage = (first + shift) / kStageElements * kStageElements;
    __pipeline_wait_prior(0);
    origin_ = static_cast<uint32_t>(stage) - shift;
    lane_source_ = reinterpret_cast<const char*>(elements - shift + stage) + lane_byte();
    first_place_ = begin + shift > stage ? static_cast<uint32_t>(begin + shift - stage) : 0;
    // Long before the window is there, it will have moved on.
    end_place_ = static_cast<uint32_t>(min(end + shift - stage, uint64_t{1} << 31));
    stages_ = 0;
  }

  // Where an element stands, counted from where the window began. Takes the lower half of its
  // index: it is less than 2^32 elements away.
  __device__ uint32_t Place(uint32_t element) const { return element - origin_; }

  // Where the strip ends.
  __device__ uint32_t end_place() const { return end_place_; }

  // The element at a place, and, in bytes behind it, others of a row's length. Requires that they
  // were waited for, and that nothing behind them is free.
  __device__ const char* At(uint32_t place) const {
    return memory_ + place * static_cast<uint32_t>(sizeof(T)) % kBytes;
  }
  // Only At of the same place sees what is written there.
  __device__ T& ElementAt(uint32_t place) {
    return *reinterpret_cast<T*>(memory_ + place * static_cast<uint32_t>(sizeof(T)) % kBytes);
  }

  // Waits for all elements before a place.
  __device__ void WaitTo(uint32_t place) {
    static_assert(kStages == 4);
    const uint32_t others = stages_ - (place + kStageElements - 1) / kStageElements;
    if (others >= 2) {
      __pipeline_wait_prior(2);
    } else if (others == 1) {
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    warp_.sync();
  }
  // Elements before a place are not needed any more: loads those that take their place.
  __device__ void FreeTo(uint32_t place) {
    warp_.sync();
    const uint32_t stages = place / kStageElements + kStages;
#pragma unroll 1
    for (; stages_ < stages; ++stages_) LoadStage();
  }

 private:
  __device__ uint32_t lane_byte() const { return warp_.thread_rank() * ReduceTuning::kVectorBytes; }

  __device__ void LoadStage() {
    const uint32_t at = stages_ % kStages;
    char* const slot = memory_ + at * kStageBytes + lane_byte();
    const char* const source = lane_source_ + uint64_t{stages_} * kStageBytes;
    const uint32_t place = stages_ * kStageElements;
    if (place >= first_place_ && place + kStageElements <= end_place_) {
#pragma unroll
      for (uint32_t byte = 0; byte < kStageBytes; byte += kRowBytes) {
        __pipeline_memcpy_async(slot + byte, source + byte, ReduceTuning::kVectorBytes);
      }
      if (at == 0) {
        __pipeline_memcpy_async(slot + kBytes, source, ReduceTuning::kVectorBytes);
      }
    } else if (place < end_place_) {
      const uint32_t lane_place = place + warp_.thread_rank() * kVectorSize<T>;
#pragma unroll 1
      for (uint32_t byte = 0; byte < kStageBytes; byte += kRowBytes) {
        LoadPart(lane_place + byte / sizeof(T), source + byte, slot + byte);
      }
      if (at == 0) LoadPart(lane_place, source, slot + kBytes);
    }
    __pipeline_commit();
  }
  // What of a vector belongs to the strip.
  __device__ void LoadPart(uint32_t place, const char* source, char* slot) const {
    if (place >= first_place_ && place + kVectorSize<T> <= end_place_) {
      __pipeline_memcpy_async(slot, source, ReduceTuning::kVectorBytes);
      return;
    }
#pragma unroll 1
    for (uint32_t i = 0; i < kVectorSize<T>; ++i) {
      if (place + i < first_place_ || place + i >= end_place_) continue;
      reinterpret_cast<T*>(slot)[i] = reinterpret_cast<const T*>(source)[i];
    }
  }

  const Warp& warp_;
  Memory& memory_;
  const char* lane_source_ = nullptr;
  uint32_t origin_ = 0;       // What is at place 0: the lower half of its index.
  uint32_t first_place_ = 0;  // Of the strip.
  uint32_t end_place_ = 0;
  uint32_t stages_ = 0;  // Loaded, or under way.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_STRIP_WINDOW_CUH_
