// RowWindow is shared memory of a warp for the elements of a turn, which are copied there while
// those of another turn are looked at.
#ifndef GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_WINDOW_CUH_
#define GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_WINDOW_CUH_

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/reduce/core/batches.cuh"
#include "kernels/cuda/reduce/core/merge.cuh"
#include "kernels/cuda/reduce/plan/tuning.h"

namespace gridfold::kernels::cuda {

// What a warp has of a turn in shared memory: elements that follow one another, from a vector's
// begin on.
template <class T>
class RowWindow {
 public:
  static constexpr uint32_t kVectors = ExtremeTuning::kTurnBytes / ReduceTuning::kVectorBytes + 1;
  static constexpr uint32_t kElementsMax = ExtremeTuning::kTurnBytes / sizeof(T);
  using Memory = uint4[kVectors];

  // Begins to load elements [begin, end), kElementsMax at most, and what is behind them in their
  // last vector, but nothing from `limit` on. Called by all lanes.
  __device__ static void Load(const Warp& warp, Memory& memory, const T* begin, const T* end,
                              const T* limit) {
    const uint32_t shift = ShiftOf(begin);
    const uint32_t bytes = static_cast<uint32_t>(end - begin) * sizeof(T) + shift;
    const uint32_t rest = limit - end >= kVectorSize<T> ? 0 : bytes % ReduceTuning::kVectorBytes;
    LoadBytes(warp, memory, reinterpret_cast<const char*>(begin) - shift, bytes, rest);
  }
  // Begins to load `bytes` bytes from `source` on, where a vector begins: those but the last
  // `rest`, which are less than a vector, in whole vectors.
  __device__ static void LoadBytes(const Warp& warp, Memory& memory, const char* source,
                                   uint32_t bytes, uint32_t rest) {
    constexpr uint32_t kVectorBytes = ReduceTuning::kVectorBytes;
    constexpr uint32_t kStep = ReduceTuning::kWarpThreads * kVectorBytes;
    const uint32_t lane_byte = warp.thread_rank() * kVectorBytes;
    const uint32_t address = SharedAddress(memory) + lane_byte;
    const int left = static_cast<int>(bytes - rest - lane_byte);
#pragma unroll
    for (uint32_t byte = 0; byte <= ExtremeTuning::kTurnBytes; byte += kStep) {
      if (left > static_cast<int>(byte)) CopyVector(address + byte, source + lane_byte + byte);
    }
    if (warp.thread_rank() < rest / sizeof(T)) {
      const uint32_t i = (bytes - rest) / sizeof(T) + warp.thread_rank();
      reinterpret_cast<T*>(memory)[i] = reinterpret_cast<const T*>(source)[i];
    }
  }
  // Where the first element stands in the memory.
  __device__ static uint32_t ShiftOf(const T* begin) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(begin) % ReduceTuning::kVectorBytes);
  }

 private:
  // (__pipeline_memcpy_async takes twice the instructions.)
  __device__ static void CopyVector(uint32_t address, const char* source) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(source)
                 : "memory");
  }
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_REDUCE_GROUPS_ROW_WINDOW_CUH_
